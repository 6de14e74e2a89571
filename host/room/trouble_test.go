package room

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/rooms"
)

// flaky fails reads or lets Acquire store and answer unknown.
type flaky struct {
	*memory
	reads   int // fail this many GetSnapshot calls
	unknown int // this many Acquire calls are stored but answer ErrUnknown
	bad     uint64
	hold    chan struct{}
}

func (f *flaky) GetSnapshot(ctx context.Context, room string) (uint64, []byte, error) {
	if f.reads > 0 {
		f.reads--
		return 0, nil, fmt.Errorf("%w: I/O error", journal.ErrUnavailable)
	}
	return f.memory.GetSnapshot(ctx, room)
}
func (f *flaky) Acquire(ctx context.Context, room, owner string, at time.Time) (journal.Head, error) {
	h, err := f.memory.Acquire(ctx, room, owner, at)
	if f.unknown > 0 {
		f.unknown--
		return journal.Head{}, journal.ErrUnknown
	}
	return h, err
}
func (f *flaky) Verify(context.Context, string, uint64) (uint64, error) { return f.bad, nil }
func (f *flaky) Append(ctx context.Context, room string, h journal.Head, n ...journal.New) (journal.Head, error) {
	if f.hold != nil {
		<-f.hold
	}
	return f.memory.Append(ctx, room, h, n...)
}

func TestSelfFence(t *testing.T) {
	for _, how := range []string{"read", "acquire"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{t: t, journal: newMemory(), rules: testRules, actors: map[string]*actor{}}
				f := &flaky{memory: s.journal}
				s.on = f
				s.start()
				s.say("taro", "one")
				if how == "read" {
					f.reads = 1
				} else {
					f.unknown = 1
				}
				s.journal.break_(journal.ErrUnknown, false)
				_, _ = s.room.Say(t.Context(), rooms.Utterance{From: "taro", Text: "x"})
				s.journal.break_(nil, false)
				time.Sleep(5 * time.Second)
				select {
				case err := <-s.ended:
					s.ended <- err
					t.Error("the room ended: it took its own owner entry for another daemon's")
				default:
				}
				s.end()
			})
		})
	}
}

func TestDamagedGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules)
		s.say("taro", "one")
		s.end()
		n := len(s.entries())
		s.on = &flaky{memory: s.journal, bad: 2}
		s.start()
		r := s.room
		time.Sleep(time.Minute)
		s.end()
		if got := len(s.entries()); got > n+1 {
			t.Errorf("a damaged room grew from %d to %d entries in a minute, state %s", n, got, r.Info().State)
		}
	})
}

func TestGhostFloor(t *testing.T) {
	slowfail := wants_("aya", 9)
	slowfail.speak = func(ctx context.Context, _ abi.Scene) (abi.Line, error) {
		time.Sleep(time.Second)
		return abi.Line{}, errors.New("boom")
	}
	play(t, testRules, []*actor{slowfail, wants_("kyoko", 5), wants_("natsumi", 1)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(500 * time.Millisecond)
		s.unload("kyoko")
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if f := s.room.Info().Floor; f == "kyoko" {
			t.Errorf("the floor is held by kyoko, who left")
		}
		time.Sleep(6 * time.Second)
		t.Log(dump(s.entries()))
	})
}

func TestGhostVote(t *testing.T) {
	late := wants_("aya", 9)
	late.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
		time.Sleep(500 * time.Millisecond)
		return abi.Vote{State: abi.Speak, Importance: 9}, nil
	}
	slow := wants_("kyoko", 3)
	slow.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
		time.Sleep(800 * time.Millisecond)
		return abi.Vote{State: abi.Speak, Importance: 3}, nil
	}
	play(t, testRules, []*actor{late, slow}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(100 * time.Millisecond)
		s.unload("aya")
		time.Sleep(900 * time.Millisecond)
		if f := s.room.Info().Floor; f == "aya" {
			t.Errorf("the floor is held by aya, who left")
		}
	})
}

func TestClockBack(t *testing.T) {
	rules := testRules
	rules.Pace = 700
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, rules)
		s.end()
		// the room's last entry is one hour ahead of the clock now
		_, _ = s.journal.Acquire(t.Context(), "main", "companiond", time.Now().Add(time.Hour))
		s.actors["aya"], s.actors["kyoko"] = wants_("aya", 5), &actor{id: "kyoko", vote: hang[abi.Vote]}
		s.start()
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 2 {
			t.Errorf("a minute later: %q, patience is 1s; state %s", got, s.room.Info().State)
		}
		s.end()
	})
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, rules)
		s.end()
		_, _ = s.journal.Acquire(t.Context(), "main", "companiond", time.Now().Add(time.Hour))
		s.actors["aya"], s.actors["kyoko"] = wants_("aya", 5), wants_("kyoko", 5)
		s.start()
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 7 {
			t.Errorf("healthy voters, a minute later: %q, pace is 0.7s", got)
		}
		s.end()
	})
}

