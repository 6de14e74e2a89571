// Package chat is the door for whatever talks to a language model by OpenAI's chat
// completions: front ends, kits for VTubers, the SDKs. Each companion and each room is a
// model there. docs/CHAT.md says what such a client gets.
//
// What its user says is said in the room, by the token's holder or a guest, and the line
// that answers is the completion. The history is the room's: of the list that a client sends
// only what is new counts (host/door/chat/news), and a list that is sent again says nothing.
//
// The package never decides who may speak, never tells a companion what a client's prompts
// want of it, and calls no model; it translates.
package chat

import (
	"context"
	"net/http"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The bounds of a request.
const (
	// MaxBody is the largest body, for the guard: clients send all they remember.
	MaxBody = 4 << 20
	// MaxMessages is how many messages a list may have, and MaxParts how many parts the
	// content of one.
	MaxMessages, MaxParts = 4096, 256
)

const (
	// patience is how long the first words of an answer may take, and longest how long
	// the rest of it. A room bounds its lines by itself; nobody waits longer than this.
	patience, longest = 55 * time.Second, 5 * time.Minute
	// moment is patience where nobody who could answer is there: long enough to give an
	// answer that was there before.
	moment = time.Second
	// alive is how often a stream shows that it is still there: proxies cut one that
	// says nothing.
	alive = 10 * time.Second
	// slowest is how long a client may take to read a piece.
	slowest = 30 * time.Second
	// sameAgain is how long a list counts as one that was sent again.
	sameAgain = time.Hour
)

// Companion is a companion as a model.
type Companion struct {
	ID, Name string
	Since    time.Time // when it was loaded; zero: it was not
	Waits    string    // why it cannot answer until the configuration changes: "waits for a model: ..."; else empty
}

// Config is what the door stands before. All of it must be set.
type Config struct {
	Rooms rooms.Directory
	// Companions lists the companions of the house.
	Companions func() []Companion
	// MaxWaiting is how many may wait for an answer at once, each caller a share of them.
	MaxWaiting int
	// Stopping ends when the daemon is about to: whoever waits then is told so.
	Stopping context.Context
}

type door struct {
	cfg     Config
	waiting *places.House
}

// Register mounts the door. The mux belongs behind a guard, guard.Mux and [Errors].
func Register(mux *http.ServeMux, cfg Config) {
	d := &door{cfg: cfg, waiting: places.New(places.Config{What: "answers that are waited for", Total: cfg.MaxWaiting})}
	mux.HandleFunc("POST /v1/chat/completions", d.serve(identity.Talk, d.complete))
	mux.HandleFunc("GET /v1/models", d.serve(identity.Read, d.models))
	mux.HandleFunc("GET /v1/models/{id...}", d.serve(identity.Read, d.model))
	for _, path := range []string{"/v1/responses", "/v1/responses/", "/v1/completions"} {
		mux.HandleFunc(path, elsewhere)
	}
}

// serve asks whether the caller may, and tells what came of it where that is an error.
func (d *door) serve(scope identity.Scope, h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := identity.Of(r.Context()).May(scope)
		if err == nil {
			err = h(w, r)
		}
		if err != nil {
			refuse(w, r, err)
		}
	}
}

// elsewhere tells SDKs that begin with another of OpenAI's doors which one is here.
func elsewhere(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, abi.Errorf(abi.CodeNotFound, "there is no %s here: call POST /v1/chat/completions; with the package openai that is client.chat.completions.create(...), with @ai-sdk/openai it is openai.chat(MODEL)", r.URL.Path))
}

// complete answers a completion.
func (d *door) complete(w http.ResponseWriter, r *http.Request) error {
	place, err := d.waiting.TakeHeld(identity.Of(r.Context()).Sharer, nil, time.Now().Add(patience))
	if err != nil {
		return err
	}
	defer place.Leave()
	c, err := d.take(r)
	switch {
	case err != nil:
		return err
	case c.stream:
		c.send(r.Context(), w)
		return nil
	}
	return c.answer(r.Context(), w)
}

// take reads a request and says what is new in it. Nothing of the list is kept for as long
// as the answer is waited for.
func (d *door) take(r *http.Request) (*completion, error) {
	in, err := read(r)
	guard.BodyDone(r.Context())
	if err != nil {
		return nil, err
	}
	to, err := d.target(r.Context(), in.Model)
	if err != nil {
		return nil, err
	}
	by, err := d.speaker(r, in.user)
	if err != nil {
		return nil, err
	}
	c := &completion{door: d, to: to, stream: in.Stream, usage: in.StreamOptions.IncludeUsage}
	return c, c.tell(r.Context(), by, in)
}
