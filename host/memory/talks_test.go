package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	jmem "github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/rooms"
)

type modelRequest = model.Request

// mortal is a journal that dies at a write: like a daemon that is killed, nothing is written from then
// on, and it is not known whether the last write was.
type mortal struct {
	journal.Journal
	left   *atomic.Int64 // writes until it dies; the last of them is done if done
	done   bool
	memory bool // only writes of memory count
}

func (m mortal) dies(name string) (before, after error) {
	if m.memory && journal.IsRoom(name) {
		if m.left.Load() <= 0 {
			return journal.ErrUnavailable, nil
		}
		return nil, nil
	}
	switch n := m.left.Add(-1); {
	case n > 0:
		return nil, nil
	case n == 0 && m.done:
		return nil, journal.ErrUnknown
	}
	return journal.ErrUnavailable, nil
}

func (m mortal) Append(ctx context.Context, name string, h journal.Head, es ...journal.New) (journal.Head, error) {
	before, after := m.dies(name)
	if before != nil {
		return h, before
	}
	next, err := m.Journal.Append(ctx, name, h, es...)
	if err == nil && after != nil {
		return h, after
	}
	return next, err
}

func (m mortal) Acquire(ctx context.Context, name, owner string, at time.Time) (journal.Head, error) {
	before, after := m.dies(name)
	if before != nil {
		return journal.Head{}, before
	}
	h, err := m.Journal.Acquire(ctx, name, owner, at)
	if err == nil && after != nil {
		return h, after
	}
	return h, err
}

func (m mortal) Rest(ctx context.Context, name string, h journal.Head, due time.Time) error {
	if m.left.Load() <= 0 {
		return journal.ErrUnavailable
	}
	return m.Journal.Rest(ctx, name, h, due)
}

// Find cannot tell any more either, once it is dead.
func (m mortal) Find(ctx context.Context, name, id string) (entry.Entry, bool, error) {
	if m.left.Load() <= 0 {
		return entry.Entry{}, false, journal.ErrUnavailable
	}
	return m.Journal.Find(ctx, name, id)
}

// TestKilledAtAnyWrite: whichever write of memory the daemon is killed at, before it or just after it, everything
// that people told is remembered once in the end.
func TestKilledAtAnyWrite(t *testing.T) {
	said := map[string]string{"My cat is called Tama.": "Tama", "My dog is called Pochi.": "Pochi"}
	points := 0
	for _, done := range []bool{false, true} {
		for at := int64(1); at <= 12; at++ {
			in(t, nil, func(t *testing.T, h *house) {
				under := h.journal
				left := new(atomic.Int64)
				left.Store(at)
				h.journal = mortal{under, left, done, true}
				h.again("aya")
				told := h.tell(said)
				rests()
				if left.Load() <= 0 {
					points++
				}
				h.journal = under
				h.again("aya")
				rests()
				h.again("aya")
				rests()
				got := h.facts("aya")
				for _, text := range told {
					if n := strings.Count(strings.Join(got, "\n"), said[text]); n != 1 {
						t.Errorf("killed at write %d, done %v: %q is remembered %d times: %q", at, done, text, n, got)
					}
				}
				if n := len(h.remembers("aya")) - len(got); n > 1 {
					t.Errorf("killed at write %d, done %v: %d episodes of one talk", at, done, n)
				}
			})
		}
	}
	if points < 8 {
		t.Errorf("killed at %d points only", points)
	}
}

// tell says things, and gives those that the daemon acknowledged.
func (h *house) tell(all map[string]string) (told []string) {
	talk, err := h.Room(context.Background(), "main")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, text := range slices.Sorted(maps.Keys(all)) {
		if _, err := talk.Say(context.Background(), rooms.Utterance{From: "taro", Text: text}); err == nil {
			told = append(told, text)
		}
		sleep(2 * time.Second)
	}
	return told
}

// TestKilledBeforeItWasNoted: what was said in the moment before the daemon was killed, of which the list of talks
// knows nothing, is remembered.
func TestKilledBeforeItWasNoted(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		under := h.journal
		left := new(atomic.Int64)
		left.Store(1)
		h.journal = mortal{under, left, false, true} // all of memory's writes fail from the first one on
		h.again("aya")
		talk, _ := h.Room(context.Background(), "main")
		left.Store(1)
		if _, err := talk.Say(context.Background(), rooms.Utterance{From: "taro", Text: "My cat is called Tama."}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // else the room may rest before the keeper has tried
		h.end()
		if got := h.read(journal.Memory); len(got) > 0 {
			t.Fatalf("it was noted: %+v", got)
		}
		h.journal = under
		h.run("aya")
		rests()
		if got := h.facts("aya"); len(got) != 1 {
			t.Errorf("remembers %q", got)
		}
	})
}

// TestTheJournalIsAway for a while: nothing is lost, and nobody talks about it without end.
func TestTheJournalIsAway(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		j := h.journal.(*jmem.Journal)
		j.Fail(journal.ErrUnavailable)
		rests()
		sleep(10 * time.Minute)
		j.Fail(nil)
		sleep(2 * time.Minute)
		if got := h.facts("aya"); len(got) != 1 {
			t.Errorf("remembers %q", got)
		}
		if n := strings.Count(h.logged(), "a talk cannot be gone through now"); n == 0 || n > 12 {
			t.Errorf("said %d times", n)
		}
	})
}