func TestShutdownLosesTheWish(t *testing.T) {
	for try := range 20 {
		synctest.Test(t, func(t *testing.T) {
			a := wants_("aya", 5)
			vote := a.vote
			a.vote = hang[abi.Vote]
			s := newStage(t, testRules, a)
			f := &flaky{memory: s.journal}
			s.end()
			s.on = f
			s.start()
			s.say("taro", "hello") // a round is open, aya's vote is on its way
			synctest.Wait()
			f.hold = make(chan struct{})
			go func() {
				_, _ = s.room.Say(t.Context(), rooms.Utterance{From: "taro", Text: "hm", Kind: abi.KindBackchannel})
			}()
			synctest.Wait() // the loop is in Append
			go func() { time.Sleep(time.Millisecond); close(f.hold) }()
			s.end() // cancel while it writes
			a.vote = vote
			f.hold = nil
			s.start()
			time.Sleep(time.Minute)
			if got := s.texts(); len(got) < 3 {
				t.Errorf("try %d: after the restart nobody answers: %q\n%s", try, got, dump(s.entries()))
			}
			s.end()
		})
		if t.Failed() {
			return
		}
	}
}

func TestDrainDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := wants_("aya", 5)
		a.speak = func(context.Context, abi.Scene) (abi.Line, error) {
			time.Sleep(100 * time.Millisecond)
			return abi.Line{Text: "well"}, nil
		}
		s := newStage(t, testRules, a, wants_("kyoko", 3))
		s.say("taro", "hello")
		synctest.Wait()
		s.room.lines.Add(1) // as a slow line of another room would
		s.drain()
		s.room.lines.Add(-1)
		s.end()
		s.start()
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 3 {
			t.Errorf("after the restart nobody goes on: %q\n%s", got, dump(s.entries()))
		}
		s.end()
	})
}

func TestImpersonate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules, wants_("aya", 5))
		s.end()
		// a restart: doors are open, the folder is still being looked through
		c := s.config()
		c.House = residents{"aya"}
		s.run(c, nil)
		defer s.end()
		for _, name := range []string{"aya", "Aya", "ауа"} {
			if _, err := s.room.Say(t.Context(), rooms.Utterance{From: name, Text: "it is me"}); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("a human spoke as %s while the house was loading: %v", name, err)
			}
		}
	})
}

// residents are companions whose files are there.
type residents []string

func (r residents) Residents() []string { return r }
func (residents) Loading() []string     { return nil }

func (r residents) Resident(name string) (string, bool) {
	for _, id := range r {
		if address.Same(id, name) {
			return id, true
		}
	}
	return "", false
}

func (residents) Holder(string) (string, bool) { return "", false }

func TestAddressLost(t *testing.T) {
	slow := wants_("aya", 9)
	slow.speak = func(context.Context, abi.Scene) (abi.Line, error) {
		time.Sleep(2 * time.Second)
		return abi.Line{Text: "as I was saying"}, nil
	}
	for _, st := range []entry.Stale{entry.StaleReask, entry.StaleRefuse, entry.StaleAccept} {
		t.Run(string(st), func(t *testing.T) {
			rules := testRules
			rules.Stale, rules.MaxTurns = st, 3
			play(t, rules, []*actor{slow, wants_("natsumi", 9), wants_("kyoko", 1)}, func(s *stage) {
				s.say("taro", "hello")
				time.Sleep(time.Second)
				s.say("taro", "kyoko, listen.")
				if st != entry.StaleAccept {
					s.say("taro", "What do you think?")
				}
				time.Sleep(30 * time.Second)
				for _, d := range s.decisions() {
					if d.Speaker == "kyoko" && d.Rule == entry.RuleAddressed {
						return
					}
				}
				t.Errorf("kyoko was addressed and never got the floor for it: %q", s.texts())
			})
		})
	}
}

func TestLeaveAndBack(t *testing.T) {
	gone := &actor{id: "aya", vote: hang[abi.Vote]}
	play(t, testRules, []*actor{gone}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(100 * time.Millisecond)
		s.unload("aya")
		s.load(wants_("aya", 5))
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 2 {
			t.Errorf("nobody answers: %q", got)
		}
	})
}

func TestSameIDAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules)
		f := &flaky{memory: s.journal}
		s.end()
		s.on = f
		s.start()
		synctest.Wait()
		f.hold = make(chan struct{})
		res := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.room.Say(t.Context(), rooms.Utterance{ID: "x1", From: "taro", Text: "once"})
				res <- err
			}()
		}
		synctest.Wait()
		close(f.hold)
		for range 2 {
			if err := <-res; err != nil {
				t.Error(err)
			}
		}
		s.end()
	})
}

func TestPace(t *testing.T) {
	rules := testRules
	rules.Pace = 700
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, rules)
		s.end()
		_, _ = s.journal.Acquire(t.Context(), "main", "companiond", time.Now().Add(time.Hour))
		s.actors["aya"], s.actors["kyoko"] = wants_("aya", 5), wants_("kyoko", 5)
		s.start()
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 7 {
			t.Errorf("healthy voters, a minute later: %q, pace is 0.7s", got)
		}
		s.end()
	})
}
