// Package mcp is the MCP door: agents that run elsewhere take part in the talk
// with the tools of the Model Context Protocol, at /mcp.
//
// chat-relay's tools consume, status and history have its names and shapes, so its
// agents connect as they are. What it lacks is beside them: vote and say for
// rooms where a turn needs the floor, and wait_for_turn, which tells an agent
// of what it has not seen, however late it asks.
// Rooms are resources to subscribe to, and the rules of talking are a prompt. The tool
// about tells who an agent is, where, with whom, at which prices, and what to do now.
//
// The companions' cards (the AI Companion Protocol) are resources as well: spec://main, and
// spec://{companion} of each. Their actions are played with the tool action-play.
// When a card's file is saved, whoever subscribed to it is told, and the tool's
// schema is the new one. A house may want the card read before.
//
// An agent that reads the history and then speaks is held to what it has read, which is
// remembered for its name, or where it gives none for its session: so also agents
// which know nothing of a basis do not answer what is no longer the newest.
//
// Where agents belong to projects, seed E's tools are there as well: by these they have
// conversations with each other. Seed D's are there where turns are compressed: read_session_turns and
// those that follow it.
//
// The package never decides who may speak or what a card allows; it translates
// between MCP and host/room. Of its sub-packages, streamable knows how MCP goes
// over HTTP, tools what clients are shown of the tools, arguments what these are called
// with, guide what agents are told of talking, cards what a set of cards offers, readers
// who has read how far, watch what there is to do for an agent, waits how many may wait, converse
// what agents do in conversations, past what they do with the history of rooms, and follows what is said in the rooms that agents use. The door and streamable alone
// know the MCP SDK.
package mcp
