package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// POST /add is chat-relay's: a human says something. Its answers have chat-relay's
// shapes, so it is not part of the described API. ?room= names another room.

// MaxAdd is the largest body of /add, for the guard.
const MaxAdd = 64 << 10

type added struct {
	Success bool    `json:"success"`
	History []heard `json:"history"`
}

type heard struct {
	From    string `json:"from"`
	Message string `json:"message"`
}

type notAdded struct {
	Success bool    `json:"success"`
	Errors  []issue `json:"errors"`
}

// issue is one thing wrong with the body, in the shape of chat-relay's validator.
type issue struct {
	Code    string   `json:"code"`
	Path    []string `json:"path"`
	Message string   `json:"message"`
}

func (d *door) add(w http.ResponseWriter, r *http.Request) {
	history, err := d.addMessage(r)
	if err != nil {
		guard.Note(w, err)
		refuseAdd(w, err)
		return
	}
	writeJSON(w, http.StatusOK, added{Success: true, History: history})
}

func (d *door) addMessage(r *http.Request) ([]heard, error) {
	var in struct {
		From    *string `json:"from"`
		Message *string `json:"message"`
	}
	if err := decodeBody(r.Body, &in); err != nil {
		return nil, err
	}
	switch {
	case in.From == nil:
		return nil, abi.Field("from", abi.CodeInvalid, "is missing")
	case in.Message == nil:
		return nil, abi.Field("message", abi.CodeInvalid, "is missing")
	}
	name := d.cfg.Rooms.Usual()
	if r.URL.Query().Has("room") {
		name = r.URL.Query().Get("room")
	}
	talk, err := d.cfg.Rooms.Room(r.Context(), name)
	if err != nil {
		return nil, err
	}
	caller := identity.Of(r.Context())
	if err := caller.May(identity.Talk); err != nil {
		return nil, err
	}
	who, kind, err := caller.From(*in.From, abi.KindHuman)
	if err != nil {
		return nil, err
	}
	if _, err := talk.Say(r.Context(), rooms.Utterance{From: who, By: kind, Text: *in.Message}); err != nil {
		return nil, err
	}
	past, err := talk.History(r.Context(), abi.HistoryAsk{Limit: abi.MaxHistory})
	if err != nil {
		return nil, err
	}
	history := make([]heard, 0, len(past.Messages))
	for _, m := range past.Messages {
		history = append(history, heard{m.From, m.Text})
	}
	return history, nil
}

// decodeBody takes one JSON object; a field of another type is named.
func decodeBody(body io.Reader, into any) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return abi.Field("body", abi.CodeInvalid, "%v", err)
	}
	err = json.Unmarshal(raw, into) // a decoder would take what is behind the object
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return abi.Field("body", abi.CodeInvalid, "must be a JSON object")
	case errors.As(err, &wrong):
		return abi.Field(wrong.Field, abi.CodeInvalid, "must be a text, not %s", wrong.Value)
	case err != nil:
		return abi.Field("body", abi.CodeInvalid, "is no JSON object: %v", err)
	}
	return nil
}

// refuseAdd answers as chat-relay does; the status says more than its 400
// where it was not the body that was wrong.
func refuseAdd(w http.ResponseWriter, err error) {
	d := guard.DetailsOf(err)
	path, message := "", d.Detail
	if e := abi.AsError(err); e.Field != "" {
		path, message = e.Field, e.Reason()
	}
	if path == "text" {
		path = "message" // as chat-relay calls it
	}
	writeJSON(w, d.Status, notAdded{Errors: []issue{{Code: string(d.Code), Path: []string{path}, Message: message}}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, _ := json.Marshal(v) // texts, numbers and bools, and JSON that was read
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nothing to do
}
