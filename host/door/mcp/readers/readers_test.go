package readers

import (
	"fmt"
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
		var lines []Line
		r := New(func() map[string]bool { return live }, func(string) []Line { return lines })
		one, two := Place{"s1", "main"}, Place{"s2", "main"}
		waits := func(want bool, what string) {
			t.Helper()
			time.Sleep(fresh)
			if got := r.Waiting(talk); got != want {
				t.Errorf("%s: waiting is %v", what, got)
			}
		}
		said := func(seq uint64, from string) {
			lines = append(lines, Line{seq, from})
		}
		refused := func(code abi.Code, offer float64) {
			r.Tried(two, rooms.Utterance{From: "aya", Offer: &offer}, abi.Message{}, abi.Errorf(code, "not now"))
		}
		waits(false, "nobody reads")
		said(1, "taro")
		waits(false, "nobody has read yet")
		r.Read(one, 1)
		waits(false, "one has read everything")
		said(2, "taro")
		waits(true, "something newer was said")
		r.Read(one, 2)
		r.Tried(one, rooms.Utterance{From: "bot"}, abi.Message{Seq: 3}, nil)
		said(3, "bot")
		waits(false, "its own line is nothing new")
		r.Read(two, 3)
		said(4, "bot")
		waits(true, "but it is for the other")
		r.Read(two, 4)
		refused(abi.CodeExhausted, 60)
		waits(false, "a refused line that the pool cannot pay for") // this room has no pool: level 0
		refused(abi.CodeStale, 0)
		waits(true, "a refused line that could be heard")
		refused(abi.CodeInvalid, 0)
		waits(false, "a line that would be refused again")
		said(5, "taro")
		waits(true, "both missed this")
		live["s2"] = false
		r.Read(one, 5)
		waits(false, "a session that is gone waits for nothing")
		said(6, "taro")
		waits(true, "one missed this")
		time.Sleep(away)
		waits(false, "one was not heard of for long")
		r.Read(Place{Holder("bot"), "main"}, 6)
		said(7, "taro")
		waits(true, "a token's holder needs no session")
		if r.Waiting(house.Get("side")) {
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
		r := New(func() map[string]bool { return map[string]bool{"s1": true} }, func(string) []Line { return nil })
		one := Place{"s1", "main"}
		waits := func(level float64, want bool, what string) {
			t.Helper()
			time.Sleep(fresh)
			talk.level = level
			if got := r.Waiting(talk); got != want {
				t.Errorf("%s: waiting is %v", what, got)
			}
		}
		told := func(level float64) {
			talk.level = level
			b, _ := talk.Budget()
			r.Told(one, b)
		}
		told(60)
		waits(100, false, "there was enough for a turn")
		told(59)
		waits(59, false, "there still is not")
		r.Tried(one, rooms.Utterance{From: "bot"}, abi.Message{Seq: 1}, nil)
		waits(59, false, "nor after a backchannel")
		waits(60, true, "there is enough now")
		told(60)
		waits(100, false, "it knows")
		told(0)
		time.Sleep(away)
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
		r := New(func() map[string]bool { return map[string]bool{"s1": true} }, func(string) []Line { return []Line{{2, "taro"}} })
		one := Place{"s1", "main"}
		r.Read(one, 1)
		time.Sleep(fresh)
		asked, read := make(chan bool, 1), make(chan uint64, 1)
		go func() { asked <- r.Waiting(talk) }()
		synctest.Wait()
		go func() { read <- r.Basis(one) }()
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
	synctest.Test(t, func(t *testing.T) {
		r := New(func() map[string]bool { return nil }, func(string) []Line { return nil })
		for i := range most + 10 {
			r.Read(Place{fmt.Sprint("s", i), "main"}, 1)
			time.Sleep(time.Second)
		}
		if len(r.places) != most || r.Seen(Place{"s9", "main"}) != 0 || r.Seen(Place{"s10", "main"}) != 1 {
			t.Errorf("%d readers, s9 %d, s10 %d", len(r.places), r.Seen(Place{"s9", "main"}), r.Seen(Place{"s10", "main"}))
		}
		r.Read(Place{"", "main"}, 5) // nobody
		if r.Basis(Place{"", "main"}) != 0 {
			t.Error("nobody has read something")
		}
	})
}

// Answers are kept for as long as they are good.
func TestAnswersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main", "side")
		r := New(func() map[string]bool { return nil }, func(string) []Line { return nil })
		for _, name := range []string{"main", "side"} {
			r.Read(Place{Holder("bot"), name}, 1)
			r.Waiting(house.Get(name))
			time.Sleep(fresh)
		}
		if r.Waiting(house.Get("side")); len(r.answers) != 1 {
			t.Errorf("%d answers", len(r.answers))
		}
	})
}
