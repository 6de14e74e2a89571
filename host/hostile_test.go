package host_test

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
)

func TestHostileCharacterCostsItsOwnRoomItsPatience(t *testing.T) {
	waittest.WithoutRaces(t)
	for _, sin := range []string{"loop", "recurse", "grow"} {
		t.Run(sin, func(t *testing.T) {
			// A machine that is busy otherwise may make everybody wait once.
			const tries = 3
			for n := 1; ; n++ {
				gap := besideHostile(t, sin)
				t.Logf("worst gap in the other room: %v", gap)
				if !waittest.Late(gap, 2*time.Second) {
					return
				}
				if n == tries {
					t.Fatalf("in each of %d tries the other room waited, the last time %v", n, gap)
				}
			}
		})
	}
}

// besideHostile lets a room talk beside one with a character that sins, and gives
// the longest time in which nobody spoke there.
func besideHostile(t *testing.T, sin string) time.Duration {
	t.Helper()
	h := newHome(t)
	h.drop(parrot(t, "one"), sin+".wasm")
	h.drop(parrot(t, "one"), "good.wasm")
	h.drop(parrot(t, "one"), "left.wasm")
	h.drop(parrot(t, "one"), "right.wasm")
	patience := forGuests(500 * time.Millisecond)
	h.open(`[room.main]
companions = ["` + sin + `", "good"]
pace = "0s"
patience = "` + patience + `"
max_turns = 1
[room.other]
companions = ["left", "right"]
pace = "1ms"
max_turns = 0
[modules]
faults = 3
`)
	h.say("other", "taro", "talk!")
	// What hangs works on while the room goes on without it, until it has done too much
	// for one call. It is not asked again before.
	begun := time.Now()
	for h.companion(sin).State != "quarantined" {
		asked := time.Now()
		if asked.Sub(begun) > waittest.Long {
			t.Fatalf("not put aside in %v: %+v", waittest.Long, h.companion(sin))
		}
		n := len(h.messages("main"))
		h.say("main", "taro", "hello")
		h.until("good answers", func() bool { return len(h.messages("main")) >= n+2 })
		t.Logf("answered after %v with a patience of %s", time.Since(asked), patience)
	}
	t.Logf("status: %s", h.companion(sin).Error)
	n := len(h.messages("main"))
	h.say("main", "taro", "hello again")
	h.until("good answers", func() bool { return len(h.messages("main")) >= n+2 })
	gap := worstGap(h.messages("other"))
	h.replay("main", "other")
	return gap
}

// worstGap gives the longest time between two messages.
func worstGap(msgs []abi.Message) (worst time.Duration) {
	for i := 1; i < len(msgs); i++ {
		worst = max(worst, msgs[i].At.Sub(msgs[i-1].At))
	}
	return worst
}
