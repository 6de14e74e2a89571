// Package memory keeps what the companions of a house remember: each has a stream of its own
// in the journal, which is the truth, and of which a table is held while it is used. When a
// talk has rested for a while, what people said there is gone through and what is worth it
// is remembered, by a language model or by rules.
//
// It never decides what is worth remembering (extract, ask and fact below it do) or
// what has to do with a question (recall does), wakes no room, shows nothing in a room
// that may not be told there, and believes no model: a fact has a quotation that code found in what a
// person said.
package memory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// Rests is how long nobody has to have spoken until a talk is gone through, and Turns after
// how many turns of people that is done though it goes on.
const (
	Rests = 2 * time.Minute
	Turns = 60
)

// Config is what a Keeper stands on.
type Config struct {
	Journal journal.Journal // must be set
	Owner   string          // of this run of the daemon, in the owner entries of streams
	NewID   func() string   // random; must be set
	// Settings says how a companion remembers; nil: by rules, for the room.
	Settings func(companion string) Settings
	// Model asks the model of a companion for what is worth remembering in a talk; nil: no companion has one.
	Model func(ctx context.Context, c module.Caller, ask model.Request) (model.Answer, error)
	// Names gives what those in a room are called, by id; nil: as their ids.
	Names func(ctx context.Context, room string) map[string]string
	// Location is where "tomorrow" is meant; nil: UTC.
	Location *time.Location
	Log      *slog.Logger // nil: slog.Default()
}

// Settings is how a companion remembers.
type Settings struct {
	Off        bool           // nothing new is remembered, and nothing recalled
	Visibility abi.Visibility // of what is new; empty: for the room
	Model      bool           // its model goes through talks, and rules where that cannot
}

// Keeper keeps what companions remember. Make one with New; all methods may be called from many
// goroutines, also without Run, which goes through talks. Errors are *abi.Error.
type Keeper struct {
	cfg Config

	mu    sync.Mutex
	books map[string]*book // by companion; those in use
}

// New makes a keeper. Nothing is read yet.
func New(c Config) *Keeper {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Location == nil {
		c.Location = time.UTC
	}
	if c.Settings == nil {
		c.Settings = func(string) Settings { return Settings{} }
	}
	return &Keeper{cfg: c, books: map[string]*book{}}
}
