package compress_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
)

// dear says what the policy of the budget names, some 20 letters each.
func dear(n, from int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("The budget of part %d is %d dollars.", from+i, 1000+from+i))
	}
	return all
}

var budget = history.Standing{Mode: history.ModeAsk, At: .7, Policy: "Keep the budget of every part."}

// TestRoomForWhatIsNamed: a draft may be as long as what the policy names needs, up to half of the turns, where nobody says how long.
func TestRoomForWhatIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), strings.Join(dear(10, 0), " "))
		defer func() { h.end() }()
		h.set(budget)
		h.say(dear(10, 0)...)
		for range 22 {
			h.say(strings.Repeat("chatter ", 8))
		}
		h.talks(32, 1000)
		h.stood("1-32 offered")
		if p := h.newest(); p.Ask.Length.N < 350 || p.Ask.Length.N > 500 || len(p.Drafts) != 1 {
			t.Errorf("%+v", p)
		}
		h.say(dear(30, 10)...)
		asks := compress.Request{Turns: history.Range{From: 65, To: 94}, Policy: budget.Policy, Length: history.Length{N: 300, Unit: history.Characters}}
		_, err := h.propose(asks)
		if abi.CodeOf(err) != abi.CodeTooLarge || abi.AsError(err).Field != "target_length" || !strings.Contains(err.Error(), "cannot be told in 300: ask for 1") {
			t.Error(err)
		}
		for _, free := range []compress.Request{{Turns: asks.Turns, Length: asks.Length}, {Turns: asks.Turns, Policy: asks.Policy, Length: history.Length{N: 900, Unit: history.Characters}}} {
			p, err := h.propose(free)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCrowded: where what the policy names has no room in half of the turns, nobody drafts: that is said once, and not again until it has room.
func TestCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "short")
		defer func() { h.end() }()
		h.set(budget)
		for i := range 6 {
			for _, s := range dear(32, 32*i) {
				h.say(s)
			}
			h.talks(1, 1000)
		}
		h.stood("1-34 failed")
		if p := h.newest(); len(h.scribe.asked) != 0 || !strings.Contains(p.Why, "has no room in half of what they say") {
			t.Errorf("%d, %+v", len(h.scribe.asked), p)
		}
	})
}

// TestFewerTurns: of turns of which the last ones are crowded those before are asked for.
func TestFewerTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "short")
		defer func() { h.end() }()
		h.set(budget)
		for range 40 {
			h.say("a few words")
		}
		h.say(dear(60, 0)...)
		h.talks(32, 1000)
		p := h.newest()
		if p.Ask.Turns.From != 1 || p.Ask.Turns.To < 40 || p.Ask.Turns.To > 60 || len(h.scribe.asked) == 0 {
			t.Errorf("%+v", p)
		}
	})
}

// TestRefusedIsNotAskedForAgain: what was refused is asked for once more, with more room, and from then on only with half as much again.
func TestRefusedIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "short")
		defer func() { h.end() }()
		h.scribe.refuses = true
		h.set(ask)
		h.talks(64, 1000)
		h.stood("1-32 refused")
		h.talks(160, 1000)
		var all []int
		for _, p := range h.book().Proposals {
			all = append(all, p.Ask.Length.N)
		}
		for i := range all {
			if i > 1 && 2*all[i] < 3*all[i-1] {
				t.Errorf("asked for with %d characters", all)
			}
		}
		if len(all) > 6 || len(all) < 2 || len(h.scribe.asked) != 3*len(all) {
			t.Errorf("asked for %d times, with %d characters: %q", len(all), all, h.asked())
		}
	})
}
