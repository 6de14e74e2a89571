package room

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// recites gives an actor that says the parts of its line one by one, a second
// apart, and then answers with end.
func recites(s **stage, id string, parts []string, end func(said string) (abi.Line, error)) *actor {
	a := wants_(id, 9)
	a.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
		said := ""
		for _, part := range parts {
			if err := (*s).room.Segment(ctx, id, req.ID, abi.SayAsk{Text: part}); err != nil {
				return abi.Line{}, err
			}
			said += part
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return abi.Line{}, ctx.Err()
			}
		}
		return end(said)
	}
	return a
}

func whole(said string) (abi.Line, error) { return abi.Line{Text: said}, nil }

// recital plays a room in which nikoni recites, once, and aya listens.
func recital(t *testing.T, rules entry.Rules, parts []string, end func(string) (abi.Line, error), f func(*stage)) {
	t.Helper()
	var s *stage
	rules.MaxTurns = 1
	play(t, rules, []*actor{recites(&s, "nikoni", parts, end), {id: "aya"}}, func(st *stage) {
		s = st
		f(st)
	})
}

func (s *stage) said() []entry.Said { return bodies[entry.Said](s.t, s.entries(), entry.KindSaid) }

// TestSegmentsComeBeforeTheLine: each is in the journal as soon as it is said,
// and the message has them all.
func TestSegmentsComeBeforeTheLine(t *testing.T) {
	recital(t, testRules, []string{"こんにちは。", "いい天気！"}, whole, func(s *stage) {
		s.say("taro", "nikoni, hi")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if n := s.count(entry.KindSegment); n != 2 || len(s.said()) != 1 {
			t.Fatalf("%d segments, said %+v", n, s.said())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.said(); len(got) != 2 || got[1].Text != "こんにちは。いい天気！" || got[1].Segments != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// TestALineThatIsAnother: words that do not follow from those that were heard are
// not said, and that is not hidden.
func TestALineThatIsAnother(t *testing.T) {
	for line, dropped := range map[string]int{"さようなら。": 1, "はい。\x00": 1, "はい。" + strings.Repeat("a", abi.MaxText): 1, "": 0, "はい。": 0, "はい。じゃあね。": 0} {
		end := func(string) (abi.Line, error) { return abi.Line{Text: line}, nil }
		recital(t, testRules, []string{"はい。"}, end, func(s *stage) {
			s.say("taro", "nikoni, hi")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			want := "はい。"
			if dropped == 0 && line != "" {
				want = line
			}
			got := s.said()
			if n := s.room.Info().Counts["rest of a line dropped"]; len(got) != 2 || got[1].Text != want || int(n) != dropped {
				s.t.Errorf("%.20q: said %.60q, %d dropped", line, got[1].Text, n)
			}
		})
	}
}

// TestALineThatBreaksOff: the part that was heard is the message, whatever happens.
func TestALineThatBreaksOff(t *testing.T) {
	parts := []string{"まず、", "それから、", "最後に。"}
	for _, tc := range []struct {
		name string
		end  func(string) (abi.Line, error)
		do   func(s *stage)
		want string
		n    int
	}{
		{"the model dies", func(string) (abi.Line, error) { return abi.Line{}, errors.New("EOF") }, nil, "まず、それから、最後に。", 3},
		{"it passes at last", func(string) (abi.Line, error) { return abi.Line{}, nil }, nil, "まず、それから、最後に。", 3},
		{"it says something else", func(string) (abi.Line, error) { return abi.Line{Text: "別の話"}, nil }, nil, "まず、それから、最後に。", 3},
		{"it adds something", func(said string) (abi.Line, error) { return abi.Line{Text: said + "おわり。"}, nil }, nil, "まず、それから、最後に。おわり。", 4},
		{"a human says STOP", whole, func(s *stage) {
			if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
				s.t.Fatal(err)
			}
		}, "まず、それから、", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recital(t, testRules, parts, tc.end, func(s *stage) {
				s.say("taro", "nikoni, hi")
				time.Sleep(1500 * time.Millisecond)
				synctest.Wait()
				if tc.do != nil {
					tc.do(s)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if got := s.said(); len(got) != 2 || got[1].Text != tc.want || got[1].Segments != tc.n || s.count(entry.KindSegment) != tc.n {
					t.Errorf("%+v, %d segments", got, s.count(entry.KindSegment))
				}
			})
		})
	}
	t.Run("the floor is held too long", func(t *testing.T) {
		rules := testRules
		rules.Floor = 1500
		recital(t, rules, parts, whole, func(s *stage) {
			s.say("taro", "nikoni, hi")
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := s.said(); len(got) != 2 || got[1].Text != "まず、それから、" {
				t.Errorf("%+v", got)
			}
		})
	})
}

// TestStaleBeforeItBegins: somebody who spoke before the first segment is
// answered; a later speaker does not take back what was heard.
func TestStaleBeforeItBegins(t *testing.T) {
	var s *stage
	asked := 0
	n := wants_("nikoni", 9)
	n.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
		asked++
		time.Sleep(time.Second)
		if err := s.room.Segment(ctx, "nikoni", req.ID, abi.SayAsk{Text: "はい。"}); err != nil {
			return abi.Line{}, err
		}
		time.Sleep(time.Second)
		return abi.Line{Text: "はい。そうです。"}, nil
	}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{n}, func(st *stage) {
		s = st
		s.say("taro", "nikoni, hi")
		time.Sleep(500 * time.Millisecond)
		s.say("taro", "nikoni, are you well?")
		time.Sleep(time.Second)
		synctest.Wait()
		if n := s.count(entry.KindSegment); n != 0 {
			t.Errorf("%d segments of a stale line", n)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := s.texts(); len(got) != 3 || got[2] != "nikoni: はい。そうです。" || asked != 2 {
			t.Errorf("asked %d times: %q", asked, got)
		}
	})
	play(t, rules, []*actor{n}, func(st *stage) {
		s = st
		s.say("taro", "nikoni, hi")
		time.Sleep(1500 * time.Millisecond)
		s.say("taro", "wait")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := strings.Join(s.texts(), "|"); got != "taro: nikoni, hi|taro: wait|nikoni: はい。そうです。|nikoni: はい。そうです。" { // to the second message as well

			t.Errorf("said %s", got)
		}
	})
}

// TestSegmentsNeedTheFloor.
func TestSegmentsNeedTheFloor(t *testing.T) {
	play(t, poolRules("pool"), []*actor{{id: "nikoni"}}, func(s *stage) {
		for _, who := range []string{"nikoni", "aya", ""} {
			if err := s.room.Segment(s.t.Context(), who, "main/g1@0", abi.SayAsk{Text: "x"}); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%q: %v", who, err)
			}
		}
		if err := s.room.Segment(s.t.Context(), "nikoni", "main/g1@0", abi.SayAsk{Text: " "}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("no text: %v", err)
		}
	})
}
