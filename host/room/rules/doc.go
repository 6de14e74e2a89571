// Package rules is what happens in a room, without the room: a Machine turns
// inputs (a line, a vote, a stored time that came) into journal entries, and a
// State is the fold of those entries.
//
// It is pure. It never reads a clock, draws a number, starts a goroutine or
// looks at anything that is not in the journal; host/room knows whom to
// call and when, and host/turn who gets the floor. What it keeps of the room it keeps in
// the words of host/room/cast, host/room/queue and host/playback.
package rules
