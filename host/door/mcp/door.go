package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/door/mcp/converse"
	"github.com/companiond/companiond/host/door/mcp/follows"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/past"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/door/mcp/waits"
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
	// Meant gives the companion that a URL below /mcp names, by itself or by a session
	// of the AI Companion Protocol that the caller opened. It must be set.
	Meant func(name, caller string) (companion string, err error)
	// RequireSpec refuses action-play to who has not read the companion's card
	// in the same session, or under the same token.
	RequireSpec bool
	// Conversations are those of the agents of projects. Nil: there is no project, and the tools
	// for them are not offered.
	Conversations *converse.Config
	// Search finds what was said. Nil: nothing does, and the tool for it is not offered.
	Search Searcher
	// Compressing has turns told in fewer words. Nil: nothing does, and the tools for the past of
	// rooms are not offered.
	Compressing past.Compressing
	// Stopping ends when the daemon is about to: whoever waits for something is told. It
	// must be set.
	Stopping context.Context
	// Version is what the server says of itself.
	Version string
	// Dropped is told that a session was let go for another: "place". Nil: nobody is.
	Dropped func(reason string)
	// Log takes what goes wrong. Nil means nothing is logged.
	Log *slog.Logger
	// MaxSessions bounds sessions, MaxStreams open event streams. Zero means 256.
	MaxSessions int
	MaxStreams  int
}

// Door is the MCP door. Its methods may be called from many goroutines.
type Door struct {
	cfg       Config
	server    *sdk.Server
	transport *streamable.Transport
	readers   *readers.Readers
	quick     map[string]streamable.Tool
	waits     *waits.Waits[readers.Agent]

	prices  *guide.Prices
	follows *follows.Follows[*sdk.ServerSession]
	telling sync.Mutex  // held while told or terms is compared and the difference told
	told    cards.Set   // what was offered last
	terms   guide.Terms // what the tools that speak say now
}

// New makes a door. It serves when it is registered; Run keeps those who
// subscribed informed.
func New(cfg Config) *Door {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	d := &Door{cfg: cfg, quick: map[string]streamable.Tool{}, waits: waits.New[readers.Agent](), prices: guide.NewPrices(cfg.Rooms.Usual())}
	d.follows = follows.New(follows.Config[*sdk.ServerSession]{Rooms: cfg.Rooms, Open: d.openSessions, Tell: d.tell})
	d.readers = readers.New(d.liveSessions, d.follows.Said)
	self := &sdk.Implementation{Name: "companiond", Title: "companiond", Version: cfg.Version}
	d.server = sdk.NewServer(self, &sdk.ServerOptions{
		Instructions:       cfg.instructions(),
		Logger:             streamable.Quiet(cfg.Log),
		SubscribeHandler:   d.subscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil }, // what it followed ends by itself
		CompletionHandler:  d.complete,
		SetCacheable:       func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }, // by who asks
	})
	d.addTools()
	d.addSearch()
	d.addPast()
	d.addConversations()
	d.addResources()
	d.addSpecs()
	d.addPrompts()
	d.transport = streamable.New(d.server, streamable.Config{
		MaxSessions: cfg.MaxSessions, MaxStreams: cfg.MaxStreams, Owner: owner, Sharer: sharer, Log: cfg.Log, Dropped: cfg.Dropped, Tools: d.quick, Server: self,
	})
	return d
}

// Register mounts the door at /mcp, and at /mcp/{companion} for whoever names one.
func (d *Door) Register(mux *http.ServeMux) {
	door := d.meant(d.authorized(d.transport))
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/{companion}", door)
}

// MaxBody is the largest body the door takes, for the guard.
const MaxBody = streamable.MaxBody

// Sessions gives how many sessions there are.
func (d *Door) Sessions() int { return d.transport.Sessions() }

// Close ends all sessions and streams.
func (d *Door) Close(ctx context.Context) error { return d.transport.Close(ctx) }

// room finds the room an agent means.
func (d *Door) room(ctx context.Context, name string) (rooms.Room, error) {
	if name == "" {
		name = d.cfg.Rooms.Usual()
	}
	talk, err := d.cfg.Rooms.Room(ctx, name)
	if err == nil {
		d.follows.Use(name)
	}
	return talk, err
}
