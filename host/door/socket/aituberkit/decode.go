package aituberkit

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
)

// said is a message of a client, of either version, as far as it is of use.
type said struct {
	Version   string `json:"version"`
	ID        string `json:"id"`
	Type      string `json:"type"`
	RequestID string `json:"requestId"`
	Content   string `json:"content"` // before version 2
	Image     string `json:"image"`   // before version 2
	Payload   struct {
		Text         string   `json:"text"`
		Image        string   `json:"image"`
		RequestID    string   `json:"requestId"`
		Message      string   `json:"message"`
		Capabilities []string `json:"capabilities"`
	} `json:"payload"`
}

// pinged asks for a pong.
type pinged struct{ id string }

// Key implements [session.In].
func (p pinged) Key() string { return p.id }

// broken is a message that cannot be taken.
type broken struct{ id string }

// Key implements [session.In].
func (b broken) Key() string { return b.id }

// Decode implements [session.Codec].
func (f *Front) Decode(raw []byte, now time.Time) (session.In, error) {
	var s said
	err := json.Unmarshal(raw, &s)
	id := s.ID
	if len(id) > maxID {
		id = ""
	}
	b := broken{id}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return b, abi.Field(wrong.Field, abi.CodeInvalid, "is a JSON %s, which it cannot be", wrong.Value)
	case err != nil:
		return b, abi.Errorf(abi.CodeInvalid, `message: is no JSON object; send {"version":"2","id":"...","type":"chat.message","payload":{"text":"..."}}, or {"type":"chat","content":"..."}`)
	case s.Version == "2":
		return f.decode2(s, b, now)
	case s.Version != "":
		return b, abi.Field("version", abi.CodeInvalid, `%.32q is not spoken here; it is "2", or left out`, s.Version)
	case s.Type == "chat":
		f.now2, f.tells = false, false
		return session.Input{As: f.unique(now), Text: s.Content, Image: s.Image}, nil
	case s.Type == "" && s.Content == "":
		return b, abi.Field("type", abi.CodeInvalid, `is missing; send {"type":"chat","content":"..."}, or frames of version "2"`)
	}
	return nil, nil // of a type that is of no use here
}

// decode2 takes a frame of version 2.
func (f *Front) decode2(s said, b broken, now time.Time) (session.In, error) {
	f.now2 = true
	request := cmp.Or(s.RequestID, s.Payload.RequestID)
	switch s.Type {
	case "":
		return b, abi.Field("type", abi.CodeInvalid, "is missing")
	case sessionHello:
		return session.Hello{Plays: slices.Contains(s.Payload.Capabilities, responseDone)}, nil
	case ping:
		return pinged(b), nil
	case chatMessage:
		if b.id == "" {
			return b, abi.Field("id", abi.CodeInvalid, "%d bytes, must be 1..%d: the answer is named by it", len(s.ID), maxID)
		}
		return session.Input{ID: s.ID, As: session.MessageID(wire, f.speaker, s.ID), Text: s.Payload.Text, Image: s.Payload.Image}, nil
	case cancel:
		return session.Cancel{ID: b.id, Line: request, Idle: !f.stoppable(request)}, nil
	case speechStart:
		return f.started(request, now), nil
	case speechDone, speechError, responseDone:
		return f.played(s, request, now), nil
	}
	return nil, nil
}

// stoppable says whether there is anything to be stopped by a client's name for it, "" for
// anything.
func (f *Front) stoppable(request string) bool {
	return slices.ContainsFunc(f.waiting, func(w waiting) bool { return request == "" || w.request == request }) ||
		slices.ContainsFunc(f.lines, func(l *line) bool { return !l.over && (request == "" || l.request == request) })
}

// played takes what the client tells of a line that it speaks.
func (f *Front) played(s said, request string, now time.Time) session.In {
	i := slices.IndexFunc(f.lines, func(l *line) bool { return request != "" && l.request == request && l.tells })
	if i < 0 {
		if f.tells && !f.begun { // it was sent it over a connection before this one
			return session.Played{Done: true}
		}
		return nil // it has ended meanwhile
	}
	l := f.lines[i]
	f.spoke, f.silent = true, 0
	if s.Type != responseDone {
		return l.spoke(s.Type == speechError, now)
	}
	if !l.closed {
		return nil // more of it comes
	}
	l.told = true
	if l.failed > 0 && l.failed == l.sent {
		return session.Played{Line: l.id, Failed: cmp.Or(s.Payload.Message, "the front could not speak it")}
	}
	return session.Played{Line: l.id, Done: true}
}

// started takes its word that it has a sentence. Where it has told before what it spoke, and nobody waits for
// that any more, it is waited for again.
func (f *Front) started(request string, now time.Time) session.In {
	i := slices.IndexFunc(f.lines, func(l *line) bool { return request != "" && l.request == request && l.tells && !l.over })
	if i < 0 || !f.spoke || f.silent < silence {
		return nil
	}
	l := f.lines[i]
	f.silent, l.waits = 0, now.Add(l.patience())
	return session.Played{Line: l.id}
}
