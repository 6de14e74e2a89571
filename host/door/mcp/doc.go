// Package mcp is the MCP door: agents that run elsewhere take part in the talk
// with the tools of the Model Context Protocol, at /mcp.
//
// chat-relay's tools consume, status and history have its names and shapes, so its
// agents connect as they are. What it lacks is beside them: vote and say for
// rooms where a turn needs the floor, and wait_for_turn, which tells an agent
// again of what it has not seen for as long as it has not seen it.
// Rooms are resources to subscribe to, and the rules of talking are a prompt.
//
// The companions' cards (the AI Companion Protocol) are resources as well: spec://main, and
// spec://{companion} of each. Their actions are played with the tool action-play.
// When a card's file is saved, whoever subscribed to it is told, and the tool's
// schema is the new one. A house may want the card read before.
//
// An agent that reads the history and then speaks is held to what it has read:
// the session remembers it, so that also agents which know nothing of a basis
// do not answer what is no longer the newest.
//
// The package never decides who may speak or what a card allows; it translates
// between MCP and host/room. Of its sub-packages, streamable knows how MCP goes
// over HTTP, cards what a set of cards offers, and readers who has read how far. The
// door and streamable alone know the MCP SDK.
package mcp
