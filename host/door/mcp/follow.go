package mcp

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

const (
	// followIdle is for how long a room is followed that no agent uses any more.
	followIdle = 10 * time.Minute
	// followRetry is how long a follower waits after the journal could not be read.
	followRetry = time.Second
	// recentSaid is how many of the newest lines of a room are known.
	recentSaid = 64
)

// follows are the rooms that agents read, and what came of each: the door looks at
// what is said there, and tells those who subscribed. A room that no agent uses is
// not followed.
type follows struct {
	mu    sync.Mutex
	start func(name string) // nil before Run
	rooms map[string]*followed
}

// followed is a room that agents read.
type followed struct {
	used     time.Time
	sessions map[*sdk.ServerSession]bool // that subscribed to it; where there are no sessions, each lasts as long as its stream
	known    uint64                      // the least head that somebody knows who subscribed; math.MaxUint64 for nobody
	said     []readers.Line              // the newest, oldest first; none of them changes any more
}

// use notes that an agent uses a room.
func (f *follows) use(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room(name)
}

// subscribed notes that a session subscribed to a room whose head was known. It is
// told of all that comes behind that, though the follower may begin later.
func (f *follows) subscribed(name string, session *sdk.ServerSession, head uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.room(name)
	r.sessions[session] = true
	r.known = min(r.known, head)
}

// room gives a room that is used now, followed from now on. f.mu is held.
func (f *follows) room(name string) *followed {
	r := f.rooms[name]
	if r == nil {
		r = &followed{sessions: map[*sdk.ServerSession]bool{}, known: math.MaxUint64}
		f.rooms[name] = r
		if f.start != nil {
			f.start(name)
		}
	}
	r.used = time.Now()
	return r
}

// begin lets start be called for every room that is used, and was already.
func (f *follows) begin(start func(name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.start = start
	for name := range f.rooms {
		start(name)
	}
}

// from gives where a follower begins that knows the room's head, so that those who
// subscribed before are told of what came since.
func (f *follows) from(name string, head uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return min(head, f.rooms[name].known)
}

// left gives for how long a room is to be followed before it is asked again, 0 for
// no more: then it is forgotten. Which sessions are open is asked while nobody can
// subscribe: one that did since would be taken for gone.
func (f *follows) left(name string, live func() map[*sdk.ServerSession]bool) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rooms[name]
	open := live()
	maps.DeleteFunc(r.sessions, func(s *sdk.ServerSession, _ bool) bool { return !open[s] })
	left := followIdle - time.Since(r.used)
	switch {
	case len(r.sessions) > 0:
		return followIdle
	case left > 0:
		return left
	}
	delete(f.rooms, name)
	return 0
}

// heard notes what was said in a room that is followed, in order; what is known already
// may come again.
func (f *follows) heard(name string, ms []abi.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.rooms[name]
	for _, m := range ms {
		if n := len(r.said); n == 0 || m.Seq > r.said[n-1].Seq {
			r.said = append(r.said, readers.Line{Seq: m.Seq, From: m.From})
		}
	}
	if n := len(r.said); n > recentSaid {
		r.said = slices.Clone(r.said[n-recentSaid:])
	}
}

// said gives the newest lines of a room, none where it is not followed.
func (f *follows) said(name string) []readers.Line {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rooms[name]; r != nil {
		return r.said
	}
	return nil
}

// Run follows the rooms that agents use, until ctx ends.
func (d *Door) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	d.follows.begin(func(name string) {
		wg.Go(func() { d.follow(ctx, name) })
	})
	<-ctx.Done()
	d.follows.begin(func(string) {}) // nobody is waited for who comes now
	wg.Wait()
	return nil
}

// follow tells those who subscribed to a room of what happens there, as long as
// somebody uses it.
func (d *Door) follow(ctx context.Context, name string) {
	var talk rooms.Room // nil: not found yet
	var since uint64
	for ctx.Err() == nil {
		left := d.follows.left(name, d.openSessions)
		if left == 0 {
			return
		}
		some, cancel := context.WithTimeout(ctx, left)
		var err error
		if talk == nil {
			talk, since, err = d.begin(some, name)
		}
		if err == nil {
			_ = talk.Follow(some, since, func(batch []entry.Entry) error { // it ends with some, or the journal is in trouble
				d.tell(ctx, name, batch)
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
		case <-time.After(followRetry):
		}
	}
}

// begin finds a room, notes what was said before, and gives where to follow it from.
func (d *Door) begin(ctx context.Context, name string) (rooms.Room, uint64, error) {
	talk, err := d.cfg.Rooms.Room(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: recentSaid})
	if err != nil {
		return nil, 0, err
	}
	d.follows.heard(name, past.Messages)
	return talk, d.follows.from(name, past.Head), nil
}

// openSessions gives the sessions that are open, of either era.
func (d *Door) openSessions() map[*sdk.ServerSession]bool {
	open := map[*sdk.ServerSession]bool{}
	for s := range d.server.Sessions() {
		open[s] = true
	}
	return open
}

// liveSessions gives the ids of those that have one.
func (d *Door) liveSessions() map[string]bool {
	live := map[string]bool{}
	for s := range d.server.Sessions() {
		live[s.ID()] = true
	}
	return live
}

// Waiting says whether an agent that reads the room has not seen everything, was
// refused and could be heard by now, or waits for the pool, which is there again:
// chat-relay's clients are then to be woken again.
func (d *Door) Waiting(name string) bool {
	talk, err := d.cfg.Rooms.Room(context.Background(), name)
	return err == nil && d.readers.Waiting(talk)
}
