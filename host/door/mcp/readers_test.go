package mcp

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/room"
)

// Who waits, and who does not, as time goes by (flaw A4).
func TestWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse("main", "side")
		talk, _ := house.Room("main")
		live := map[string]bool{"s1": true, "s2": true}
		r := newReaders(func() map[string]bool { return live })
		one, two := place{"s1", "main"}, place{"s2", "main"}
		waits := func(want bool, what string) {
			t.Helper()
			time.Sleep(freshAnswer)
			if got := r.anyWaiting(talk, time.Now()); got != want {
				t.Errorf("%s: waiting is %v", what, got)
			}
		}
		said := func(seq uint64, from string) {
			r.heard("main", []abi.Message{{Seq: seq, From: from}})
		}
		waits(false, "nobody reads")
		said(1, "taro")
		waits(false, "nobody has read yet")
		r.read(one, 1, time.Now())
		waits(false, "one has read everything")
		said(2, "taro")
		waits(true, "something newer was said")
		r.read(one, 2, time.Now())
		r.spoke(one, "bot", 3, time.Now())
		said(3, "bot")
		waits(false, "its own line is nothing new")
		r.read(two, 3, time.Now())
		said(4, "bot")
		waits(true, "but it is for the other")
		r.read(two, 4, time.Now())
		r.refused(two, "aya", true, 60, time.Now())
		waits(false, "a refused line that the pool cannot pay for") // this room has no pool: level 0
		r.refused(two, "aya", true, 0, time.Now())
		waits(true, "a refused line that could be heard")
		r.refused(two, "aya", false, 0, time.Now())
		waits(false, "a line that would be refused again")
		said(5, "taro")
		waits(true, "both missed this")
		live["s2"] = false
		r.read(one, 5, time.Now())
		waits(false, "a session that is gone waits for nothing")
		said(6, "taro")
		waits(true, "one missed this")
		time.Sleep(readerAway)
		waits(false, "one was not heard of for long")
		r.read(place{holderPrefix + "bot", "main"}, 6, time.Now())
		said(7, "taro")
		waits(true, "a token's holder needs no session")
		if side, _ := house.Room("side"); r.anyWaiting(side, time.Now()) {
			t.Error("another room's reader counts")
		}
	})
}

// purse is a room with a pool.
type purse struct {
	room.Talk
	level float64
}

func (p *purse) Budget() (abi.Budget, bool) {
	return abi.Budget{Level: p.level, Size: 100, Prices: abi.DefaultPool().Prices}, true
}

// Who found the pool too low for a turn waits until it is not, also when it nodded
// meanwhile, and is not told for ever.
func TestWhoWaitsForThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		main, _ := doortest.NewHouse("main").Room("main")
		talk := &purse{Talk: main}
		r := newReaders(func() map[string]bool { return map[string]bool{"s1": true} })
		one := place{"s1", "main"}
		waits := func(level float64, want bool, what string) {
			t.Helper()
			time.Sleep(freshAnswer)
			talk.level = level
			if got := r.anyWaiting(talk, time.Now()); got != want {
				t.Errorf("%s: waiting is %v", what, got)
			}
		}
		told := func(level float64) {
			talk.level = level
			b, _ := talk.Budget()
			r.told(one, b, time.Now())
		}
		told(60)
		waits(100, false, "there was enough for a turn")
		told(59)
		waits(59, false, "there still is not")
		r.spoke(one, "bot", 1, time.Now())
		waits(59, false, "nor after a backchannel")
		waits(60, true, "there is enough now")
		told(60)
		waits(100, false, "it knows")
		told(0)
		time.Sleep(readerAway)
		waits(100, false, "it was not heard of for long")
	})
}

// What is remembered is bounded, and the one not heard of for longest goes.
func TestReadersAreBounded(t *testing.T) {
	r := newReaders(func() map[string]bool { return nil })
	begin := time.Now()
	for i := range maxReaders + 10 {
		r.read(place{fmt.Sprint("s", i), "main"}, 1, begin.Add(time.Duration(i)*time.Second))
	}
	if len(r.places) != maxReaders || r.seen(place{"s9", "main"}) != 0 || r.seen(place{"s10", "main"}) != 1 {
		t.Errorf("%d readers, s9 %d, s10 %d", len(r.places), r.seen(place{"s9", "main"}), r.seen(place{"s10", "main"}))
	}
	for i := range 3 * recentSaid {
		r.heard("main", []abi.Message{{Seq: uint64(i)}})
	}
	if len(r.said["main"]) != recentSaid {
		t.Errorf("%d messages", len(r.said["main"]))
	}
	r.read(place{"", "main"}, 5, begin) // nobody
	if r.basis(place{"", "main"}) != 0 {
		t.Error("nobody has read something")
	}
}
