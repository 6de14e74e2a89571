package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

var moves = abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":1}`)}

// TestAStopEndsWhatRuns: a call that ran when a human said STOP ends, and nothing
// that it does later counts, whatever was said since.
func TestAStopEndsWhatRuns(t *testing.T) {
	for _, op := range []string{abi.OpSpeak, abi.OpPerceive} {
		t.Run(op, func(t *testing.T) {
			var s *stage
			var ended time.Duration
			var late error
			// stubborn does not obey its context, as a handler in another process may.
			stubborn := func(ctx context.Context, call string) {
				began := time.Now()
				<-ctx.Done()
				ended = time.Since(began)
				time.Sleep(2 * time.Second)
				_, late = s.room.Act(context.Background(), "nikoni", rooms.Player{Call: call, Op: op}, moves)
			}
			n := &actor{id: "nikoni", can: []string{"move"}}
			first := true
			n.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
				if first {
					first = false
					stubborn(ctx, req.ID)
				}
				return abi.Line{Text: "遅い"}, nil
			}
			n.judge = func(ctx context.Context, _ abi.Perceiving) (abi.Judgement, error) {
				stubborn(ctx, n.call)
				return abi.Judgement{State: abi.Speak, Importance: 9, Text: "遅い"}, nil
			}
			n.vote = func(_ context.Context, v abi.Scene) (abi.Vote, error) {
				if v.Message.Text == "nikoni, move" {
					return abi.Vote{State: abi.Speak, Importance: 9}, nil
				}
				return abi.Vote{State: abi.Listen}, nil
			}
			play(t, testRules, []*actor{n}, func(st *stage) {
				s = st
				s.say("taro", map[string]string{abi.OpSpeak: "nikoni, move", abi.OpPerceive: "hello"}[op])
				if op == abi.OpPerceive {
					go func() { _, _ = s.room.Perceive(context.Background(), "nikoni", frame("vision")) }()
				}
				time.Sleep(time.Second)
				if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				s.say("taro", "all right") // "go on" would be meant for nikoni
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if ended != time.Second {
					t.Errorf("the call ended after %v", ended)
				}
				if abi.CodeOf(late) != abi.CodeDenied || s.count(entry.KindAction) != 0 {
					t.Errorf("the late action: %v, %d in the journal", late, s.count(entry.KindAction))
				}
				if got := s.texts(); len(got) != 2 || s.count(entry.KindWish) != 0 {
					t.Errorf("said %q", got)
				}
			})
		})
	}
}

// TestActionsAreForTheFloor: while it has the floor a call may act, and no other
// call in its name.
func TestActionsAreForTheFloor(t *testing.T) {
	var s *stage
	n := wants_("nikoni", 9)
	n.can = []string{"move"}
	var errs []error
	n.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
		for _, call := range []string{req.ID, req.ID + "0", ""} {
			_, err := s.room.Act(ctx, "nikoni", rooms.Player{Call: call, Op: abi.OpSpeak}, moves)
			errs = append(errs, err)
		}
		return abi.Line{Text: "うん"}, nil
	}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{n}, func(st *stage) {
		s = st
		s.say("taro", "nikoni, move")
		synctest.Wait()
		if len(errs) != 3 || errs[0] != nil || abi.CodeOf(errs[1]) != abi.CodeDenied || abi.CodeOf(errs[2]) != abi.CodeDenied || s.count(entry.KindAction) != 1 {
			t.Errorf("%v, %d actions", errs, s.count(entry.KindAction))
		}
	})
}

// TestAStopEndsWishes in writing, and where nobody may speak a line that is played
// is refused at once.
func TestAStopEndsWishes(t *testing.T) {
	speaks := abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(`{"message":"猫だ！"}`)}
	n := sees("nikoni", "猫")
	n.can = []string{"speak"}
	occupied(t, 60_000, n, func(s *stage) {
		j := s.perceive("nikoni", frame("vision"))
		played, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{Agent: "bot"}, speaks)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		given := map[uint64]bool{}
		for _, d := range bodies[entry.Due](t, s.entries(), entry.KindDue) {
			given[d.Of] = d.What == entry.DueStale
		}
		if !given[j.Wish] || !given[played.Wish] {
			t.Errorf("wishes %d and %d: given up are %v", j.Wish, played.Wish, given)
		}
	})
	rules := testRules
	rules.MaxTurns = 1
	capped := wants_("nikoni", 9)
	capped.can = []string{"speak"}
	play(t, rules, []*actor{capped}, func(s *stage) {
		s.say("taro", "nikoni, hi")
		synctest.Wait()
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{Agent: "bot"}, speaks); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("at the cap: %v", err)
		}
	})
}

