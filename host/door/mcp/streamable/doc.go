// Package streamable serves an MCP server over HTTP at one URL to the clients of
// both eras: those that hold a session and those that hold none.
//
// It bounds what the MCP SDK does not: how many sessions and event streams there
// are, whose a session is, which one goes when there are too many, how long a write and
// the end may take, and how much the SDK may log. Short calls of tools that agents use all
// the time it answers beside the SDK, to the byte as the SDK would. What the SDK refuses
// in plain text or in words of Go is told in JSON-RPC, in words for people.
//
// The package never decides what a server offers, and knows nothing of rooms. It
// and the door above it alone know the MCP SDK.
package streamable
