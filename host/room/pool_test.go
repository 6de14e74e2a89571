package room

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/rooms"
)

// level gives the pool by the formula, read off the journal.
func (s *stage) level(at time.Time) float64 {
	left := 100.0
	for _, e := range s.entries() {
		if e.Kind == entry.KindSaid && at.Sub(e.At) < 5*time.Second {
			left -= decode[entry.Said](e).Cost
		}
	}
	return left
}

// atLevel holds Budget and Info to a level.
func (s *stage) atLevel(want float64) {
	s.t.Helper()
	b, ok := s.room.Budget()
	i := s.room.Info()
	if !ok || i.Pool == nil || b.Level != want || i.Pool.Level != want || b.Size != 100 || s.level(time.Now()) != want {
		s.t.Errorf("the level is %+v (%v), Info says %+v, the formula %v, want %v", b, ok, i.Pool, s.level(time.Now()), want)
	}
}

// TestThePoolComesBackByTheFormula: all that was spent comes back whole, five
// seconds later, also when the daemon was not there.
func TestThePoolComesBackByTheFormula(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool"} {
		for _, restart := range []bool{false, true} {
			play(t, poolRules(policy), nil, func(s *stage) {
				s.atLevel(100)
				for range 3 {
					if _, _, err := s.consume("bot", "うん"); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				s.atLevel(85)
				if restart {
					s.end()
					s.start()
					s.atLevel(85)
					s.end()
				}
				time.Sleep(2 * time.Second) // the first is five seconds old
				if restart {
					s.start()
				}
				s.atLevel(90)
				time.Sleep(time.Second - time.Millisecond)
				s.atLevel(90)
				time.Sleep(time.Millisecond)
				s.atLevel(95)
				time.Sleep(time.Second)
				s.atLevel(100)
			})
		}
	}
}

// TestThePoolAfterASnapshot: the level survives where the journal before the
// snapshot is not read any more.
func TestThePoolAfterASnapshot(t *testing.T) {
	play(t, poolRules("vote+pool"), nil, func(s *stage) {
		for range loop.SnapshotEvery {
			s.say("taro", "hello")
		}
		for range 3 {
			_, _, _ = s.consume("bot", "うん")
		}
		for range loop.SnapshotEvery {
			s.say("taro", "hello")
		}
		if seq, _, _ := s.journal.GetSnapshot(s.t.Context(), "main"); seq < loop.SnapshotEvery+3 {
			t.Fatalf("the snapshot is of entry %d", seq)
		}
		s.end()
		s.start()
		s.atLevel(85)
	})
}

// TestThePoolWithoutAJournal: a line that was not kept was not paid.
func TestThePoolWithoutAJournal(t *testing.T) {
	play(t, poolRules("pool"), nil, func(s *stage) {
		_, _, _ = s.consume("bot", "うん")
		s.journal.break_(journal.ErrUnavailable, false)
		_, b, err := s.consume("bot", longText(50))
		if abi.CodeOf(err) != abi.CodeUnavailable || b.Size != 100 {
			t.Errorf("%+v, %v", b, err)
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		s.atLevel(95)
		if got := s.agents(); !slices.Equal(got, []string{"bot"}) {
			t.Errorf("the agents are forgotten: %v", got)
		}
	})
}

// TestNoPoolWithoutAPolicy that has one.
func TestNoPoolWithoutAPolicy(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		_, b, err := s.consume("bot", "うん")
		if _, ok := s.room.Budget(); ok || s.room.Info().Pool != nil || b.Size != 0 || abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("a pool in a room of votes: %+v, %v", b, err)
		}
	})
}

