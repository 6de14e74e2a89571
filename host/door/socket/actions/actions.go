// Package actions is the wires of bodies: the daemon's own, GET /v1/actions, and those of the AI
// Companion Protocol's reference server, each as frames and what a body says. docs/WIRES.md has
// all of them.
//
// It knows neither connections nor rooms, and never asks whether somebody may do something.
package actions

import (
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

// Shape is how the frames of a body look.
type Shape int

// The shapes.
const (
	Own      Shape = iota // of this house, see move
	Bare                  // {"action","parameters"}, to a client that sent subscribe or named the companion in the URL
	Executed              // action.execute, in JSON-RPC, to one that sent subscribe.request
)

// Wire is the wire of one body.
type Wire struct {
	session.Plain
	Shape Shape

	offers offering
}

var _ session.Codec = (*Wire)(nil)

// move is one frame of GET /v1/actions: something the companion does.
type move struct {
	Seq        uint64          `json:"seq"` // to resume after
	ID         string          `json:"id"`  // to name in the result
	At         time.Time       `json:"at"`
	Companion  string          `json:"companion"`
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters"`
	Perception string          `json:"perception,omitempty"` // title of what led to it
	Kind       string          `json:"kind,omitempty"`       // "speech", or nothing
	Line       string          `json:"line,omitempty"`       // the line that it is a part of, to name in {"line","played"}
	Part       int             `json:"part,omitempty"`       // of the line, from 1
	Last       bool            `json:"last,omitempty"`       // no part follows
	Query      bool            `json:"query,omitempty"`      // it asks: the result is to have a body
	Due        time.Time       `json:"due,omitzero"`         // until when
}

// whole is a frame that says of a line said piece by piece how many parts it had.
type whole struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Companion string    `json:"companion"`
	Line      string    `json:"line"`
	Parts     int       `json:"parts"`
	Last      bool      `json:"last"`
	End       entry.End `json:"end,omitempty"` // of a line that no body was to say: nothing more is told of it
	Reason    string    `json:"reason,omitempty"`
	// Parameters are how all of it was said, where the action "speak" has more than a message.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// ended is the frame with which a line ends, for whatever reason: what a body has not
// said of it by then it does not say any more.
type ended struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Companion string    `json:"companion"`
	Line      string    `json:"line"`
	End       entry.End `json:"end"`
	Reason    string    `json:"reason"`
}

// sound is a frame that says how a part of a line sounds, to a body that asked for that.
type sound struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Companion string    `json:"companion"`
	Kind      string    `json:"kind"` // "sound"
	Line      string    `json:"line"`
	Part      int       `json:"part"`
	URL       string    `json:"url,omitempty"`       // of the audio, a path at the door
	MouthURL  string    `json:"mouth_url,omitempty"` // of the shapes of the mouth
	Seconds   float64   `json:"seconds,omitempty"`
	Failed    string    `json:"failed,omitempty"` // why there is none
}

// bareMove is a move as the AI Companion Protocol's document shows it. Fields that are added stand behind.
type bareMove struct {
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters"`
	ID         string          `json:"id"`
	Seq        uint64          `json:"seq"`
}

// executedMove is a move as the last reference server sent it, and nothing added: what it
// has is JSON-RPC, in which an id asks for an answer.
type executedMove struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  struct {
		Action     string          `json:"action"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"params"`
}

// Encode implements [session.Codec]. How a line goes on and ends is told on our own wire alone.
func (w *Wire) Encode(o session.Out, _ time.Time) [][]byte {
	switch o := o.(type) {
	case session.Action:
		return w.move(move{Seq: o.Seq, ID: o.ID, At: o.At, Companion: o.Companion, Action: o.Action, Parameters: o.Parameters, Perception: o.Perception, Query: !o.Due.IsZero(), Due: o.Due})
	case session.Piece:
		return w.move(move{
			Seq: o.Seq, ID: o.ID, At: o.At, Companion: o.Companion, Action: session.Speak, Parameters: o.Spoken(), Kind: session.Speech,
			Line: o.Line, Part: o.Part, Last: o.Last,
		})
	case session.Whole:
		if w.Shape == Own {
			return [][]byte{encode(whole{o.Seq, o.At, o.Companion, o.Line, o.Parts, true, o.End, o.Reason, o.Parameters})}
		}
	case session.Sound:
		if w.Shape == Own {
			f := sound{o.Seq, o.At, o.Companion, "sound", o.Line, o.Part, "", "", o.Seconds, o.Failed}
			if o.Blob != "" {
				f.URL = blob.URL(o.Blob)
			}
			if o.Mouth != "" {
				f.MouthURL = blob.URL(o.Mouth)
			}
			return [][]byte{encode(f)}
		}
	case session.Ended:
		if w.Shape == Own {
			return [][]byte{encode(ended{o.Seq, o.At, o.Companion, o.Line, o.End, o.Reason})}
		}
	}
	return nil
}

func (w *Wire) move(m move) [][]byte {
	switch w.Shape {
	case Bare:
		return [][]byte{encode(bareMove{Action: m.Action, Parameters: m.Parameters, ID: m.ID, Seq: m.Seq})}
	case Executed:
		e := executedMove{Version: "2.0", Method: "action.execute"}
		e.Params.Action, e.Params.Parameters = m.Action, m.Parameters
		return [][]byte{encode(e)}
	}
	return [][]byte{encode(m)}
}

// Answer implements [session.Codec]: words that were taken are not answered.
func (w *Wire) Answer(in session.In, err *abi.Error, _ time.Time) [][]byte {
	if err == nil {
		return nil
	}
	key := ""
	if in != nil {
		key = in.Key()
	}
	return [][]byte{Refusal(key, err)}
}

// Refusal is the frame for a message that came to nothing.
func Refusal(id string, err *abi.Error) []byte {
	return encode(struct {
		Error *abi.Error `json:"error"`
		ID    string     `json:"id,omitempty"`
	}{err, id})
}

// encode writes what can always be written: texts, numbers, and JSON that was read.
func encode(v any) []byte {
	frame, _ := json.Marshal(v)
	return frame
}
