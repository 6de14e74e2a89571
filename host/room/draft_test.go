package room

import (
	"context"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// withdrawals tells how often somebody was told that no line of its is wanted.
func (a *actor) withdrawals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.withdrawn
}

// Whoever voted and does not get the floor is told so once the round is decided, that
// whoever does is not, and in between nobody is.
func TestWhoeverLosesIsToldSo(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 1
	slow, _, _ := slowly("slow", 500*time.Millisecond)
	slow.vote = func(inner func(context.Context, abi.Scene) (abi.Vote, error)) func(context.Context, abi.Scene) (abi.Vote, error) {
		return func(ctx context.Context, s abi.Scene) (abi.Vote, error) {
			v, err := inner(ctx, s)
			v.Importance = 1
			return v, err
		}
	}(slow.vote)
	winner, loser := wants_("aya", 9), wants_("ben", 5)
	play(t, rules, []*actor{winner, loser, slow}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(400 * time.Millisecond)
		if n := loser.withdrawals() + winner.withdrawals(); n != 0 {
			t.Errorf("%d told before it is decided", n)
		}
		time.Sleep(time.Second)
		if w, l, late := winner.withdrawals(), loser.withdrawals(), slow.withdrawals(); w != 0 || l != 1 || late != 1 {
			t.Errorf("told: %d the winner, %d the loser, %d the slow one", w, l, late)
		}
	})
}

// However a round ends, nobody counts on a line of it any more.
func TestNobodyWantsTheLinesOfAStoppedRound(t *testing.T) {
	for name, end := range map[string]func(*stage){
		"STOP":           func(s *stage) { _, _ = s.room.Stop(s.t.Context(), "taro") },
		"it leaves":      func(s *stage) { s.unload("aya") },
		"another speaks": func(s *stage) { s.say("taro", "never mind") },
	} {
		slow, _, _ := slowly("slow", 20*time.Second)
		quick := wants_("aya", 5)
		rules := testRules
		rules.Patience, rules.MaxTurns = 10_000, 1
		play(t, rules, []*actor{quick, slow}, func(s *stage) {
			s.say("taro", "hello")
			time.Sleep(time.Second)
			if n := quick.withdrawals(); n != 0 {
				t.Fatalf("%s: told before", name)
			}
			end(s)
			time.Sleep(time.Minute)
			if n := quick.withdrawals(); name == "STOP" && n != 1 {
				t.Errorf("%s: told %d times", name, n)
			}
			s.finish()
			if n, _ := s.room.votes.Remembered(); n != 0 {
				t.Errorf("%s: the room still counts on %d", name, n)
			}
		})
	}
}