// TestConsumeShowsThePool right afterwards: chat-relay's consume answers with what
// is left, also when it fails.
func TestConsumeShowsThePool(t *testing.T) {
	play(t, poolRules("pool"), []*actor{{id: "aya"}}, func(s *stage) {
		for _, tc := range []struct {
			name  string
			u     rooms.Utterance
			code  abi.Code
			level float64
			chars int
		}{
			{"a turn", rooms.Utterance{From: "bot", Text: longText(50)}, "", 40, 10},
			{"nothing is left for another", rooms.Utterance{From: "bot", Text: longText(50)}, abi.CodeExhausted, 40, 10},
			{"a backchannel", rooms.Utterance{From: "bot", Text: "うん", ID: "once"}, "", 35, 10},
			{"the same again", rooms.Utterance{From: "bot", Text: "うん", ID: "once"}, "", 35, 10},
			{"the same id", rooms.Utterance{From: "bot", Text: "ううん", ID: "once"}, abi.CodeConflict, 35, 10},
			{"too cheap", rooms.Utterance{From: "bot", Text: "うん", Offer: new(float64)}, abi.CodeInvalid, 35, 10},
			{"too long", rooms.Utterance{From: "bot", Text: longText(101)}, abi.CodeTooLarge, 35, 10},
			{"a name that is taken", rooms.Utterance{From: "aya", Text: "うん"}, abi.CodeDenied, 35, 10},
			{"no name", rooms.Utterance{Text: "うん"}, abi.CodeInvalid, 35, 10},
		} {
			tc.u.By = abi.KindAgent
			synctest.Wait() // aya has voted to listen
			m, b, err := s.room.Consume(s.t.Context(), tc.u)
			if abi.CodeOf(err) != tc.code || b.Level != tc.level || b.Size != 100 || b.Chars != tc.chars || len(b.Prices) != 3 {
				t.Errorf("%s: %+v, %v; want %v points, %d characters, %q", tc.name, b, err, tc.level, tc.chars, tc.code)
			}
			if err == nil && m.Text != tc.u.Text {
				t.Errorf("%s: %+v", tc.name, m)
			}
		}
		s.atLevel(35)
	})
}

// TestTheSameLineTwiceAtOnce is said and paid once, and both are told what is
// left.
func TestTheSameLineTwiceAtOnce(t *testing.T) {
	play(t, poolRules("pool"), nil, func(s *stage) {
		_, _, _ = s.consume("bot", "うん")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				m, b, err := s.room.Consume(s.t.Context(), rooms.Utterance{ID: "x1", From: "bot", By: abi.KindAgent, Text: longText(50)})
				if err != nil || m.ID != "x1" || b.Level != 35 {
					t.Errorf("%+v, %+v, %v", m, b, err)
				}
			})
		}
		wg.Wait()
		s.atLevel(35)
	})
}

// TestFourAgentsAtOnce: chat-relay loses two of three calls that come at once. Here each gets its own answer, and the pool is never overdrawn.
func TestFourAgentsAtOnce(t *testing.T) {
	play(t, poolRules("pool"), nil, func(s *stage) {
		var mu sync.Mutex
		codes := map[abi.Code]int{}
		var wg sync.WaitGroup
		for _, who := range []string{"p", "q", "r", "s"} {
			wg.Go(func() {
				m, _, err := s.room.Consume(s.t.Context(), rooms.Utterance{From: who, By: abi.KindAgent, Text: longText(20), Basis: 1})
				if err == nil && m.From != who {
					t.Errorf("%s was told of %+v", who, m)
				}
				mu.Lock()
				defer mu.Unlock()
				codes[abi.CodeOf(err)]++
			})
		}
		wg.Wait()
		if codes[""] != 1 || codes[abi.CodeStale] != 3 {
			t.Errorf("answers: %v", codes)
		}
		s.atLevel(40)
	})
}

// TestCompanionsWaitForThePool: hosted companions talk as fast as the pool
// allows, one line of 60 points each five seconds, up to the cap.
func TestCompanionsWaitForThePool(t *testing.T) {
	wordy := func(id string) *actor {
		a := wants_(id, 5)
		a.speak = func(_ context.Context, sc abi.Scene) (abi.Line, error) {
			if sc.Budget == nil || sc.Budget.Level < 60 {
				t.Errorf("%s is to speak with %+v", id, sc.Budget)
			}
			return abi.Line{Text: strings.Repeat(string([]rune("あいうえおか")[sc.Turns]), 20)}, nil
		}
		return a
	}
	play(t, poolRules("pool"), []*actor{wordy("aya"), wordy("kyoko")}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(2 * time.Minute)
		var at []time.Time
		for _, e := range s.entries() {
			if e.Kind == entry.KindSaid && decode[entry.Said](e).By == abi.KindCompanion {
				at = append(at, e.At)
			}
		}
		if len(at) != testRules.MaxTurns {
			t.Fatalf("%d lines: %q", len(at), s.texts())
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap != 5*time.Second {
				t.Errorf("line %d came %v after the one before", i+1, gap)
			}
		}
		if n := len(slices.DeleteFunc(s.decisions(), func(d entry.Decision) bool { return d.Outcome != entry.OutcomeWaits })); n != testRules.MaxTurns-1 {
			t.Errorf("it waited %d times", n)
		}
		if i := s.room.Info(); i.State != "capped" {
			t.Errorf("state %q", i.State)
		}
	})
}

