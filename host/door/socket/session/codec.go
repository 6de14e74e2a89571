// Package session is the one model behind all software that moves, speaks or listens for a
// companion over a WebSocket: what it is told of a room, as typed events made of journal
// entries, and what it may say, as typed words that become calls of the room. A wire is a
// [Codec] on it, which turns bytes into words and events into frames.
//
// It never touches a connection and reads no clock: the door does. It never decides whose turn
// it is, and who speaks is found out from who is connected.
package session

import (
	"time"

	"github.com/companiond/companiond/abi"
)

// Codec is a wire. Each connection has one of its own, which is used by one goroutine at a time;
// now is the time of the call.
type Codec interface {
	// Begin gives the frames that a client is sent as it connects.
	Begin(now time.Time) [][]byte
	// Decode makes of a message what its client says; nil for what asks for nothing. With an
	// error it may give words as well, which the error is then the answer to. Errors are
	// *abi.Error and name the field that is wrong.
	Decode(message []byte, now time.Time) (In, error)
	// Answer gives the frames for what became of a client's words: err is nil where they were
	// taken. in may be nil.
	Answer(in In, err *abi.Error, now time.Time) [][]byte
	// Encode gives the frames for something that happened.
	Encode(o Out, now time.Time) [][]byte
	// Own gives what the wire itself tells the room, nil for nothing more. It is asked behind each
	// call of the others.
	Own() In
	// Due is when Late is to be called, zero for never; each call of the others may change it.
	Due() time.Time
	// Late gives the frames for what did not happen until now.
	Late(now time.Time) [][]byte
}

// Plain is what a codec embeds that begins with nothing, waits for nothing and says nothing by
// itself.
type Plain struct{}

// Begin implements [Codec].
func (Plain) Begin(time.Time) [][]byte { return nil }

// Own implements [Codec].
func (Plain) Own() In { return nil }

// Due implements [Codec].
func (Plain) Due() time.Time { return time.Time{} }

// Late implements [Codec].
func (Plain) Late(time.Time) [][]byte { return nil }
