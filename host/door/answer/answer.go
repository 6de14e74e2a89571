// Package answer waits in a room for what is said because of something: a message, or a
// companion's wish to speak about what it perceived. It is the one way from a room to the
// line that answers, for doors whose clients ask and wait: the wire of the AI Companion
// Protocol, and the chat door.
//
// It reads what the room writes down, and nothing else; it never asks anybody, and
// changes nothing.
package answer

import (
	"context"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// ToMessage waits until a companion has answered the message with seq in its room,
// until the room rests, or until ctx ends. The text is empty when it said nothing.
//
// # Errors
//
// Those of the room; that ctx ended is none.
func ToMessage(ctx context.Context, talk rooms.Room, companion string, seq uint64) (text string, err error) {
	a, err := Listen(ctx, talk, Ask{Who: companion, Seq: seq})
	return a.Text, err
}

// OfWish waits until a companion has said what it wished to, until it is clear that
// it will not, or until ctx ends. wish is the seq of the wish. Text and errors are
// as those of [ToMessage].
func OfWish(ctx context.Context, talk rooms.Room, companion string, wish uint64) (text string, err error) {
	w := &wished{who: companion, wish: wish}
	err = follow(ctx, talk, wish, w)
	return w.text, err
}

// Ask is about a message that somebody waits for the answer to.
type Ask struct {
	Who string // whose answer; empty: whoever's, but a human's
	Seq uint64 // of the message
	// Piece is told each part of the answer as it goes out, and the rest where the line is
	// said; nil where nobody wants to know. Those parts are always of one line. An error
	// ends the waiting, and is given back.
	Piece func(text string) error
	// Patient waits on where those who could answer are not there yet, and will be asked
	// again; else that is no answer.
	Patient bool
}

// Answer is what came of a message.
type Answer struct {
	From string // whose line it is; empty: there is none
	Seq  uint64 // of the line's entry; 0 where it was not written down yet
	Text string
	Cut  entry.End // how the line ended, where it breaks off; else empty
	None None      // why there is no line
}

// None says why a message has no answer.
type None string

// The reasons. Of those with which ctx ended the room may answer yet.
const (
	Silent  None = "silent"  // nobody wants to speak
	Absent  None = "absent"  // nobody could
	Closed  None = "closed"  // the talk has ended, or the room was closed
	Capped  None = "capped"  // companions spoke as often as they may
	Stopped None = "stopped" // somebody said STOP
	Gone    None = "gone"    // the companion left
	Waits   None = "waits"   // ctx ended: the room's pool cannot pay for a line, or nobody is there yet
	Late    None = "late"    // ctx ended: the line did not come in time
)

// Listen waits until a message is answered, until the room rests, or until ctx ends.
//
// # Errors
//
// Those of the room, and of [Ask.Piece]; that ctx ended is none.
func Listen(ctx context.Context, talk rooms.Room, a Ask) (Answer, error) {
	r := &reply{Ask: a, known: talk.Info().Head, grants: map[string]string{}, wishes: map[uint64]bool{}}
	err := follow(ctx, talk, a.Seq, r)
	if r.got.From == "" && r.got.None == "" {
		r.end(r.waits, "")
	}
	return r.got, err
}

// listener is told what happens in a room, until it has heard enough.
type listener interface {
	hear(e entry.Entry) (enough bool, err error)
	// upto is called when all entries that came together were heard, the last with seq.
	upto(seq uint64) error
}

var errEnough = errors.New("heard enough")

func follow(ctx context.Context, talk rooms.Room, since uint64, l listener) error {
	err := talk.Follow(ctx, since, func(entries []entry.Entry) error {
		for _, e := range entries {
			switch enough, err := l.hear(e); {
			case err != nil:
				return err
			case enough:
				return errEnough
			}
		}
		return l.upto(entries[len(entries)-1].Seq)
	})
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		return nil
	}
	return err
}

// gone says why nothing is to be heard of a companion any more: somebody said STOP, the
// room was closed, or it left.
func gone(e entry.Entry, who string) None {
	switch e.Kind {
	case entry.KindStop:
		return Stopped
	case entry.KindArchived:
		return Closed
	case entry.KindCast:
		b, _ := entry.Decode[entry.Cast](e)
		if slices.ContainsFunc(b.Left, func(l entry.Left) bool { return l.ID == who }) {
			return Gone
		}
	}
	return ""
}

func isTurnOf(s entry.Said, who string) bool {
	return s.From == who && s.By == abi.KindCompanion && s.Kind == abi.KindTurn
}
