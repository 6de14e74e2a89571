// Package memories is how people see, correct and erase over HTTP what companions
// remember, and what a language model was told. docs/MEMORY.md has all of it.
//
// Rights are here and nowhere else: whoever looks after the house may do everything, a
// person sees and erases what is remembered of that person, and agents and companions
// have nothing here, whatever their tokens are for. What a prompt says decides nothing.
//
// The package remembers nothing, searches nothing and erases nothing itself: it asks, and
// says to whom it may be shown. Texts of memories are words of others, which it hands on as
// they are, in JSON.
package memories

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/memory"
)

// Memories are what companions remember. *memory.Keeper implements it.
type Memories interface {
	Companions(ctx context.Context) ([]string, error)
	List(ctx context.Context, companion string, f memory.Filter) (memory.Page, error)
	Get(ctx context.Context, companion, id string) (abi.Memory, error)
	Write(ctx context.Context, companion string, a abi.MemoryAdd, visibility abi.Visibility, by string) (abi.Memory, error)
	Edit(ctx context.Context, companion, id string, c memory.Changes, by string) (abi.Memory, error)
}

var _ Memories = (*memory.Keeper)(nil)

// Forgetting erases for good. Errors are *abi.Error.
type Forgetting interface {
	// Forget writes an order down and erases, and answers when that is done, or with the order
	// as it stands when ctx ends: it goes on by itself. With f.DryRun nothing is written down
	// or erased, and the answer says what would go.
	Forget(ctx context.Context, f Forget) (Order, error)
	// Order gives how an order stands, and Orders the newest of them.
	Order(ctx context.Context, id string) (Order, error)
	Orders(ctx context.Context) ([]Order, error)
}

// Forget says what is erased: all that somebody said and all that is remembered of it, or
// one memory.
type Forget struct {
	Who             string
	Companion, Fact string
	Copies          bool            // copies of the journal that lie beside it are deleted, too
	By              identity.Caller // who has the word
	DryRun          bool
}

// Order is somebody's word that something be erased, and what came of it. It names nobody.
type Order struct {
	ID     string    `json:"order,omitempty" doc:"The order's id; none with dry_run." example:"9b2f61c0"`
	At     time.Time `json:"at,omitzero" doc:"When it was given."`
	State  string    `json:"state" doc:"would, with dry_run; running, done, or failed, when it is tried again." enum:"would,running,done,failed"`
	Kind   string    `json:"kind" doc:"person or facts." example:"person"`
	As     string    `json:"as,omitempty" doc:"What stands where the name stood." example:"forgotten-3f9a1c"`
	Nobody bool      `json:"nobody,omitempty" doc:"Nobody who spoke here, or of whom something is remembered, is called so."`
	Called []string  `json:"called,omitempty" doc:"With dry_run: all ways in which the name is written that goes." example:"mika"`
	Why    string    `json:"error,omitempty" doc:"Why it failed."`
	Stores []Count   `json:"stores" doc:"What goes, or went, by where it was kept."`
	// Talks are memories of talks in which others were, too.
	Talks int      `json:"talks,omitempty" doc:"How many of the memories are of talks in which others were, too; they are not made anew." example:"1"`
	Left  []string `json:"left" doc:"What it does not reach, in words."`
}

// Count is how much of one store goes.
type Count struct {
	Store string `json:"store" doc:"Where it was kept." example:"entries"`
	Count int    `json:"count" doc:"How many of it." example:"12"`
	// Others are other people's: that somebody else said, or that are of somebody else, too.
	Others int `json:"others,omitempty" doc:"How many of these are other people's." example:"2"`
}

// Config is what the door stands before. All of it must be set where something is asked.
type Config struct {
	Memories   Memories
	Forgetting Forgetting
	// Prompts gives what models were told about an entry of a room, see [told.Shelf.About].
	Prompts func(ctx context.Context, room string, seq uint64) ([]told.Prompt, error)
	// Lives says whether somebody lives in the house, and may have remembered nothing yet;
	// host/door/web knows.
	Lives func(companion string) bool
	// Stopping ends when the daemon is about to: whoever waits for an erasure then is told how
	// it stands, and it goes on after the start. It is that of host/door/web.
	Stopping context.Context
}

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

// maxBody bounds a body: a text and its keys, every letter escaped.
const maxBody = 64 << 10

type door struct{ cfg Config }

type body[T any] struct{ Body T }

// Register adds the operations to an API.
func Register(api huma.API, op Operation, cfg Config) {
	d := &door{cfg}
	const all, one = "/v1/companions/{id}/memories", "/v1/companions/{id}/memories/{memory}"
	add(api, d.list, op(http.MethodGet, all, "list-memories", "List what a companion remembers", http.StatusOK),
		"For whoever looks after the house. The holder of another person's token is shown what is remembered of that person alone.")
	add(api, d.one, op(http.MethodGet, one, "get-memory", "Look at one of them", http.StatusOK), "")
	add(api, d.add, op(http.MethodPost, all, "add-memory", "Tell a companion something to remember", http.StatusCreated),
		"For whoever looks after the house.")
	add(api, d.edit, op(http.MethodPatch, one, "edit-memory", "Correct one of them", http.StatusOK),
		"For whoever looks after the house. What is left out stays as it is.")
	add(api, d.erase, op(http.MethodDelete, one, "erase-memory", "Erase one of them", http.StatusOK),
		"It is gone for good, everywhere, with what was made of it. A person may erase what is remembered of that person.")
	add(api, d.forget, op(http.MethodPost, "/v1/forget", "forget", "Erase what somebody said, or one memory", http.StatusOK),
		"For good, from every store. With dry_run nothing is erased, and the answer says what would be; without it confirm has to say again what is to be erased. A person may erase what that person said. What takes longer than 20 seconds goes on by itself, and its order says how it stands.")
	add(api, d.order, op(http.MethodGet, "/v1/forget/{order}", "get-order", "Look how an erasure stands", http.StatusOK), "")
	add(api, d.orders, op(http.MethodGet, "/v1/forget", "list-orders", "List the erasures that were ordered", http.StatusOK),
		"The newest 100, without names. For whoever looks after the house.")
	add(api, d.prompts, op(http.MethodGet, "/v1/rooms/{room}/entries/{seq}/prompts", "prompts", "See what language models were told", http.StatusOK),
		"For whoever looks after the house: a prompt has the words of all who are in the room, and what is remembered of others.")
}

// add adds an operation whose answer is a body and nothing else.
func add[I, O any](api huma.API, h func(context.Context, *I) (O, error), op huma.Operation, doc string) {
	op.Description, op.MaxBodyBytes = doc, maxBody
	huma.Register(api, op, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := h(ctx, in)
		if err == nil {
			return &body[O]{out}, nil
		}
		if after := guard.RetryAfter(err); after != "" {
			return nil, huma.ErrorWithHeaders(guard.DetailsOf(err), http.Header{"Retry-After": {after}})
		}
		return nil, guard.DetailsOf(err)
	})
}
