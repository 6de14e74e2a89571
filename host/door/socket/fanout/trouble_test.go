package fanout_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/entry"
)

// The journal's trouble ends all who follow the room, behind what they have not had yet, and
// who comes later starts anew.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		var asked atomic.Int64
		var hub fanout.Hub
		trouble := errors.New("the disk is full")
		var all sync.WaitGroup
		for i := range 10 {
			c := &client{coding: coding{&asked}, slow: func() { time.Sleep(time.Second) }}
			if i%2 == 0 {
				c.takes = func(int) int { return 0 }
			}
			all.Go(func() {
				err := hub.Follow(t.Context(), j, 0, c)
				if _, seen := c.has(); !errors.Is(err, trouble) || seen != 20 {
					t.Errorf("%v behind %d", err, seen)
				}
			})
		}
		synctest.Wait()
		j.add(20)
		synctest.Wait()
		j.fail(trouble)
		synctest.Wait()
		j.fail(nil)
		late := &client{coding: coding{&asked}}
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			if err := hub.Follow(ctx, j, 20, late); !errors.Is(err, context.Canceled) {
				t.Errorf("who came later: %v", err)
			}
		})
		synctest.Wait()
		j.add(1)
		synctest.Wait()
		if _, seen := late.has(); seen != 21 {
			t.Errorf("who came later has seen %d", seen)
		}
		time.Sleep(time.Minute)
		cancel()
		all.Wait()
	})
}

// An entry that cannot be encoded ends those to whom it would be shown, behind the ones before.
func TestEntryThatCannotBeEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("a")
		var asked atomic.Int64
		var hub fanout.Hub
		var all sync.WaitGroup
		for range 3 {
			c := &client{coding: coding{&asked}}
			all.Go(func() {
				err := hub.Follow(t.Context(), j, 0, c)
				if _, seen := c.has(); !errors.Is(err, errBad) || seen != 4 {
					t.Errorf("%v behind %d", err, seen)
				}
			})
		}
		synctest.Wait()
		j.mu.Lock()
		for seq := range uint64(6) {
			j.entries = append(j.entries, entry.Entry{Seq: seq + 1, ID: "a", Body: json.RawMessage(`{}`)})
		}
		j.entries[4].Body = json.RawMessage(`bad`)
		j.wake()
		j.mu.Unlock()
		all.Wait()
	})
}

// strict is a coding that panics where it should have answered an error.
type strict struct{ coding }

func (c strict) Message(e entry.Entry) ([]byte, error) {
	if string(e.Body) == "bad" {
		panic("a bug")
	}
	return c.coding.Message(e)
}

// A panic ends those whom it concerns, as trouble with the journal does, and nobody else: where an entry
// is encoded for all who have caught up, those of the room at once, for nobody knows what they
// were given; where one is behind, that one. Where it was is logged.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		bad, good := newJournal("bad"), newJournal("good")
		var asked atomic.Int64
		hub := fanout.Hub{Log: slog.New(slog.NewTextHandler(&log, nil))}
		var all, well sync.WaitGroup
		for _, c := range []fanout.Coding{coding{&asked}, strict{coding{&asked}}, strict{coding{&asked}}} {
			all.Go(func() {
				err := hub.Follow(t.Context(), bad, 0, &client{coding: c})
				_, first := c.(coding) // it may be its turn before the panic, and then it is told of its own trouble
				if err == nil || err.Error() != "panic in the fan-out: a bug" && !(first && err.Error() == "cannot be encoded") {
					t.Errorf("ended with %v", err)
				}
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		stays, late := &client{coding: strict{coding{&asked}}}, &client{coding: strict{coding{&asked}}}
		follow := func(j *journal, since uint64, c *client) {
			well.Go(func() {
				if err := hub.Follow(ctx, j, since, c); !errors.Is(err, context.Canceled) {
					t.Errorf("in %s, from %d: %v", j.name, since, err)
				}
			})
			synctest.Wait()
		}
		follow(good, 0, stays)
		bad.mu.Lock()
		bad.entries = append(bad.entries, entry.Entry{Seq: 1, ID: "bad", Body: json.RawMessage("bad")})
		bad.wake()
		bad.mu.Unlock()
		all.Wait()
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), `room=bad panic="a bug" stack=`) || !strings.Contains(log.String(), "fanout.encode") {
			t.Errorf("%d panics are logged: %s", n, log.String())
		}
		follow(bad, 1, late)
		if err := hub.Follow(ctx, bad, 0, &client{coding: strict{coding{&asked}}}); err == nil {
			t.Error("who is written to alone has come past it")
		}
		bad.add(1)
		good.add(4)
		synctest.Wait()
		if got, _ := late.has(); !slices.Equal(got, want("bad", 1, 2)) {
			t.Errorf("who came later has %q", got)
		}
		if got, _ := stays.has(); !slices.Equal(got, want("good", 0, 4)) {
			t.Errorf("who is elsewhere has %q", got)
		}
		cancel()
		well.Wait()
	})
}
