// Package fold is what the entries of a room come to: a State is the fold of [State.Apply]
// over them, and of nothing else.
//
// It is pure. It never reads a clock, draws a number, starts a goroutine, decides anything or
// makes an entry; host/room/rules does, from what a State says of itself. Its parts have their
// own methods in host/room/cast, host/room/queue, host/playback and host/turn.
package fold