// TestHowItIsSaid: parameters of "speak" beside its message are with the message.
func TestHowItIsSaid(t *testing.T) {
	const glad, bare = `{"message":"猫だ！","emotion":"joy"}`, `{"message":"猫だ！"}`
	for _, tc := range []struct{ played, judged, want string }{{glad, "", glad}, {bare, "", ""}, {"", glad, glad}, {"", bare, ""}, {"", `{"message":"犬だ！"}`, "refused"}} {
		n := &actor{id: "nikoni", can: []string{"speak"}, judge: func(context.Context, abi.Perceiving) (abi.Judgement, error) {
			return abi.Judgement{State: abi.Speak, Importance: 5, Text: "猫だ！", Parameters: json.RawMessage(tc.judged)}, nil
		}}
		play(t, testRules, []*actor{n}, func(s *stage) {
			if tc.judged != "" {
				_, err := s.room.Perceive(s.t.Context(), "nikoni", frame("vision"))
				if tc.want == "refused" {
					if abi.CodeOf(err) != abi.CodeInvalid || len(s.said()) != 0 {
						t.Errorf("another message than the text: %v, said %+v", err, s.said())
					}
					return
				}
			} else if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(tc.played)}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if said := s.said(); len(said) != 1 || string(said[0].Parameters) != tc.want || said[0].Wish == 0 || said[0].Text != "猫だ！" {
				t.Errorf("%+v: said %+v", tc, said)
			}
		})
	}
}

// TestHowALineIsSaid: what comes with a line of whoever has the floor is held to the card. The
// line is said in any case, and the journal says what it lost.
func TestHowALineIsSaid(t *testing.T) {
	const glad = `{"message":"猫だ！","emotion":"joy"}`
	for parameters, tc := range map[string]struct {
		can           []string
		want, warning string
	}{
		"":                  {[]string{"speak"}, "", ""},
		glad:                {[]string{"speak"}, glad, ""},
		`{"message":"猫だ！"}`: {[]string{"speak"}, "", ""},
		`{"message":"犬だ！","emotion":"joy"}`: {[]string{"speak"}, "", "line.parameters: their message is not the text"},
		`{"emotion":"joy"}`:                 {[]string{"speak"}, "", "line.parameters: their message is not the text"},
		` ` + glad:                          {nil, "", "is none of"},
	} {
		n := wants_("nikoni", 9)
		n.can = tc.can
		n.speak = func(context.Context, abi.Scene) (abi.Line, error) {
			return abi.Line{Text: "猫だ！", Parameters: json.RawMessage(parameters)}, nil
		}
		play(t, testRules, []*actor{n}, func(s *stage) {
			s.say("taro", "nikoni, look")
			synctest.Wait()
			said := s.said()[1:]
			if len(said) != 1 || said[0].Text != "猫だ！" || string(said[0].Parameters) != tc.want || !strings.Contains(said[0].Warning, tc.warning) || (tc.warning == "") != (said[0].Warning == "") {
				t.Errorf("%s: said %+v", parameters, said)
			}
		})
	}
}

// TestResultsOutliveARestart, and many actions that are over sooner.
func TestResultsOutliveARestart(t *testing.T) {
	n := &actor{id: "nikoni", can: []string{"move", "look"}}
	play(t, testRules, []*actor{n}, func(s *stage) {
		long, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, moves)
		if err != nil {
			t.Fatal(err)
		}
		var looks []string
		for i := range 270 {
			if i%action.MaxASecond == 0 {
				time.Sleep(time.Second)
			}
			p, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "look", Parameters: json.RawMessage(fmt.Sprintf(`{"x":%d}`, i))})
			if err != nil {
				t.Fatal(err)
			}
			looks = append(looks, p.ID)
		}
		s.end()
		s.start()
		synctest.Wait()
		if open := s.room.state().Acts; len(open) != 64 {
			t.Errorf("%d actions are waited for", len(open))
		}
		for id, code := range map[string]abi.Code{long.ID: "", looks[0]: abi.CodeNotFound, looks[269]: ""} {
			if err := s.room.Done(s.t.Context(), "nikoni", "stage", abi.Result{ID: id, OK: true}, nil); abi.CodeOf(err) != code {
				t.Errorf("%s: %v, want %q", id, err, code)
			}
		}
	})
}
