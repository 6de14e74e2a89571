package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

const maxActionID = 128 // bytes; longer is no id of ours

// Decode implements [session.Codec].
func (w *Wire) Decode(message []byte, now time.Time) (session.In, error) {
	if s, ok, err := ReadSpeaking(message); ok {
		return s, err
	}
	if o, ok, err := w.readOffer(message, now); ok {
		return o, err
	}
	if p, ok, err := readPlayed(message); ok {
		return session.Played(p), err
	}
	return readResult(message)
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
	Offer    json.RawMessage `json:"offer"`
	Withdraw json.RawMessage `json:"withdraw"`
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

// ReadSpeaking decodes {"speaking","from"?}; ok is false for another message.
func ReadSpeaking(message []byte) (s session.Speaking, ok bool, err error) {
	if !there(fieldsOf(message).Speaking) {
		return s, false, nil
	}
	var r struct {
		Speaking bool   `json:"speaking"`
		From     string `json:"from"`
	}
	err = mistyped(json.Unmarshal(message, &r))
	return session.Speaking{On: r.Speaking, From: r.From}, true, err
}

// mayTell is what a body may send.
const mayTell = `{"id":"...","ok":true} of an action, {"line":"...","played":1} or {"line":"...","seconds":1.5} of a line, or {"speaking":true,"from":"..."}`

// readResult decodes {"id","ok","reason"?,"body"?}, or says what a body may send. With an error it
// still gives the id, if there is one that can be answered with.
func readResult(message []byte) (session.Result, error) {
	var r struct {
		ID     *string         `json:"id"`
		OK     *bool           `json:"ok"`
		Reason string          `json:"reason"`
		Body   json.RawMessage `json:"body"`
	}
	err := json.Unmarshal(message, &r)
	var id string
	if r.ID != nil && len(*r.ID) <= maxActionID {
		id = *r.ID
	}
	wrong, f := mistyped(err), fieldsOf(message)
	switch {
	case wrong != nil:
		return session.Result{ID: id}, wrong
	case err != nil:
		return session.Result{}, abi.Errorf(abi.CodeInvalid, "message: is no JSON object; a body sends %s", mayTell)
	case !there(f.ID, f.OK):
		return session.Result{}, abi.Errorf(abi.CodeInvalid, "message: tells nothing; a body sends %s", mayTell)
	case r.ID == nil:
		return session.Result{}, abi.Field("id", abi.CodeInvalid, "is missing; it is the id of an action")
	case id == "":
		return session.Result{}, abi.Field("id", abi.CodeInvalid, "%d bytes, must be 1..%d", len(*r.ID), maxActionID)
	case r.OK == nil:
		return session.Result{ID: id}, abi.Field("ok", abi.CodeInvalid, "is missing; it is true or false")
	}
	return session.Result{ID: id, OK: *r.OK, Reason: r.Reason, Answer: r.Body}, nil
}