// TestARoomThatWaitsIsRestarted: the round that waited for the pool is asked
// about again.
func TestARoomThatWaitsIsRestarted(t *testing.T) {
	rules := poolRules("pool")
	rules.MaxTurns = 2
	play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
		_, _, _ = s.consume("bot", longText(50))
		s.say("taro", "hello")
		synctest.Wait()
		if d := s.decisions(); len(d) != 2 || d[1].Outcome != entry.OutcomeWaits || s.room.Info().State != "talking" {
			t.Fatalf("%+v", d)
		}
		s.end()
		time.Sleep(time.Second)
		s.start()
		time.Sleep(3 * time.Second)
		if got := s.texts(); len(got) != 2 {
			t.Errorf("too early: %q", got)
		}
		time.Sleep(2 * time.Second)
		if got := s.texts(); len(got) != 3 || got[2] != "aya: aya line 1" {
			t.Errorf("%q", got)
		}
	})
}

// nods is an actor that only says a short word beside others.
func nods(id, word string) *actor {
	return &actor{id: id, vote: func(context.Context, abi.Scene) (abi.Vote, error) {
		return abi.Vote{State: abi.Listen, Backchannel: word}, nil
	}}
}

// TestBackchannelsThatCameWithVotes are said when somebody else has the floor,
// in rooms with a pool.
func TestBackchannelsThatCameWithVotes(t *testing.T) {
	for policy, want := range map[string][]string{
		"vote":      {"taro: hello", "aya: aya line 1"},
		"pool":      {"taro: hello", "kyoko: うん", "natsumi: なるほど", "aya: aya line 1"},
		"vote+pool": {"taro: hello", "kyoko: うん", "natsumi: なるほど", "aya: aya line 1"},
	} {
		t.Run(policy, func(t *testing.T) {
			rules := poolRules(policy)
			rules.MaxTurns = 1
			aya := wants_("aya", 5)
			vote := aya.vote
			aya.vote = func(ctx context.Context, sc abi.Scene) (abi.Vote, error) {
				v, err := vote(ctx, sc)
				v.Backchannel = "へえ" // it has the floor and needs none
				return v, err
			}
			play(t, rules, []*actor{aya, nods("kyoko", "うん"), nods("natsumi", "なるほど"), nods("wordy", "これは相槌には少し長すぎます")}, func(s *stage) {
				s.say("taro", "hello")
				time.Sleep(10 * time.Second)
				if got := s.texts(); !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
				refused := bodies[entry.Refused](t, s.entries(), entry.KindRefused)
				if policy == "vote" != (len(refused) == 0) || len(refused) > 1 || len(refused) == 1 && refused[0].Code != abi.CodeTooLarge {
					t.Errorf("refused: %+v", refused)
				}
				for _, e := range s.entries() {
					if m, ok := e.Message(); ok && (m.From == "kyoko" || m.From == "natsumi") {
						if b := decode[entry.Said](e); b.Kind != abi.KindBackchannel || b.Cost != 5 || b.By != abi.KindCompanion || b.Grant != "" {
							t.Errorf("%+v", b)
						}
					}
				}
			})
		})
	}
}

// TestBackchannelsOfNothing: in a round that comes to nothing nobody nods, and
// a nod is not said later, nor by somebody who is gone.
func TestBackchannelsOfNothing(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{nods("aya", "うん"), nods("kyoko", "うん")}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(10 * time.Second)
		if got := s.texts(); len(got) != 1 {
			t.Errorf("%q", got)
		}
		s.room.handleOnLoop(s.t, func() {
			if _, n := s.room.votes.Remembered(); n != 0 {
				t.Errorf("%d rounds are remembered", n)
			}
		})
	})
	slow := wants_("slow", 5)
	slow.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
		time.Sleep(500 * time.Millisecond)
		return abi.Vote{State: abi.Speak, Importance: 5}, nil
	}
	rules := poolRules("vote+pool")
	rules.MaxTurns = 1
	play(t, rules, []*actor{slow, nods("gone", "うん")}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		s.unload("gone")
		time.Sleep(10 * time.Second)
		if got := s.texts(); !slices.Equal(got, []string{"taro: hello", "slow: slow line 1"}) {
			t.Errorf("%q", got)
		}
	})
	play(t, rules, []*actor{slow, nods("kyoko", "うん")}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		s.say("taro", "no, wait") // kyoko nods to this too, and once
		time.Sleep(10 * time.Second)
		if n := strings.Count(strings.Join(s.texts(), "\n"), "kyoko: うん"); n != 1 {
			t.Errorf("%q", s.texts())
		}
	})
}

// handleOnLoop looks at what only the loop may look at.
func (r *Room) handleOnLoop(t *testing.T, look func()) {
	t.Helper()
	if err := loop.Tell(t.Context(), r.loop, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // the loop waits for its next event
	look()
}
