package room

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// A stream's chat: 10,000 messages of as many viewers in ten seconds, of which 30 are to a
// companion by name.
const (
	floodMessages = 10_000
	floodCalls    = 30 // messages that call a companion
	floodTime     = 10 * time.Second
)

// crowd are companions behind a model that takes a while. It counts what the
// model was asked.
type crowd struct {
	votes, lines atomic.Int64
	actors       []*actor

	mu   sync.Mutex
	told map[uint64]bool // what lines that were made were told
}

func (c *crowd) toldOf() map[uint64]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.told)
}

func newCrowd(vote, line time.Duration, wants abi.State) *crowd {
	c := &crowd{told: map[uint64]bool{}}
	for _, id := range []string{"aya", "ben", "eri"} {
		c.actors = append(c.actors, &actor{
			id: id,
			vote: func(ctx context.Context, s abi.Scene) (abi.Vote, error) {
				if s.Addressed {
					return abi.Vote{State: abi.Speak, Importance: 10}, nil
				}
				c.votes.Add(1)
				time.Sleep(vote)
				return abi.Vote{State: wants, Importance: 5}, nil
			},
			speak: func(ctx context.Context, s abi.Scene) (abi.Line, error) {
				c.lines.Add(1)
				time.Sleep(line)
				c.mu.Lock()
				defer c.mu.Unlock()
				for _, m := range append(s.Waiting, s.Message) {
					c.told[m.Seq] = true
				}
				return abi.Line{Text: fmt.Sprintf("%s answers %d", id, s.Message.Seq)}, ctx.Err()
			},
		})
	}
	return c
}

// flood has a chat pour in. It gives the seqs of the messages that call a companion.
func (s *stage) flood() (calls []uint64) {
	for n := range floodMessages {
		text := fmt.Sprintf("w%d", n)
		if n%(floodMessages/floodCalls) == 100 && len(calls) < floodCalls {
			text = []string{"aya", "ben", "eri"}[len(calls)%3] + ", what do you think?"
		}
		m, err := s.room.Say(s.t.Context(), rooms.Utterance{From: fmt.Sprintf("viewer%d", n), Text: text, Source: entry.SourceChat})
		if err != nil {
			s.t.Fatal(err)
		}
		if text[0] != 'w' {
			calls = append(calls, m.Seq)
		}
		time.Sleep(floodTime / floodMessages)
	}
	return calls
}

// answered gives which of the messages that call a companion were answered: by the line of
// that companion whose basis is behind it.
func answered(es []entry.Entry, t *testing.T, calls []uint64) (n int, lines int) {
	var said []entry.Said
	for _, b := range bodies[entry.Said](t, es, entry.KindSaid) {
		if b.By == abi.KindCompanion {
			said = append(said, b)
		}
	}
	for _, seq := range calls {
		to := decode[entry.Said](es[seq-1]).Addressed
		if slices.ContainsFunc(said, func(b entry.Said) bool { return slices.Contains(to, b.From) && b.Basis >= seq }) {
			n++
		}
	}
	return n, len(said)
}

// TestFlood: nothing that a chat says begins a round or a line anew, those who are called by
// name are answered while it pours in, several by one line that was told all of them, and the
// model is asked little more than once a round.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(500*time.Millisecond, time.Second, abi.Listen)
		s := newStage(t, testRules, c.actors...)
		calls := s.flood()
		votes, lines := c.votes.Load(), c.lines.Load()
		during, said := answered(s.entries(), t, calls)
		time.Sleep(time.Minute)
		after, saidAfter := answered(s.entries(), t, calls)
		t.Logf("%d messages: %d votes and %d lines asked, %d said, %d of %d answered within; a minute later %d votes, %d lines, %d said, %d answered; %d entries",
			floodMessages, votes, lines, said, during, len(calls), c.votes.Load(), c.lines.Load(), saidAfter, after, len(s.entries()))
		if during < 15 || after != len(calls) || c.votes.Load() > 80 || c.lines.Load() > 20 {
			t.Error("that is too little, or too much")
		}
		told := c.toldOf()
		for _, seq := range calls {
			if !told[seq] {
				t.Errorf("%d was in nothing that a line was told", seq)
			}
		}
		s.end()
		if r, err := reader.Replay(context.Background(), s.journal, "main"); err != nil || r.Diff != nil {
			t.Errorf("replay: %v %v", r.Diff, err)
		}
	})
}
