package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Config is what the door stands before.
type Config struct {
	// Rooms finds rooms. It must be set.
	Rooms rooms.Directory
	// Tokens are those of the house: a guest may not take their holders' names.
	// Nil means none.
	Tokens *identity.Register
	// Cards gives the cards of the companions that have one, at every call those
	// of the moment. It must be set.
	Cards func() []cards.Card
	// RequireSpec refuses action-play to who has not read the companion's card
	// in the same session, or under the same token.
	RequireSpec bool
	// Stopping ends when the daemon is about to: whoever waits for something is told. It
	// must be set.
	Stopping context.Context
	// Version is what the server says of itself.
	Version string
	// Log takes what goes wrong. Nil means nothing is logged.
	Log *slog.Logger
	// MaxSessions bounds sessions, MaxStreams open event streams. Zero means 256.
	MaxSessions int
	MaxStreams  int
}

// maxWaits bounds the calls that wait for something to happen.
const maxWaits = 256

// Door is the MCP door. Its methods may be called from many goroutines.
type Door struct {
	cfg       Config
	server    *sdk.Server
	transport *streamable.Transport
	readers   *readers.Readers
	quick     map[string]streamable.Tool
	waits     chan struct{} // a token for each call that waits

	follows *follows
	telling sync.Mutex // held while told is compared and the difference told
	told    cards.Set  // what was offered last
}

// New makes a door. It serves when it is registered; Run keeps those who
// subscribed informed.
func New(cfg Config) *Door {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	d := &Door{cfg: cfg, quick: map[string]streamable.Tool{}, waits: make(chan struct{}, maxWaits)}
	d.follows = &follows{rooms: map[string]*followed{}}
	d.readers = readers.New(d.liveSessions, d.follows.said)
	d.server = sdk.NewServer(&sdk.Implementation{Name: "companiond", Title: "companiond", Version: cfg.Version}, &sdk.ServerOptions{
		Instructions:       instructions,
		Logger:             streamable.Quiet(cfg.Log),
		SubscribeHandler:   d.subscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil }, // what it followed ends by itself
		CompletionHandler:  d.complete,
	})
	d.addSeedTools()
	d.addTurnTools()
	d.addResources()
	d.addSpecs()
	d.addPrompts()
	d.transport = streamable.New(d.server, streamable.Config{MaxSessions: cfg.MaxSessions, MaxStreams: cfg.MaxStreams, Owner: owner, Log: cfg.Log, Tools: d.quick})
	return d
}

const instructions = "A room in which AI characters and people talk in turn. Read history before you speak; " +
	"consume says something for points of a shared budget; where turns are voted on, use wait_for_turn, vote and say. " +
	"The prompt turn_taking has the rules. " +
	"The spec:// resources are the companions' cards; action-play plays the actions in them."

// Register mounts the door at /mcp.
func (d *Door) Register(mux *http.ServeMux) { mux.Handle("/mcp", d.authorized(d.transport)) }

// MaxBody is the largest body the door takes, for the guard.
const MaxBody = 4 << 20

// Close ends all sessions and streams.
func (d *Door) Close(ctx context.Context) error { return d.transport.Close(ctx) }

// room finds the room an agent means.
func (d *Door) room(ctx context.Context, name string) (rooms.Room, error) {
	if name == "" {
		name = d.cfg.Rooms.Usual()
	}
	talk, err := d.cfg.Rooms.Room(ctx, name)
	if err == nil {
		d.follows.use(name)
	}
	return talk, err
}
