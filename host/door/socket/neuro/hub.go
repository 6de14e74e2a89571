// Package neuro is the Neuro SDK's API, of which companiond is the server: a game connects, offers
// a companion actions with a JSON Schema each, tells it what happens, and may want one of its
// actions at once. What is played goes to the game that offered it, and its result back.
//
// The rules (whose a name is, one force at a time, results in time) are host/force's, what is
// offered and told is in the room's journal, and the door has the connection: this is the wire
// between them. It never lets a game speak, or act on what another offers.
package neuro

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Config is what games stand on.
type Config struct {
	// Tell has a companion judge what a game tells it, and answers when that is kept. It must
	// be set.
	Tell func(ctx context.Context, companion string, p abi.Percept) error
	// Plays says whether a companion's card has an action, which no game can offer then. Nil:
	// none has.
	Plays func(companion, action string) bool
	// NewID makes the ids of sessions. It must be set.
	NewID func() string
	// Log takes what is wrong with games. Nil means nothing is logged.
	Log *slog.Logger
}

// Hub has the games of all companions. Make it with [New].
type Hub struct {
	cfg Config

	mu    sync.Mutex
	desks map[place]*desk
}

// place is a companion in a room.
type place struct{ room, companion string }

// desk is where the games of one companion in a room meet: what they want is one machine's.
type desk struct {
	mu      sync.Mutex
	machine force.Machine
	games   map[string]*Game // by body
	open    int              // that came and have not left; the hub's
}

// New makes a hub without games. It starts nothing.
func New(c Config) *Hub {
	if c.Plays == nil {
		c.Plays = func(string, string) bool { return false }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return &Hub{cfg: c, desks: map[place]*desk{}}
}

// Guest is a game that is about to connect.
type Guest struct {
	Room      rooms.Room
	Companion string
	Caller    identity.Caller
	Told      bool // it is sent what is wrong with it
	Once      bool // it is never asked to offer anew what it offers
}

// Game gives what serves a game. It is nowhere before [Game.Enter].
func (h *Hub) Game(g Guest) *Game {
	return &Game{Guest: g, hub: h, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// desk gives that of a place, for one game more.
func (h *Hub) desk(at place) *desk {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.desks[at]
	if d == nil {
		d = &desk{games: map[string]*Game{}}
		h.desks[at] = d
	}
	d.open++
	return d
}

// leave forgets a desk where nobody is any more.
func (h *Hub) leave(at place) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d := h.desks[at]; d != nil {
		if d.open--; d.open == 0 {
			delete(h.desks, at)
		}
	}
}

// hand hands what follows to the games that it is about. The lock is held.
func (d *desk) hand(steps []force.Step) {
	for _, s := range steps {
		if g := d.games[force.BodyOf(s)]; g != nil {
			g.steps = append(g.steps, s)
			g.stir()
		}
	}
}

// next gives when the machine is due. The lock is held.
func (d *desk) next(now time.Time) time.Duration {
	at, ok := d.machine.Next()
	if !ok {
		return time.Hour
	}
	return max(time.Nanosecond, at.Sub(now))
}