// TestModel: a companion's model goes through a talk, and where it cannot, rules do at once.
func TestModel(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		err    error
	}{
		"fails":         {"", errors.New("no")},
		"over a bound":  {"", abi.Errorf(abi.CodeExhausted, "model.main: 60 calls a minute")},
		"no JSON":       {"I cannot do that.", nil},
		"invents":       {`{"facts":[{"text":"taro has a boat","quote":"my boat is fast","who":"taro","turn":2}]}`, nil},
		"another shape": {`[]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(h *house) {
				h.settings["aya"] = memory.Settings{Model: true}
				h.model = func(model.Request) (string, error) { return tc.answer, tc.err }
			}, func(t *testing.T, h *house) {
				h.say("main", "taro", "My cat is called Tama.")
				rests()
				if got := h.facts("aya"); len(got) != 1 || !contains(got, "Tama") || h.asked.Load() != 1 {
					t.Errorf("remembers %q after %d questions", got, h.asked.Load())
				}
				for _, m := range h.remembers("aya") {
					if strings.Contains(m.Text, "boat") {
						t.Errorf("%+v", m)
					}
				}
			})
		})
	}
	in(t, func(h *house) {
		h.settings["aya"] = memory.Settings{}
		h.model = func(model.Request) (string, error) { return "", errors.New("no") }
	}, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		if h.asked.Load() != 0 {
			t.Error("a model was asked though rules are configured")
		}
	})
}

// TestChat: of a stream's chat a companion remembers what is said to it, and ten thousand lines are no talk.
func TestChat(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		talk, err := h.Room(context.Background(), "main")
		if err != nil {
			t.Fatal(err)
		}
		say := func(from, text string, to ...string) {
			u := rooms.Utterance{From: from, Text: text, To: to, Source: entry.SourceChat}
			if _, err := talk.Say(context.Background(), u); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 200 {
			say(fmt.Sprint("viewer", i), "My cat is called Mike.")
		}
		if got := h.read(journal.Memory); len(got) > 0 {
			t.Errorf("it waits to be gone through: %+v", got)
		}
		say("hana", "My dog is called Pochi.", "aya")
		sleep(time.Second)
		if got := h.facts("aya"); len(got) > 0 {
			t.Errorf("too soon: %q", got)
		}
		rests()
		if got := h.facts("aya"); len(got) != 1 || !contains(got, "Pochi") {
			t.Errorf("remembers %q", got)
		}
	})
}

// counting counts what the journal is asked for.
type counting struct {
	journal.Journal
	reads *atomic.Int64
}

func (c counting) Read(ctx context.Context, room string, after uint64, limit int) ([]entry.Entry, error) {
	c.reads.Add(1)
	return c.Journal.Read(ctx, room, after, limit)
}

func (c counting) Said(ctx context.Context, room string, s journal.Span) ([]entry.Entry, error) {
	c.reads.Add(1)
	return c.Journal.Said(ctx, room, s)
}

// TestManyRoomsCostNothing: of ten thousand rooms that sleep none is read, neither at the start nor in a day.
func TestManyRoomsCostNothing(t *testing.T) {
	const n = 10_000
	reads := new(atomic.Int64)
	in(t, func(h *house) {
		ctx := context.Background()
		for i := range n {
			name := fmt.Sprintf("room%05d", i)
			head, err := h.journal.Acquire(ctx, name, "before", time.Now())
			if err == nil {
				head, err = h.journal.Append(ctx, name, head, journal.New{ID: "1", Kind: entry.KindSaid, At: time.Now(), Body: []byte(`{"from":"taro","by":"human","text":"My cat is called Tama.","kind":"turn"}`)})
			}
			if err == nil {
				err = h.journal.Rest(ctx, name, head, time.Time{})
			}
			if err != nil {
				h.t.Fatal(err)
			}
		}
		h.journal = counting{h.journal, reads}
	}, func(t *testing.T, h *house) {
		h.say("main", "taro", "My dog is called Pochi.")
		rests()
		before := reads.Load()
		sleep(24 * time.Hour)
		if got := h.facts("aya"); len(got) != 1 {
			t.Errorf("remembers %q", got)
		}
		if all := reads.Load(); before > 40 || all-before > 3 {
			t.Errorf("%d reads for a talk, and %d in a day", before, all-before)
		}
	})
}

// TestTheListBeginsAnew: it does not grow with every talk there ever was.
func TestTheListBeginsAnew(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		said := entry.Said{From: "taro", By: abi.KindHuman, Text: "Hm.", Kind: abi.KindTurn}
		for i := range 1200 {
			h.keeper.Heard(fmt.Sprintf("gone%04d", i), entry.Entry{Seq: 1}, said, []string{"aya"})
			sleep(time.Millisecond)
		}
		if es := h.read(journal.Memory); len(es) > 1000 {
			t.Errorf("%d entries", len(es))
		}
		h.again("aya")
		rests()
		sleep(time.Minute)
		if bad, err := h.journal.Verify(ctx, journal.Memory, 0); bad != 0 || err != nil {
			t.Errorf("%d %v", bad, err)
		}
		seq, state, err := h.journal.GetSnapshot(ctx, journal.Memory)
		left := map[string]entry.Talk{}
		if err := errors.Join(err, json.Unmarshal(state, &left)); err != nil {
			t.Fatal(err)
		}
		for _, e := range h.read(journal.Memory) {
			body, _ := entry.Decode[entry.Talks](e)
			for _, room := range body.Done {
				delete(left, room)
			}
			for _, w := range body.Waits {
				left[w.Room] = w
			}
		}
		if len(left) > 0 || seq == 0 {
			t.Errorf("%d of 1200 were not gone through", len(left))
		}
	})
}
