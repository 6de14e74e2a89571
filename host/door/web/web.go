// Package web is the HTTP door: rooms, companions, what companions perceive and the
// conversations of agents (host/door/web/conversations) as JSON, described by an
// OpenAPI 3.1 document, and the page (host/door/page). The /add of chat-relay, and
// /init and /perception of the AI Companion Protocol, are here too, in their shapes.
//
// Every refusal is problem+json of one shape, guard.Details; those about the
// request itself name the fields. Unknown fields and query parameters are
// refused, not ignored: a typing error in "text" must be told.
//
// A caller over HTTP without a token is a human guest: the name in "from" is
// taken as given, and the room refuses the names of those who live in the
// house. With a token it is whoever the token is for. The package never decides
// who may speak; it translates.
package web

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/page"
	"github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/door/web/files"
	"github.com/companiond/companiond/host/door/web/handlers"
	"github.com/companiond/companiond/host/door/web/logs"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/lately"
	own "github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/search"
)

// Config is what the door stands before. All of it must be set that an operation
// asks for.
type Config struct {
	// Rooms finds rooms.
	Rooms rooms.Directory
	// Companions lists the companions of the house.
	Companions func() []Companion
	// Version is what GET /v1/version answers.
	Version Version
	// Perceptions takes them.
	Perceptions Perceiver
	// Cards gives the card of a companion, nil when it has none. It refuses with
	// CodeNotFound when there is no such companion, and with CodeUnavailable when
	// its file is there and not loaded.
	Cards func(companion string) (*card.Card, error)
	// Usual is the companion that is meant by whoever names none, "" for nobody. It
	// need not be there.
	Usual func() string
	// RoomKeys are the settings that a room may be opened with.
	RoomKeys []RoomKey
	// Conversations are those of agents; nil where no project is configured, and then
	// nothing of them is offered.
	Conversations *conversations.Config
	// Memories are those of companions; nil where nothing is remembered, and then nothing of
	// them is offered.
	Memories *memories.Config
	// Compressing has turns of rooms compressed; nil where nothing of it, and of forks, is offered.
	Compressing past.Compressing
	// Search finds what was said; nil where nothing does, and then it is not offered.
	Search Searcher
	// Blobs are what modules made for bodies and pages; nil where nothing is, and then they are not offered.
	Blobs Blobs
	// Handlers are those of the house; nil where there can be none, and then nothing of them is offered.
	Handlers handlers.Stage
	// Files are those of characters; nil where they are not for the door, and then nothing of them is offered.
	Files files.Store
	// Log has the newest lines of the daemon's; nil where nothing does, and then they are not offered.
	Log *lately.Log
	// Stopping ends when the daemon is about to: whoever waits for a judgement or
	// an answer then is told at once that there is none yet.
	Stopping context.Context
}

// Perceiver is what perceptions are offered to. *perception.Queues implements it.
type Perceiver interface {
	Offer(ctx context.Context, companion string, p card.Percept, from string) (perception.Taken, error)
	Counts(companion string) map[string]int
	Open(companion, caller, sharer string) (id string, err error)
	Session(id, caller string) (companion string, err error)
	Meant(name, caller string) (companion string, err error)
}

var _ Perceiver = (*perception.Queues)(nil)

// Companion is one companion as the door shows it.
type Companion struct {
	ID          string    `json:"id" doc:"The companion's id, from its file's name." example:"aya"`
	Name        string    `json:"name" doc:"What people call it."`
	Kind        string    `json:"kind,omitempty" doc:"Of a handler, what it handles; a companion has none." example:"action-handler"`
	Engine      string    `json:"engine" doc:"How it runs." example:"wasm"`
	Generation  uint64    `json:"generation" doc:"Which loaded version is live; 0: none was ever loaded."`
	State       string    `json:"state" doc:"loading, ready, failed or quarantined."`
	File        string    `json:"file" doc:"Its file, below the folder of companions."`
	Progress    string    `json:"progress,omitempty" doc:"What its newest save waits for." example:"being compiled"`
	Error       string    `json:"error" doc:"What is wrong with the newest save, or why it is quarantined; empty when all is well."`
	Faults      int       `json:"faults" doc:"Calls in which this generation crashed, answered nonsense or worked without end; to be slow is none."`
	MemoryBytes int64     `json:"memory_bytes" doc:"Guest memory in use now."`
	LoadedAt    time.Time `json:"loaded_at,omitzero" doc:"When this generation was loaded."`
}

