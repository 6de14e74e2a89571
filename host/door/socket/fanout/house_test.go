package fanout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/entry"
)

// journal is a room with what is said to have happened there.
type journal struct {
	name string

	mu        sync.Mutex
	entries   []entry.Entry
	grew      chan struct{}
	broken    error
	batch     int
	followers int // now
	followed  int // ever
}

func newJournal(name string) *journal {
	return &journal{name: name, grew: make(chan struct{}), batch: 256}
}

func (j *journal) Name() string { return j.name }

// add lets n things happen at once.
func (j *journal) add(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for range n {
		seq := uint64(len(j.entries) + 1)
		j.entries = append(j.entries, entry.Entry{Seq: seq, ID: j.name, Body: json.RawMessage(fmt.Sprintf(`{"n":%d}`, seq))})
	}
	j.wake()
}

func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
	j.wake()
}

func (j *journal) wake() {
	close(j.grew)
	j.grew = make(chan struct{})
}

func (j *journal) head() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return uint64(len(j.entries))
}

func (j *journal) Entries(context.Context, uint64, int) ([]entry.Entry, uint64, error) {
	return nil, j.head(), nil
}

func (j *journal) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	j.mu.Lock()
	j.followers++
	j.followed++
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		j.followers--
		j.mu.Unlock()
	}()
	for {
		j.mu.Lock()
		grew, err := j.grew, j.broken
		es := j.entries[min(since, uint64(len(j.entries))):]
		es = es[:min(len(es), j.batch)]
		j.mu.Unlock()
		switch {
		case err != nil:
			return err
		case len(es) > 0:
			if err := fn(es); err != nil {
				return err
			}
			since = es[len(es)-1].Seq
			continue
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// coding counts how often it is asked. Every third entry has no message.
type coding struct{ asked *atomic.Int64 }

func (c coding) Message(e entry.Entry) ([]byte, error) {
	c.asked.Add(1)
	switch {
	case string(e.Body) == "bad":
		return nil, errBad
	case e.Seq%3 == 0:
		return nil, nil
	}
	return e.Body, nil
}

var errBad = errors.New("cannot be encoded")

// client takes what it is given, as well as a test lets it.
type client struct {
	coding fanout.Coding
	takes  func(n int) int // how many of so many frames Push takes
	slow   func()          // before each that is written

	mu   sync.Mutex
	got  []string // room and frame
	seen uint64
	owes bool // it was pushed a part and has not settled

}

func (c *client) Push(b fanout.Batch) (int, bool) {
	f := b.Frames(c.coding)
	n := len(f.Ends)
	if c.takes != nil {
		n = c.takes(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owes = n < len(b.Entries)
	for i := range n {
		c.take(b, i)
	}
	return n, !c.owes
}

// take notes an entry of a batch. c.mu is held.
func (c *client) take(b fanout.Batch, i int) {
	frame, err := b.Frame(c.coding, i)
	if err != nil {
		panic(err)
	}
	if frame != nil {
		c.got = append(c.got, b.Entries[i].ID+" "+string(frame[2:]))
	}
	c.seen = b.Entries[i].Seq
}

func (c *client) Settle() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owes = false
	return nil
}

func (c *client) Write(ctx context.Context, b fanout.Batch) error {
	for i := range b.Entries {
		if c.slow != nil {
			c.slow()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := b.Frame(c.coding, i); err != nil {
			return err
		}
		c.mu.Lock()
		if c.owes {
			panic("a client is written to before it has settled")
		}
		c.take(b, i)
		c.mu.Unlock()
	}
	return nil
}

// has gives what has come.
func (c *client) has() (got []string, seen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got...), c.seen
}

// want is what is to come of a room, behind since up to last.
func want(room string, since, last uint64) (all []string) {
	for seq := since + 1; seq <= last; seq++ {
		if seq%3 != 0 {
			all = append(all, fmt.Sprintf(`%s {"n":%d}`, room, seq))
		}
	}
	return all
}
