package room

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/rooms"
)

// asking is a companion that can ask what its camera sees, with the queue that judges what it is answered.
type asking struct {
	mu   sync.Mutex
	kept []abi.Percept
}

// play runs a room with one that is called nikoni, and a body of it.
func (a *asking) play(t *testing.T, do func(s *stage)) {
	n := &actor{id: "nikoni", can: []string{"camera"}}
	play(t, testRules, []*actor{n}, func(s *stage) {
		a.start(s)
		_, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "nikoni", Answers: true})
		defer leave()
		do(s)
	})
}

// start has the room run again, now that its companion may ask.
func (a *asking) start(s *stage) {
	bodies := s.room.cfg.Bodies
	s.end()
	c := s.config()
	c.Bodies, c.Asks = bodies, func(who, action string) bool { return who == "nikoni" && action == "camera" }
	c.Kept = func(who string, p abi.Percept) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.kept = append(a.kept, p)
	}
	s.run(c, s.loaded())
	synctest.Wait()
}

func (a *asking) heard() []abi.Percept {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept
}

func (s *stage) ask() abi.ActionPlayed {
	s.t.Helper()
	played, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "camera", Parameters: json.RawMessage(`{"where":"door"}`)})
	if err != nil || played.Due.IsZero() || played.Delivered != 1 {
		s.t.Fatalf("%+v %v", played, err)
	}
	return played
}

func (s *stage) answer(id string, ok bool, why, body string) error {
	err := s.room.Done(s.t.Context(), "nikoni", "stage", abi.Result{ID: id, OK: ok, Reason: why}, json.RawMessage(body))
	synctest.Wait()
	return err
}

// TestQueries: a query is answered once, and its companion perceives the answer, or why there is none.
func TestQueries(t *testing.T) {
	for name, c := range map[string]struct {
		ok           bool
		why, body    string
		format, want string
	}{
		"an object":         {true, "", `{"sees":"a cat"}`, "object", `{"sees":"a cat"}`},
		"a text":            {true, "", `"a cat"`, "text", `"a cat"`},
		"nothing":           {true, "", "", "object", `{}`},
		"that it cannot be": {false, "it is dark", `{"sees":"?"}`, "text", `"no answer: it is dark"`},
	} {
		t.Run(name, func(t *testing.T) {
			var a asking
			a.play(t, func(s *stage) {
				id := s.ask().ID
				if err := s.answer(id, c.ok, c.why, c.body); err != nil {
					t.Fatal(err)
				}
				if err := s.answer(id, true, "", `{}`); abi.CodeOf(err) != abi.CodeNotFound {
					t.Errorf("a second answer: %v", err)
				}
				results, seen := bodies[entry.Done](t, s.entries(), entry.KindResult), bodies[entry.Perceived](t, s.entries(), entry.KindPerceived)
				if len(results) != 1 || results[0].OK != c.ok || results[0].Action != "camera" || len(seen) != 1 {
					t.Fatalf("%+v %+v", results, seen)
				}
				p := seen[0]
				if p.Title != "camera" || p.Answers != id || p.From != "stage" || !p.Kept || p.Format != c.format || string(p.Body) != c.want {
					t.Errorf("%+v %s", p, p.Body)
				}
				if got := a.heard(); len(got) != 1 || got[0].Seq == 0 || string(got[0].Body) != c.want {
					t.Errorf("to be judged: %+v", got)
				}
				if kept, err := s.room.Kept(s.t.Context(), "nikoni"); err != nil || len(kept) != 1 || kept[0].Answers != id {
					t.Errorf("kept: %+v %v", kept, err)
				}
				if told := s.room.state().ToldTo("nikoni", 0); len(told) != 1 || told[0].Answers != id {
					t.Errorf("told with what is asked next: %+v", told)
				}
			})
		})
	}
}

// TestQueriesThatNobodyAnswers are given up after their time, also over a restart.
func TestQueriesThatNobodyAnswers(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		var a asking
		a.play(t, func(s *stage) {
			began := time.Now()
			played := s.ask()
			if wait := played.Due.Sub(began); wait != 30*time.Second {
				t.Errorf("it is waited for %v", wait)
			}
			time.Sleep(10 * time.Second)
			if restarts {
				a.start(s)
			}
			time.Sleep(19 * time.Second)
			synctest.Wait()
			if n := s.count(entry.KindResult); n != 0 {
				t.Fatalf("%d results before its time", n)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := a.heard(); len(got) != 1 || got[0].Answers != played.ID || !strings.Contains(string(got[0].Body), "nobody answered within 30s") {
				t.Errorf("restarts %v: %+v", restarts, got)
			}
			if err := s.answer(played.ID, true, "", `{}`); abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("a late answer: %v", err)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := s.count(entry.KindResult); n != 1 || s.count(entry.KindDue) != 0 {
				t.Errorf("%d results, %d due", n, s.count(entry.KindDue))
			}
		})
	}
}

// TestQueriesThatCannotBe: nobody is there who could answer, answers that are none, and a STOP, after which
// nothing is perceived.
func TestQueriesThatCannotBe(t *testing.T) {
	var a asking
	a.play(t, func(s *stage) {
		id := s.ask().ID
		deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
		for body, code := range map[string]abi.Code{`7`: abi.CodeInvalid, `["a"]`: abi.CodeInvalid, `null`: abi.CodeInvalid, deep: abi.CodeInvalid, `{"a":1,"a":2}`: abi.CodeInvalid, `{"x":"` + strings.Repeat("x", action.MaxAnswer) + `"}`: abi.CodeTooLarge} {
			if err := s.answer(id, true, "", body); abi.CodeOf(err) != code || !strings.HasPrefix(abi.AsError(err).Field, "body") {
				t.Errorf("%.20s: %v", body, err)
			}
		}
		for range queue.MaxQueries - 1 {
			s.ask()
		}
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "camera"}); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("one more than may wait: %v", err)
		}
		s.say("taro", "hello")
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		s.say("taro", "go on")
		if err := s.answer(id, true, "", `{}`); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("after a STOP: %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.count(entry.KindResult) != 0 || s.count(entry.KindPerceived) != 0 {
			t.Error("what was asked before a STOP is perceived")
		}
	})
	n := &actor{id: "nikoni", can: []string{"camera"}}
	play(t, testRules, []*actor{n}, func(s *stage) {
		(&asking{}).start(s)
		_, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "nikoni"}) // which cannot
		defer leave()
		_, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "camera"})
		if abi.CodeOf(err) != abi.CodeUnavailable || s.count(entry.KindAction) != 0 {
			t.Errorf("with nobody there: %v", err)
		}
	})
}

// TestAnswersToOneWhoIsAway: a companion that is being loaded anew when its query is answered is told when it is back.
func TestAnswersToOneWhoIsAway(t *testing.T) {
	var a asking
	a.play(t, func(s *stage) {
		id := s.ask().ID
		s.unload("nikoni")
		synctest.Wait()
		if err := s.answer(id, true, "", `{"sees":"a cat"}`); err != nil {
			s.t.Fatal(err)
		}
		if kept, err := s.room.Kept(s.t.Context(), "nikoni"); err != nil || len(kept) != 1 || len(a.heard()) != 1 {
			s.t.Errorf("kept: %+v %v", kept, err)
		}
	})
}
