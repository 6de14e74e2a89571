package room

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

// slowly votes after a while, unless its call ends before: then it says how.
func slowly(id string, takes time.Duration) (a *actor, asked *atomic.Int32, ended chan error) {
	a, asked, ended = wants_(id, 9), new(atomic.Int32), make(chan error, 10)
	a.vote = func(ctx context.Context, _ abi.Scene) (abi.Vote, error) {
		asked.Add(1)
		select {
		case <-time.After(takes):
			ended <- nil
			return abi.Vote{State: abi.Speak, Importance: 9}, nil
		case <-ctx.Done():
			ended <- ctx.Err()
			return abi.Vote{}, ctx.Err()
		}
	}
	return a, asked, ended
}

// howEnded gives how calls ended so far.
func howEnded(ended chan error) (all []error) {
	synctest.Wait()
	for {
		select {
		case err := <-ended:
			all = append(all, err)
		default:
			return all
		}
	}
}

// The room goes on without a vote that is late, and its call goes on beside it: what it
// answers comes to the room.
func TestALateVoteComes(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 1
	slow, asked, ended := slowly("slow", 30*time.Second)
	play(t, rules, []*actor{slow, wants_("aya", 5)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(2 * time.Second)
		if got := s.texts(); !slices.Equal(got, []string{"taro: hello", "aya: aya line 1"}) {
			t.Errorf("after the patience: %q", got)
		}
		s.say("taro", "and?") // it is not asked again meanwhile
		time.Sleep(2 * time.Second)
		if n := asked.Load(); n != 1 || len(howEnded(ended)) != 0 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(28 * time.Second)
		if how := howEnded(ended); !slices.Equal(how, []error{nil}) || s.room.Info().Counts["vote late"] == 0 {
			t.Errorf("the call ended with %v, counts %v", how, s.room.Info().Counts)
		}
	})
}

// What hangs is ended in the end, and its room sleeps then.
func TestARoomSleepsAfterWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, _, ended := slowly("hung", time.Hour)
		rules := testRules
		rules.MaxTurns = 1
		s := &stage{t: t, journal: newMemory(), rules: rules, actors: map[string]*actor{"hung": hung, "aya": wants_("aya", 5)}, idle: 5 * time.Second}
		s.start()
		begun := time.Now()
		s.say("taro", "hello")
		<-s.room.Gone()
		if took := time.Since(begun); took < time.Minute || took > 70*time.Second {
			t.Errorf("it fell asleep after %v", took)
		}
		if how := howEnded(ended); len(how) != 1 || !errors.Is(how[0], context.DeadlineExceeded) {
			t.Errorf("the call ended with %v", how)
		}
		s.finish()
	})
}

// A call that runs on ends with a STOP, with the companion that leaves, and with the
// room; draining does not wait for it.
func TestWhatEndsALateCall(t *testing.T) {
	for name, do := range map[string]func(s *stage){
		"STOP": func(s *stage) {
			if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
				s.t.Error(err)
			}
		},
		"archived": func(s *stage) {
			if err := s.room.Archive(s.t.Context(), "taro"); err != nil {
				s.t.Error(err)
			}
		},
		"left": func(s *stage) { s.unload("hung") },
		"end":  func(s *stage) { s.end() },
		"drain, end": func(s *stage) {
			begun := time.Now()
			s.drain()
			if took := time.Since(begun); took > 10*time.Millisecond {
				s.t.Errorf("it drained for %v", took)
			}
			s.end()
		},
	} {
		hung, _, ended := slowly("hung", time.Hour)
		play(t, testRules, []*actor{hung}, func(s *stage) {
			s.say("taro", "hello")
			time.Sleep(10 * time.Second)
			if how := howEnded(ended); len(how) != 0 {
				t.Errorf("%s: ended before with %v", name, how)
			}
			begun := time.Now()
			do(s)
			if how := howEnded(ended); len(how) != 1 || !errors.Is(how[0], context.Canceled) || time.Since(begun) > time.Second {
				t.Errorf("%s: after %v the call ended with %v", name, time.Since(begun), how)
			}
		})
	}
}

// So does a line whose floor was lost. Draining waits for one that may still come, but
// not for ever, and the end of the room ends it.
func TestALateLine(t *testing.T) {
	aya := wants_("aya", 9)
	ended := make(chan error, 10)
	aya.speak = func(ctx context.Context, _ abi.Scene) (abi.Line, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return abi.Line{}, ctx.Err()
	}
	play(t, testRules, []*actor{aya}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(15500 * time.Millisecond) // the floor is given for five, three times as long where nobody else would speak
		if how := howEnded(ended); len(how) != 0 || s.room.Info().Floor == "aya" {
			t.Errorf("ended with %v, floor %q", how, s.room.Info().Floor)
		}
		s.drain()
		s.end()
		if how := howEnded(ended); len(how) == 0 || !errors.Is(how[0], context.Canceled) {
			t.Errorf("ended with %v", how)
		}
	})
}