// Version says what is running.
type Version struct {
	Version  string `json:"version" doc:"The daemon's version." example:"v0.1.0"`
	Revision string `json:"revision,omitempty" doc:"The commit it was built from."`
	Go       string `json:"go,omitempty" doc:"The Go version it was built with."`
	ABI      int    `json:"abi" doc:"The version of the border to modules."`
}

// Register mounts the door: /v1/..., /openapi.json, /openapi.yaml and the page
// at /. The mux belongs behind a guard and guard.Mux.
func Register(mux *http.ServeMux, cfg Config) error {
	api := build(mux, cfg)
	asJSON, asYAML, err := document(api)
	if err != nil {
		return err
	}
	d := &door{cfg: cfg}
	mux.HandleFunc("POST /add", d.add)
	mux.HandleFunc("POST /init", d.initSession)
	mux.HandleFunc("POST /perception", d.perception)
	mux.HandleFunc("POST /perception/{companion}", d.perception)
	mux.HandleFunc("GET /openapi.json", static("application/openapi+json", asJSON))
	mux.HandleFunc("GET /openapi.yaml", static("application/openapi+yaml", asYAML))
	return page.Register(mux, page.Config{Projects: cfg.Conversations != nil})
}

// OpenAPI gives the API's description without serving it, that of a house with projects.
func OpenAPI(v Version) (asJSON, asYAML []byte, err error) {
	return document(build(http.NewServeMux(), Config{Version: v, Conversations: &conversations.Config{}, Memories: &memories.Config{}, Compressing: new(compress.Service), Search: (*search.Keeper)(nil), Blobs: (*blob.Store)(nil), Handlers: (*handler.Stage)(nil), Files: (*own.Store)(nil), Log: lately.New()}))
}

func build(mux *http.ServeMux, cfg Config) huma.API {
	api := humago.New(mux, settings(cfg.Version))
	api.UseMiddleware(strict)
	d := &door{cfg: cfg}
	register(api, d)
	op := func(method, path, id, summary string, status int) huma.Operation {
		return operation(api, method, path, id, summary, status)
	}
	if cfg.Conversations != nil {
		conversations.Register(api, mux, op, *cfg.Conversations)
	}
	if cfg.Memories != nil {
		m := *cfg.Memories
		m.Lives, m.Stopping = d.lives, cfg.Stopping
		memories.Register(api, op, m)
	}
	if cfg.Compressing != nil {
		past.Register(api, op, past.Config{Rooms: cfg.Rooms, Compressing: cfg.Compressing, Owner: owner, MayRead: func(ctx context.Context, talk rooms.Room) error {
			if err := conversations.MayRead(ctx, talk); err != nil {
				return conversations.Refusal(err)
			}
			return nil
		}})
	}
	if cfg.Search != nil {
		registerSearch(api, d)
	}
	if cfg.Blobs != nil {
		registerBlobs(api, d)
	}
	if cfg.Handlers != nil {
		handlers.Register(api, op, cfg.Handlers)
	}
	if cfg.Files != nil {
		files.Register(api, op, cfg.Files)
	}
	if cfg.Log != nil {
		logs.Register(api, op, cfg.Log, cfg.Stopping)
	}
	tidy(api.OpenAPI())
	describePerceptions(api.OpenAPI())
	describeRooms(api.OpenAPI(), cfg.RoomKeys)
	return api
}

func static(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(body) // the client is gone: nothing to do
	}
}
