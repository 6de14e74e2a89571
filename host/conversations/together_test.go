package conversations_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// TestManyAtOnce: pairs that hold long polls while the other one talks are given every
// message, in order and acknowledged once, and one ending.
func TestManyAtOnce(t *testing.T) {
	h := newHouse()
	c := h.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = c.Run(ctx) })
	const pairs, rounds, messages = 20, 5, 15
	var wg sync.WaitGroup
	for i := range pairs {
		a, b := fmt.Sprint("x", 2*i), fmt.Sprint("x", 2*i+1)
		h.arrive(a, b)
		wg.Go(func() {
			for range rounds {
				v, err := c.Start(t.Context(), in(a), conversations.Ask{Targets: []string{b}})
				for n := range messages {
					if err == nil {
						_, err = c.Say(t.Context(), in(a), conversations.Words{Conversation: v.ID, Text: fmt.Sprint(n)})
					}
				}
				if err == nil {
					_, err = c.End(t.Context(), in(a), v.ID, "bye")
				}
				if err != nil {
					t.Error(err)
					return
				}
				if lines := endings(t, c, a, 1); len(lines) > 0 {
					t.Errorf("%s reads %v", a, lines)
				}
			}
		})
		wg.Go(func() {
			read := endings(t, c, b, rounds)
			for id, texts := range read {
				if len(texts) != messages+1 || texts[messages] != "bye" || texts[9] != "9" {
					t.Errorf("%s reads %q in %s", b, texts, id)
				}
			}
			if len(read) != rounds {
				t.Errorf("%s was in %d", b, len(read))
			}
		})
	}
	wg.Wait()
	cancel()
	run.Wait()
	views, err := c.List(t.Context(), conversations.Filter{State: conversation.Ended, Limit: 100})
	if err != nil || len(views) != pairs*rounds {
		t.Errorf("%d have ended, %v", len(views), err)
	}
}

// endings does what there is to do until an agent was told of so many endings, and gives what
// was read in which conversation.
func endings(t *testing.T, c *conversations.Conversations, who string, n int) map[string][]string {
	seen, told, read := new(conversations.Seen), map[string]bool{}, map[string][]string{}
	for len(told) < n {
		a, err := c.Next(t.Context(), in(who), seen, conversations.MaxWait)
		cursor := a.Cursor
		switch a.Do {
		case conversations.DoRead:
			var w conversations.Waiting
			w, err = c.Waiting(t.Context(), in(who))
			for _, l := range w.New {
				read[l.Conversation] = append(read[l.Conversation], l.Text)
			}
			cursor = w.Cursor
		case conversations.DoEnded:
			if told[a.View.ID] || a.Ending.Reason != conversation.InitiatorEnded {
				t.Errorf("%s: %+v", who, a)
			}
			told[a.View.ID] = true
		}
		if err == nil {
			err = c.Acknowledge(t.Context(), in(who), cursor)
		}
		if err != nil {
			t.Error(err)
			return nil
		}
	}
	return read
}

// TestPollsOfOneAgent: any number of them wake together.
func TestPollsOfOneAgent(t *testing.T) {
	stage(t, func(p *play) {
		got := make([]conversations.Doing, 100)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				a, err := p.Next(p.Context(), in("b"), new(conversations.Seen), time.Duration(i)*time.Second)
				if got[i] = a.Do; err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(20*time.Second + 1)
		p.start("a", conversations.Ask{Targets: []string{"b"}})
		synctest.Wait()
		wg.Wait()
		if n := slices.Index(got, conversations.DoRequest); n != 21 || slices.Contains(got[n:], conversations.DoWait) {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkWaiting measures what a long poll that waits costs: its goroutine's stack with it.
func BenchmarkWaiting(b *testing.B) {
	const polls = 1000
	h := newHouse()
	c := h.open(b)
	var total float64
	for range b.N {
		ctx, cancel := context.WithCancel(b.Context())
		before := inUse()
		var wg sync.WaitGroup
		for i := range polls {
			wg.Go(func() {
				_, _ = c.Next(ctx, in(fmt.Sprint("x", i)), new(conversations.Seen), conversations.MaxWait)
			})
		}
		for c.Polls() < polls {
			runtime.Gosched()
		}
		total += float64(inUse()-before) / polls
		cancel()
		wg.Wait()
	}
	b.ReportMetric(total/float64(b.N), "B/poll")
}

func inUse() int64 {
	var m runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
