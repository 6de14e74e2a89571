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
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/meaning"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
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
	// Window says how long a prompt for that model may be, in tokens that its meter guesses; nil: 8,000.
	Window func(companion string) (context int, meter *tokens.Meter)
	// Meaning finds what is near in meaning; nil: words alone find.
	Meaning *meaning.Finder
	// Names gives what those in a room are called, by id; nil: as their ids.
	Names func(ctx context.Context, room string) map[string]string
	// Location is where "tomorrow" is meant; nil: UTC.
	Location *time.Location
	Log      *slog.Logger // nil: slog.Default()
}

// usualContext is how long a prompt may be where nobody says, in tokens.
const usualContext = 8000

// Settings is how a companion remembers.
type Settings struct {
	Off        bool           // nothing new is remembered, and nothing recalled
	Visibility abi.Visibility // of what is new; empty: for the room
	Model      bool           // its model goes through talks, and rules where that cannot
	// Mind names that model: those who have the same one, and heard the same, have it asked
	// once for all of them. Empty: nobody else has it.
	Mind string
}

// Keeper keeps what companions remember. Make one with New; all methods may be called from many
// goroutines, also without Load and Run, which go through talks. Errors are *abi.Error.
type Keeper struct {
	cfg     Config
	stirred chan struct{} // has a value when a talk may be due sooner than was known
	lacking chan struct{} // and when something was added to lacks
	unnoted chan struct{} // and when the list of talks is not what the journal has
	list    list          // Load's, and then note's
	erased  atomic.Uint64 // grows whenever somebody wishes something forgotten

	mu      sync.Mutex
	books   map[string]*book // by companion; those that were ever used
	adds    map[string][]time.Time
	talks   map[string]*talk // that wait, by room
	queue   queue
	lacks   map[string]lack // companions of whose facts some have no vector
	waiting []string        // rooms with a talk that the list does not have
	done    []string        // and those with one that it should not
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
	if c.Window == nil {
		meter := new(tokens.Meter)
		c.Window = func(string) (int, *tokens.Meter) { return usualContext, meter }
	}
	if c.Names == nil {
		c.Names = func(context.Context, string) map[string]string { return nil }
	}
	k := &Keeper{
		cfg: c, stirred: make(chan struct{}, 1), unnoted: make(chan struct{}, 1), lacking: make(chan struct{}, 1),
		books: map[string]*book{}, adds: map[string][]time.Time{}, talks: map[string]*talk{}, lacks: map[string]lack{},
	}
	k.list = list{stream: k.stream(journal.Memory), waits: map[string]entry.Talk{}}
	return k
}

// atOnce is how many talks are gone through side by side: models take their time.
const atOnce = 4

// Run goes through talks when they rest, until ctx ends, and returns when it does nothing any
// more. A talk that was not gone through to its end is when the daemon runs again. The rooms
// have to end first: what they tell afterwards is not noted.
func (k *Keeper) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { k.note(ctx) })
	if k.cfg.Meaning != nil {
		running.Go(func() { k.index(ctx) })
	}
	places := make(chan struct{}, atOnce)
	lookAround := time.NewTicker(unused)
	defer lookAround.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		room, wait := k.next(time.Now())
		place := places
		if room == "" {
			place = nil
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return nil
		case place <- struct{}{}:
			t := k.begun(room)
			running.Go(func() {
				defer func() { <-places }()
				upto, here, err := k.goThrough(ctx, t)
				k.ended(room, upto, here, err)
			})
		case <-timer.C:
		case <-k.stirred:
		case now := <-lookAround.C:
			k.dropUnused(now)
		}
	}
}
