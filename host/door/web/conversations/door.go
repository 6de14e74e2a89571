// Package conversations is the HTTP side of the conversations of agents, for people: they
// start a chat with an agent, write to it and hear its answer; they look at what agents say
// to each other, say something to that, and stop it. docs/CONVERSATIONS.md has all of it.
//
// A human is the holder of a person's token, or a guest under the name it gives; an AI is
// neither, whatever its name is written like. An agent's token may read the conversations it
// is in, and nothing else here: agents converse at /mcp.
//
// The package decides nothing of a conversation's life and keeps nothing: it translates.
package conversations

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

const (
	// patience is how long an answer in one piece is waited for at most, and longest how
	// long one that is streamed.
	patience, longest = conversations.MaxWait, 10 * time.Minute
	// alive is how often a stream shows that it is still there: proxies cut one that
	// says nothing.
	alive = 10 * time.Second
	// slowest is how long a client may take to read a piece.
	slowest = 30 * time.Second
	// maxBody bounds a body: two texts of conversation.MaxText characters, every one of them
	// escaped as two, and names.
	maxBody = 128 << 10
)

// guest is who speaks without a token and without a name.
const guest = "guest"

// Conversations are what the door needs of them. *conversations.Conversations implements it.
type Conversations interface {
	Start(ctx context.Context, m conversations.Member, a conversations.Ask) (conversations.View, error)
	Say(ctx context.Context, m conversations.Member, w conversations.Words) (conversations.Said, error)
	End(ctx context.Context, m conversations.Member, id, final string) (conversations.View, error)
	Stop(ctx context.Context, human, id string) (conversations.View, error)
	Get(ctx context.Context, id string) (conversations.View, error)
	History(ctx context.Context, id string, since uint64, limit int) (msgs []abi.Message, head uint64, err error)
	List(ctx context.Context, f conversations.Filter) ([]conversations.View, error)
	Project(name string) (p conversations.Project, ok bool)
	ProjectOf(agent string) (string, error)
	Follow(ctx context.Context, project string, fn func(conversations.Notice) error) error
}

var _ Conversations = (*conversations.Conversations)(nil)

// Config is what the door stands before. All of it must be set.
type Config struct {
	Conversations Conversations
	// Rooms has those of the conversations.
	Rooms rooms.Directory
	// Agent gives one of those who may take part.
	Agent func(id string) (conversations.Agent, bool)
	// MaxWaiting is how many may wait for an answer, or follow what happens, at once, each
	// caller a share of them.
	MaxWaiting int
	// Stopping ends when the daemon is about to: whoever waits then is told so.
	Stopping context.Context
}

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

type door struct {
	cfg     Config
	waiting *places.House
}

// Register adds the operations to an API, and the paths of people's chats without a version
// to its mux.
func Register(api huma.API, mux *http.ServeMux, op Operation, cfg Config) {
	d := &door{cfg: cfg, waiting: places.New(places.Config{What: "answers that are waited for", Total: max(cfg.MaxWaiting, 1)})}
	d.registerChat(api, op)
	d.registerRead(api, op)
	describeFaults(api)
	mux.HandleFunc("POST /chat/start", versioned(mux))
	mux.HandleFunc("POST /chat", versioned(mux))
	mux.HandleFunc("POST /chat/end", versioned(mux))
}

// versioned serves a request as the same below /v1.
func versioned(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		again := r.Clone(r.Context())
		again.URL.Path, again.URL.RawPath = "/v1"+r.URL.Path, ""
		mux.ServeHTTP(w, again)
	}
}

type body[T any] struct{ Body T }

// add adds an operation whose answer is a body and nothing else.
func add[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (O, error), op huma.Operation) {
	addAs(api, scope, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := h(ctx, in)
		return &body[O]{out}, err
	}, op)
}

func addAs[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (*O, error), op huma.Operation) {
	op.MaxBodyBytes = maxBody
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if err := identity.Of(ctx).May(scope); err != nil {
			return nil, Refusal(err)
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, Refusal(err)
		}
		return out, nil
	})
}
