package room

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
)

// counted is a journal that counts writes, each of which takes a while.
type counted struct {
	journal.Journal
	writes atomic.Int64
}

func (c *counted) Append(ctx context.Context, room string, h journal.Head, es ...journal.New) (journal.Head, error) {
	c.writes.Add(1)
	time.Sleep(time.Millisecond)
	return c.Journal.Append(ctx, room, h, es...)
}

// What is asked together shares a write, also where those who ask do not come back in
// the same instant; whoever asks alone waits for nobody.
func TestThoseWhoAskTogetherShareAWrite(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		s.end()
		on := &counted{Journal: s.journal}
		s.on = on
		s.start()
		const people, each = 16, 20
		before := on.writes.Load()
		var talking sync.WaitGroup
		for p := range people {
			talking.Go(func() {
				for range each {
					time.Sleep(time.Duration(p) * 10 * time.Microsecond) // the way to them and back
					s.say(fmt.Sprint("taro", p), "こんにちは")
				}
			})
		}
		talking.Wait()
		if n := on.writes.Load() - before; n > each+each/4 {
			t.Errorf("%d lines of %d people took %d writes", people*each, people, n)
		}
		s.say("taro", "もういない?") // the others are waited for once
		begun := time.Now()
		s.say("taro", "一人です")
		if took := time.Since(begun); took != time.Millisecond {
			t.Errorf("one who asks alone waited for %v", took)
		}
	})
}
