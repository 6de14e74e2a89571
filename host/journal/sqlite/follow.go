package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// batch is how many entries a follower gets at most at once.
const batch = 256

// Follow implements journal.Journal. A wake-up only says "look again": what a
// follower gets is always what it reads after its last entry, so that nothing
// is missed and nothing comes twice.
func (j *Journal) Follow(ctx context.Context, room string, after uint64, fn func([]entry.Entry) error) error {
	woken, leave := j.listen(room)
	defer leave()
	var look <-chan time.Time
	if j.tune.poll > 0 {
		t := time.NewTicker(j.tune.poll)
		defer t.Stop()
		look = t.C
	}
	for {
		es, err := j.Read(ctx, room, after, batch)
		if err != nil {
			return err
		}
		if len(es) > 0 {
			if err := fn(es); err != nil {
				return err
			}
			after = es[len(es)-1].Seq
			if len(es) == batch {
				continue
			}
		}
		select {
		case <-woken:
		case <-look:
		case <-ctx.Done():
			return ctx.Err()
		case <-j.quit:
			return fmt.Errorf("follow room: %w: closed", journal.ErrUnavailable)
		}
	}
}

// listen gives a channel that gets a value whenever the room may have grown,
// also while nobody waits on it.
func (j *Journal) listen(room string) (woken <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waits[room] == nil {
		j.waits[room] = map[chan struct{}]struct{}{}
	}
	j.waits[room][c] = struct{}{}
	return c, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.waits[room], c)
		if len(j.waits[room]) == 0 {
			delete(j.waits, room)
		}
	}
}

// wake tells the room's followers to look. j.mu is held.
func (j *Journal) wake(room string) {
	for c := range j.waits[room] {
		select {
		case c <- struct{}{}:
		default: // it is going to look anyway
		}
	}
}

// wakeAll tells every follower to look, after an outcome nobody knew.
func (j *Journal) wakeAll() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for room := range j.waits {
		j.wake(room)
	}
}
