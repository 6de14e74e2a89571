// Package rules is what happens in a room, without the room: a Machine turns inputs (a line,
// a vote, a stored time that came) into journal entries, by what the entries before them come
// to, which is a [fold.State].
//
// It is pure. It never reads a clock, draws a number, starts a goroutine or looks at anything
// that is not in the journal; host/room knows whom to call and when, and host/turn who gets the
// floor.
package rules
