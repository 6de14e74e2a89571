package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// What a client says of what is heard: a body, that it has played so much of a line; a
// microphone, that somebody speaks.

// playback reads whether a body tells when it has played a line.
func playback(query url.Values) (bool, error) {
	if !query.Has("playback") {
		return false, nil
	}
	plays, err := strconv.ParseBool(query.Get("playback"))
	if err != nil {
		return false, abi.Field("query.playback", abi.CodeInvalid, "%.64q is neither 1 nor 0", query.Get("playback"))
	}
	return plays, nil
}

// readPlayed decodes {"line","played","reason"?} and {"line","part"?,"seconds"}; ok is
// false for another message. played is how many parts were played, "done" or "failed";
// seconds is how long a part takes, or without one the whole line.
func readPlayed(message []byte) (p entry.Played, ok bool, err error) {
	var r struct {
		Line    string          `json:"line"`
		Played  json.RawMessage `json:"played"`
		Reason  string          `json:"reason"`
		Part    int             `json:"part"`
		Seconds *float64        `json:"seconds"`
	}
	if json.Unmarshal(message, &r) != nil || r.Played == nil && r.Seconds == nil {
		return p, false, nil
	}
	p.Line = r.Line
	switch {
	case r.Line == "" || len(r.Line) > maxActionID:
		p.Line, err = "", abi.Field("line", abi.CodeInvalid, "%d bytes, must be 1..%d; it is that of the frame", len(r.Line), maxActionID)
	case r.Seconds != nil && (*r.Seconds <= 0 || r.Part < 0):
		err = abi.Field("seconds", abi.CodeInvalid, "%v of part %d: both must be more than 0, or the part left out", *r.Seconds, r.Part)
	case r.Seconds != nil:
		p.Part, p.Seconds = r.Part, *r.Seconds
	case bytes.Equal(r.Played, []byte(`"done"`)):
		p.Done = true
	case bytes.Equal(r.Played, []byte(`"failed"`)):
		if p.Failed = r.Reason; p.Failed == "" {
			p.Failed = "the body could not play it"
		}
	case json.Unmarshal(r.Played, &p.Part) != nil || p.Part < 1:
		err = abi.Field("played", abi.CodeInvalid, "%.64s is neither the number of a part, \"done\" nor \"failed\"", r.Played)
	}
	return p, true, err
}

// speaking is the message of a microphone.
type speaking struct {
	On   bool
	From string
}

// readSpeaking decodes {"speaking","from"?}; ok is false for another message.
func readSpeaking(message []byte) (s speaking, ok bool) {
	var r struct {
		Speaking *bool  `json:"speaking"`
		From     string `json:"from"`
	}
	if json.Unmarshal(message, &r) != nil || r.Speaking == nil {
		return s, false
	}
	return speaking{*r.Speaking, r.From}, true
}

// speaks says in a room that whoever is connected speaks, or has ended.
func (c *client) speaks(ctx context.Context, talk rooms.Room, s speaking) error {
	from, kind, err := c.caller.From(s.From, abi.KindHuman)
	if err == nil && kind != abi.KindHuman {
		err = abi.Errorf(abi.CodeDenied, "speaking: %s is an agent, who speaks in turn", from)
	}
	return c.pass(ctx, "", err, func(ctx context.Context) error {
		err := talk.Speaking(ctx, from, s.On)
		if c.hushes = nil; s.On && err == nil {
			c.hushes = func() {
				ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), donePatience)
				defer cancel()
				_ = talk.Speaking(ending, from, false) // the room may be gone; then nobody waits for it
			}
		}
		return err
	})
}
