package room

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// slowpoke takes its time for everything.
func slowpoke(id string, importance float64, vote, line time.Duration) *actor {
	a := wants_(id, importance)
	say := a.speak
	a.vote = func(ctx context.Context, _ abi.Scene) (abi.Vote, error) {
		select {
		case <-time.After(vote):
			return abi.Vote{State: abi.Speak, Importance: importance}, nil
		case <-ctx.Done():
			return abi.Vote{}, ctx.Err()
		}
	}
	a.speak = func(ctx context.Context, s abi.Scene) (abi.Line, error) {
		select {
		case <-time.After(line):
			return say(ctx, s)
		case <-ctx.Done():
			return abi.Line{}, ctx.Err()
		}
	}
	return a
}

// Everybody is slower than the room's patience: whoever a human addressed answers, and
// so does somebody where nobody was; no late answer is thrown away.
func TestASlowMachineAnswers(t *testing.T) {
	for text, want := range map[string]string{"kyoko、元気？": "kyoko", "こんにちは": ""} {
		rules := testRules
		rules.MaxTurns = 1
		play(t, rules, []*actor{slowpoke("aya", 9, 3*time.Second, 4*time.Second), slowpoke("kyoko", 5, 4*time.Second, 4*time.Second)}, func(s *stage) {
			s.say("taro", text)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			got := s.texts()
			if len(got) != 2 || !strings.HasPrefix(got[1], want) {
				t.Errorf("%s: %q", text, got)
			}
			if n := s.room.Info().Counts["vote failed: timeout"]; n != 0 {
				t.Errorf("%d votes failed", n)
			}
		})
	}
}

// A line takes longer than the floor is given for: it is said when it comes, once.
func TestALineThatComesLate(t *testing.T) {
	for name, others := range map[string][]*actor{
		"alone":           nil,
		"beside another":  {slowpoke("kyoko", 1, 0, time.Minute)},
		"beside a passer": {{id: "kyoko"}},
	} {
		t.Run(name, func(t *testing.T) {
			rules := testRules
			rules.MaxTurns = 1
			var asked atomic.Int32
			aya := slowpoke("aya", 9, 0, 12*time.Second)
			say := aya.speak
			aya.speak = func(ctx context.Context, sc abi.Scene) (abi.Line, error) {
				asked.Add(1)
				return say(ctx, sc)
			}
			play(t, rules, append([]*actor{aya}, others...), func(s *stage) {
				s.say("taro", "hello")
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if got := s.texts(); len(got) != 2 || got[1] != "aya: aya line 1" {
					t.Errorf("asked %d times: %q", asked.Load(), got)
				}
				if at := s.said()[1]; at.Text == "" || s.entries()[0].At.Add(13*time.Second).Before(lastSaid(s)) {
					t.Errorf("said %v after the start", lastSaid(s).Sub(s.entries()[0].At))
				}
			})
		})
	}
}

func lastSaid(s *stage) (at time.Time) {
	for _, e := range s.entries() {
		if e.Kind == entry.KindSaid {
			at = e.At
		}
	}
	return at
}

// Voters are absent once and healthy then: they are asked again.
func TestAbsentOnceThenHealthy(t *testing.T) {
	var healthy atomic.Bool
	aya := wants_("aya", 5)
	aya.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
		if !healthy.Load() {
			return abi.Vote{}, abi.Errorf(abi.CodeUnavailable, "the model is being loaded")
		}
		return abi.Vote{State: abi.Speak, Importance: 5}, nil
	}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{aya}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(10 * time.Second)
		if i := s.room.Info(); i.State != "waiting" {
			t.Errorf("the room is %s", i.State)
		}
		healthy.Store(true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := s.texts(); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
}
