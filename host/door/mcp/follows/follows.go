// Package follows follows the rooms that agents use, so that who subscribed to one is told
// of what happens there, and it is known who said what last. A room that no agent uses is
// not followed.
//
// It reads rooms and never changes them, and does not know the MCP SDK: what a session is
// is the door's to say.
package follows

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

const (
	// Idle is for how long a room is followed that no agent uses any more.
	Idle = 10 * time.Minute
	// Retry is how long a follower waits after the journal could not be read.
	Retry = time.Second
	// Recent is how many of the newest lines of a room are known.
	Recent = 64
)

// Follows are the rooms that agents read, and what came of each. S is a session. Its
// methods may be called from many goroutines.
type Follows[S comparable] struct {
	cfg Config[S]

	mu    sync.Mutex
	start func(name string) // nil before Run
	rooms map[string]*followed[S]
}

// Config is what a door has rooms followed with. All of it must be set.
type Config[S comparable] struct {
	// Rooms finds rooms.
	Rooms rooms.Directory
	// Open gives the sessions that are open.
	Open func() map[S]bool
	// Tell is called with what happens in a room, in order.
	Tell func(ctx context.Context, room string, batch []entry.Entry)
}

// New makes follows of no room.
func New[S comparable](cfg Config[S]) *Follows[S] {
	return &Follows[S]{cfg: cfg, rooms: map[string]*followed[S]{}}
}

// followed is a room that agents read.
type followed[S comparable] struct {
	used     time.Time
	sessions map[S]bool     // that subscribed to it; where there are no sessions, each lasts as long as its stream
	known    uint64         // the least head that somebody knows who subscribed; math.MaxUint64 for nobody
	said     []readers.Line // the newest, oldest first; none of them changes any more
}

// Use notes that an agent uses a room.
func (f *Follows[S]) Use(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room(name)
}

// Subscribed notes that a session subscribed to a room whose head was known. It is
// told of all that comes behind that, though the follower may begin later.
func (f *Follows[S]) Subscribed(name string, session S, head uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.room(name)
	r.sessions[session] = true
	r.known = min(r.known, head)
}

// room gives a room that is used now, followed from now on. f.mu is held.
func (f *Follows[S]) room(name string) *followed[S] {
	r := f.rooms[name]
	if r == nil {
		r = &followed[S]{sessions: map[S]bool{}, known: math.MaxUint64}
		f.rooms[name] = r
		if f.start != nil {
			f.start(name)
		}
	}
	r.used = time.Now()
	return r
}

// begin lets start be called for every room that is used, and was already.
func (f *Follows[S]) begin(start func(name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.start = start
	for name := range f.rooms {
		start(name)
	}
}

// from gives where a follower begins that knows the room's head, so that those who
// subscribed before are told of what came since.
func (f *Follows[S]) from(name string, head uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return min(head, f.rooms[name].known)
}

// left gives for how long a room is to be followed before it is asked again, 0 for
// no more: then it is forgotten. Which sessions are open is asked while nobody can
// subscribe: one that did since would be taken for gone.
func (f *Follows[S]) left(name string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rooms[name]
	open := f.cfg.Open()
	maps.DeleteFunc(r.sessions, func(s S, _ bool) bool { return !open[s] })
	left := Idle - time.Since(r.used)
	switch {
	case len(r.sessions) > 0:
		return Idle
	case left > 0:
		return left
	}
	delete(f.rooms, name)
	return 0
}

// heard notes what was said in a room that is followed, in order; what is known already
// may come again.
func (f *Follows[S]) heard(name string, ms []abi.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rooms[name]
	for _, m := range ms {
		if n := len(r.said); n == 0 || m.Seq > r.said[n-1].Seq {
			r.said = append(r.said, readers.Line{Seq: m.Seq, From: m.From, At: m.At})
		}
	}
	if n := len(r.said); n > Recent {
		r.said = slices.Clone(r.said[n-Recent:])
	}
}

// Said gives the newest lines of a room, none where it is not followed.
func (f *Follows[S]) Said(name string) []readers.Line {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rooms[name]; r != nil {
		return r.said
	}
	return nil
}

// Rooms gives how many rooms are followed.
func (f *Follows[S]) Rooms() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rooms)
}

// Run follows the rooms that are used, until ctx ends.
func (f *Follows[S]) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	f.begin(func(name string) {
		wg.Go(func() { f.follow(ctx, name) })
	})
	<-ctx.Done()
	f.begin(func(string) {}) // nobody is waited for who comes now
	wg.Wait()
	return nil
}

// follow tells of what happens in a room, as long as somebody uses it.
func (f *Follows[S]) follow(ctx context.Context, name string) {
	var talk rooms.Room // nil: not found yet
	var since uint64
	for ctx.Err() == nil {
		left := f.left(name)
		if left == 0 {
			return
		}
		some, cancel := context.WithTimeout(ctx, left)
		var err error
		if talk == nil {
			talk, since, err = f.find(some, name)
		}
		if err == nil {
			_ = talk.Follow(some, since, func(batch []entry.Entry) error { // it ends with some, or the journal is in trouble
				f.heard(name, messages(batch))
				f.cfg.Tell(ctx, name, batch)
				since = batch[len(batch)-1].Seq
				return nil
			})
		}
		trouble := some.Err() == nil
		cancel()
		if !trouble {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(Retry):
		}
	}
}

func messages(batch []entry.Entry) (ms []abi.Message) {
	for _, e := range batch {
		if m, ok := e.Message(); ok {
			ms = append(ms, m)
		}
	}
	return ms
}

// find finds a room, notes what was said before, and gives where to follow it from.
func (f *Follows[S]) find(ctx context.Context, name string) (rooms.Room, uint64, error) {
	talk, err := f.cfg.Rooms.Room(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: Recent})
	if err != nil {
		return nil, 0, err
	}
	f.heard(name, past.Messages)
	return talk, f.from(name, past.Head), nil
}
