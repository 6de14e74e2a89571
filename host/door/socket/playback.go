package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
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

// fields are those by which the messages of a client are told apart.
type fields struct {
	ID       json.RawMessage `json:"id"`
	OK       json.RawMessage `json:"ok"`
	Line     json.RawMessage `json:"line"`
	Played   json.RawMessage `json:"played"`
	Part     json.RawMessage `json:"part"`
	Seconds  json.RawMessage `json:"seconds"`
	Speaking json.RawMessage `json:"speaking"`
}

// fieldsOf gives those that a message has: none of what is no JSON object.
func fieldsOf(message []byte) (f fields) {
	if json.Unmarshal(message, &f) != nil {
		return fields{}
	}
	return f
}

// there says whether one of some fields is.
func there(some ...json.RawMessage) bool {
	return slices.ContainsFunc(some, func(v json.RawMessage) bool { return len(v) > 0 && !bytes.Equal(v, []byte("null")) })
}

// mistyped makes of an error of decoding a message one that names the field, nil where it
// has another cause.
func mistyped(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return nil
	}
	must := "a string"
	switch wrong.Field {
	case "ok", "speaking":
		must = "true or false"
	case "part":
		must = "a whole number"
	case "seconds":
		must = "a number"
	}
	return abi.Field(wrong.Field, abi.CodeInvalid, "is a JSON %s, must be %s", wrong.Value, must)
}

// readPlayed decodes {"line","played","reason"?} and {"line","part"?,"seconds"}; ok is
// false for another message. played is how many parts were played, "done" or "failed";
// seconds is how long a part takes, or without one the whole line.
func readPlayed(message []byte) (p entry.Played, ok bool, err error) {
	f := fieldsOf(message)
	if !there(f.Played, f.Seconds) && (!there(f.Line, f.Part) || there(f.ID, f.OK)) {
		return p, false, nil
	}
	var r struct {
		Line    string          `json:"line"`
		Played  json.RawMessage `json:"played"`
		Reason  string          `json:"reason"`
		Part    int             `json:"part"`
		Seconds *float64        `json:"seconds"`
	}
	wrong := mistyped(json.Unmarshal(message, &r))
	p.Line = r.Line
	switch {
	case !there(f.Line):
		err = abi.Field("line", abi.CodeInvalid, "is missing; it is that of the frame")
	case wrong == nil && (r.Line == "" || len(r.Line) > maxActionID):
		err = abi.Field("line", abi.CodeInvalid, "%d bytes, must be 1..%d; it is that of the frame", len(r.Line), maxActionID)
	case wrong != nil:
		err = wrong
	case r.Seconds != nil && (*r.Seconds <= 0 || r.Part < 0):
		err = abi.Field("seconds", abi.CodeInvalid, "%v of part %d: both must be more than 0, or the part left out", *r.Seconds, r.Part)
	case r.Seconds != nil:
		p.Part, p.Seconds = r.Part, *r.Seconds
	case !there(f.Played):
		err = abi.Field("played", abi.CodeInvalid, "is missing; it is the number of a part, \"done\" or \"failed\"; a line that is only measured has \"seconds\"")
	case bytes.Equal(r.Played, []byte(`"done"`)):
		p.Done = true
	case bytes.Equal(r.Played, []byte(`"failed"`)):
		if p.Failed = r.Reason; p.Failed == "" {
			p.Failed = "the body could not play it"
		}
	case json.Unmarshal(r.Played, &p.Part) != nil || p.Part < 1:
		err = abi.Field("played", abi.CodeInvalid, "%.64s is neither the number of a part, \"done\" nor \"failed\"", r.Played)
	}
	if len(p.Line) > maxActionID {
		p.Line = "" // nothing that an answer can name
	}
	return p, true, err
}

// speaking is the message of a microphone.
type speaking struct {
	On   bool
	From string
}

// readSpeaking decodes {"speaking","from"?}; ok is false for another message.
func readSpeaking(message []byte) (s speaking, ok bool, err error) {
	if !there(fieldsOf(message).Speaking) {
		return s, false, nil
	}
	var r struct {
		Speaking bool   `json:"speaking"`
		From     string `json:"from"`
	}
	err = mistyped(json.Unmarshal(message, &r))
	return speaking{r.Speaking, r.From}, true, err
}

// speaks says in a room that whoever is connected speaks, or has ended, unless wrong says
// what is at fault with the message.
func (c *client) speaks(ctx context.Context, talk rooms.Room, s speaking, wrong error) error {
	if wrong != nil {
		return c.pass(ctx, "", wrong, nil)
	}
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
