package mcp

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/rooms"
)

// Who waits, and who does not, as time goes by.
func TestWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main", "side")
		talk := house.Get("main")
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
		if r.anyWaiting(house.Get("side"), time.Now()) {
			t.Error("another room's reader counts")
		}
	})
}

// pooled is a room with a pool.
type pooled struct {
	rooms.Room
	level float64
}

func (p *pooled) Budget() (abi.Budget, bool) {
	return abi.Budget{Level: p.level, Size: 100, Prices: abi.DefaultPool().Prices}, true
}

// Who found the pool too low for a turn waits until it is not, also when it nodded
// meanwhile, and is not told for ever.
func TestWhoWaitsForThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		talk := &pooled{Room: doortest.NewHouse(t, "main").Get("main")}
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

// slowPool is a room whose pool has to be looked up.
type slowPool struct {
	rooms.Room
	found chan struct{}
}

func (p *slowPool) Budget() (abi.Budget, bool) {
	<-p.found
	return abi.Budget{}, false
}

// While a room is asked for its pool, agents go on in every room.
func TestNobodyWaitsForAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		talk := &slowPool{doortest.NewHouse(t, "main").Get("main"), make(chan struct{})}
		r := newReaders(func() map[string]bool { return map[string]bool{"s1": true} })
		one := place{"s1", "main"}
		r.read(one, 1, time.Now())
		r.heard("main", []abi.Message{{Seq: 2, From: "taro"}})
		time.Sleep(freshAnswer)
		asked, read := make(chan bool, 1), make(chan uint64, 1)
		go func() { asked <- r.anyWaiting(talk, time.Now()) }()
		synctest.Wait()
		go func() { read <- r.basis(one) }()
		synctest.Wait()
		select {
		case seq := <-read:
			if seq != 1 {
				t.Errorf("read up to %d", seq)
			}
		default:
			t.Error("an agent waits for the pool")
		}
		close(talk.found)
		if !<-asked {
			t.Error("nobody waits")
		}
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
	r.heard("side", []abi.Message{{Seq: 1}, {Seq: 3}})
	r.heard("side", []abi.Message{{Seq: 1}, {Seq: 3}, {Seq: 4}}) // as one does who follows it anew
	if len(r.said["side"]) != 3 {
		t.Errorf("%d messages", len(r.said["side"]))
	}
	r.read(place{"", "main"}, 5, begin) // nobody
	if r.basis(place{"", "main"}) != 0 {
		t.Error("nobody has read something")
	}
}

// knows says whether a room's followers have heard of a message.
func (r *readers) knows(name string, seq uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.said[name], func(u uttered) bool { return u.seq == seq })
}
