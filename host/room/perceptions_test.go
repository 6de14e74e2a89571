package room

import (
	"context"
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

// sees gives an actor that wants to say text about whatever it perceives.
func sees(id, text string) *actor {
	return &actor{id: id, judge: func(context.Context, abi.Perceiving) (abi.Judgement, error) {
		return abi.Judgement{State: abi.Speak, Importance: 6, Reason: "saw it", Text: text}, nil
	}}
}

func frame(title string) abi.Percept {
	return abi.Percept{Title: title, Format: "text", Body: json.RawMessage(`"a cat"`), From: "camera"}
}

func (s *stage) perceive(who string, p abi.Percept) abi.Judged {
	s.t.Helper()
	j, err := s.room.Perceive(s.t.Context(), who, p)
	if err != nil {
		s.t.Fatalf("perceive: %v", err)
	}
	synctest.Wait()
	return j
}

func (s *stage) count(kind entry.Kind) (n int) {
	for _, e := range s.entries() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestWhoSeesSpeaks: in a room where nobody ever spoke, and again right after her
// own line, which no round would ask her about.
func TestWhoSeesSpeaks(t *testing.T) {
	play(t, testRules, []*actor{sees("nikoni", "猫だ！"), wants_("aya", 3)}, func(s *stage) {
		j := s.perceive("nikoni", frame("vision"))
		if got := s.texts(); len(got) == 0 || got[0] != "nikoni: 猫だ！" {
			t.Fatalf("said: %q", got)
		}
		d := s.decisions()[0]
		if d.Wish != j.Wish || d.Rule != entry.RulePerceived || d.Speaker != "nikoni" || d.Round != 0 {
			t.Errorf("decision %+v for wish %d", d, j.Wish)
		}
		seen := bodies[entry.Perceived](t, s.entries(), entry.KindPerceived)
		if len(seen) != 1 || seen[0].Title != "vision" || string(seen[0].Body) != `"a cat"` || seen[0].Size != 7 || len(seen[0].SHA256) != 64 {
			t.Errorf("kept: %+v", seen)
		}
		w, err := s.room.Why(t.Context(), j.Wish)
		if err != nil || !strings.Contains(w.Text, "wish") || !strings.Contains(w.Text, "saw it") {
			t.Errorf("why: %v\n%s", err, w.Text)
		}
	})
	play(t, testRules, []*actor{sees("nikoni", "また猫")}, func(s *stage) {
		s.perceive("nikoni", frame("vision"))
		s.perceive("nikoni", frame("vision"))
		if got := s.texts(); len(got) != 2 {
			t.Errorf("said: %q", got)
		}
	})
}

// TestAHumanWhoWaitsGoesFirst: a wish waits for the answer to a human, and goes
// before the talk of companions among themselves.
func TestAHumanWhoWaitsGoesFirst(t *testing.T) {
	slow := wants_("aya", 9)
	slow.vote = func(ctx context.Context, _ abi.Scene) (abi.Vote, error) {
		time.Sleep(500 * time.Millisecond)
		return abi.Vote{State: abi.Speak, Importance: 9}, nil
	}
	play(t, testRules, []*actor{sees("nikoni", "猫だ！"), slow, wants_("kyoko", 5)}, func(s *stage) {
		s.say("taro", "みんな、元気？")
		s.perceive("nikoni", frame("vision"))
		time.Sleep(time.Minute)
		synctest.Wait()
		got := s.texts()
		if len(got) < 4 || got[1] != "aya: aya line 1" || got[2] != "nikoni: 猫だ！" {
			t.Errorf("said: %q", got)
		}
	})
}

// TestAWishIsNotLost: it ends with a grant or a written reason.
func TestAWishIsNotLost(t *testing.T) {
	t.Run("the cap", func(t *testing.T) {
		rules := testRules
		rules.MaxTurns, rules.Perceived = 1, 3
		asked := 0
		n := sees("nikoni", "猫")
		judge := n.judge
		n.judge = func(ctx context.Context, p abi.Perceiving) (abi.Judgement, error) {
			asked++
			return judge(ctx, p)
		}
		play(t, rules, []*actor{n}, func(s *stage) {
			for range 28 { // a camera, a frame a second
				_, err := s.room.Perceive(s.t.Context(), "nikoni", frame("vision"))
				if err != nil && abi.CodeOf(err) != abi.CodeExhausted {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			if len(s.texts()) != 3 || asked != 3 {
				t.Errorf("asked %d times, said %q", asked, s.texts())
			}
			time.Sleep(time.Minute)
			s.perceive("nikoni", frame("vision"))
			if len(s.texts()) != 4 {
				t.Errorf("a minute later: %q", s.texts())
			}
		})
	})
	t.Run("too late", func(t *testing.T) {
		occupied(t, 60_000, sees("nikoni", "猫"), func(s *stage) {
			j := s.perceive("nikoni", frame("vision"))
			time.Sleep(queue.WishPatience)
			synctest.Wait()
			dues := bodies[entry.Due](t, s.entries(), entry.KindDue)
			if len(dues) == 0 || dues[len(dues)-1] != (entry.Due{What: entry.DueStale, Of: j.Wish}) || len(s.room.state().Requests) != 0 {
				t.Errorf("%+v", dues)
			}
		})
	})
	t.Run("stop", func(t *testing.T) {
		var gate chan struct{}
		n := &actor{id: "nikoni", judge: func(context.Context, abi.Perceiving) (abi.Judgement, error) {
			<-gate
			return abi.Judgement{State: abi.Speak, Text: "猫"}, nil
		}}
		play(t, testRules, []*actor{n}, func(s *stage) {
			gate = make(chan struct{})
			s.say("taro", "hi")
			go func() { _, _ = s.room.Perceive(s.t.Context(), "nikoni", frame("vision")) }()
			synctest.Wait()
			if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
				t.Fatal(err)
			}
			close(gate)
			synctest.Wait()
			failed := bodies[entry.Failed](t, s.entries(), entry.KindFailed)
			if f := failed[len(failed)-1]; f.Perception == 0 || f.Error != "a human said STOP before it had judged" {
				t.Errorf("%+v", f)
			}
			if _, err := s.room.Perceive(s.t.Context(), "nikoni", frame("vision")); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("perceived after a STOP: %v", err)
			}
		})
	})
	t.Run("a judge that fails", func(t *testing.T) {
		n := &actor{id: "nikoni", judge: func(context.Context, abi.Perceiving) (abi.Judgement, error) {
			return abi.Judgement{}, abi.Errorf(abi.CodeUnavailable, "the model is rate limited")
		}}
		play(t, testRules, []*actor{n, wants_("aya", 5)}, func(s *stage) {
			if _, err := s.room.Perceive(s.t.Context(), "nikoni", frame("vision")); abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("err %v", err)
			}
			failed := bodies[entry.Failed](t, s.entries(), entry.KindFailed)
			if len(failed) != 1 || failed[0].Perception == 0 || !strings.Contains(failed[0].Error, "rate limited") {
				t.Errorf("%+v", failed)
			}
			s.say("taro", "hello")
			synctest.Wait()
			if got := s.texts(); len(got) < 2 {
				t.Errorf("the others are silent: %q", got)
			}
		})
	})
	t.Run("too many", func(t *testing.T) {
		occupied(t, 60_000, sees("nikoni", "猫"), func(s *stage) {
			for range 6 {
				s.perceive("nikoni", frame("vision"))
			}
			if n := s.count(entry.KindWish); n != 4 {
				t.Errorf("%d wishes", n)
			}
			if failed := bodies[entry.Failed](t, s.entries(), entry.KindFailed); len(failed) != 2 || failed[0].Code != abi.CodeExhausted {
				t.Errorf("%+v", failed)
			}
		})
	})
}

// occupied plays a room in which aya has the floor, for so many milliseconds,
// and says nothing.
func occupied(t *testing.T, floor int64, a *actor, f func(*stage)) {
	t.Helper()
	rules := testRules
	rules.Floor = floor
	holds := wants_("aya", 9)
	holds.speak = hang[abi.Line]
	play(t, rules, []*actor{a, holds}, func(s *stage) {
		s.say("taro", "aya, hello")
		synctest.Wait()
		f(s)
	})
}

// TestWishesByImportance: the most important first, the oldest of equals.
func TestWishesByImportance(t *testing.T) {
	n := &actor{id: "nikoni", judge: func(_ context.Context, p abi.Perceiving) (abi.Judgement, error) {
		var text string
		_ = json.Unmarshal(p.Perception.Body, &text)
		return abi.Judgement{State: abi.Speak, Importance: float64(len(text)), Text: text}, nil
	}}
	occupied(t, 3_000, n, func(s *stage) {
		for _, text := range []string{`"a"`, `"bbb"`, `"ccc"`} {
			s.perceive("nikoni", abi.Percept{Title: "vision", Format: "text", Body: json.RawMessage(text)})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := strings.Join(s.texts()[1:], " "); !strings.HasPrefix(got, "nikoni: bbb nikoni: ccc nikoni: a") {
			t.Errorf("said: %s", got)
		}
	})
}

// TestAWishOutlivesARestart, with its line.
func TestAWishOutlivesARestart(t *testing.T) {
	occupied(t, 5_000, sees("nikoni", "猫だ！"), func(s *stage) {
		s.perceive("nikoni", frame("vision"))
		s.end()
		s.start()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := strings.Join(s.texts(), "|"); !strings.Contains(got, "nikoni: 猫だ！") {
			t.Errorf("said: %s", got)
		}
	})
}

// TestPerceptionsOfWhoIsNotHere are refused.
func TestPerceptionsOfWhoIsNotHere(t *testing.T) {
	play(t, testRules, []*actor{sees("nikoni", "猫")}, func(s *stage) {
		for _, who := range []string{"nobody", "taro", ""} {
			if _, err := s.room.Perceive(s.t.Context(), who, frame("vision")); abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("%q: %v", who, err)
			}
			if _, err := s.room.Act(s.t.Context(), who, rooms.Player{}, abi.ActionAsk{Action: "move"}); abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("%q acts: %v", who, err)
			}
		}
	})
}

// TestActions: checked, written, counted, answered, told.
func TestActions(t *testing.T) {
	var mu sync.Mutex
	var told []abi.Result
	n := &actor{id: "nikoni", can: []string{"move"}, told: func(r abi.Result) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, r)
	}}
	play(t, testRules, []*actor{n}, func(s *stage) {
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "fly"}); abi.CodeOf(err) != abi.CodeInvalid || s.count(entry.KindAction) != 0 {
			t.Fatalf("err %v, %d actions", err, s.count(entry.KindAction))
		}
		_, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "nikoni"})
		played, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{Agent: "bot"}, abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":1}`), Perception: "vision"})
		if err != nil || played.Delivered != 1 {
			t.Fatalf("%+v %v", played, err)
		}
		want := entry.Action{ID: played.ID, Who: "nikoni", Action: "move", Parameters: json.RawMessage(`{"x":1}`), Perception: "vision", By: "bot", Delivered: 1}
		if got := bodies[entry.Action](t, s.entries(), entry.KindAction); len(got) != 1 || got[0].ID != want.ID || string(got[0].Parameters) != `{"x":1}` || got[0].By != "bot" || got[0].Delivered != 1 {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		leave()
		leave() // twice is once
		if played, _ := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "move"}); played.Delivered != 0 {
			t.Errorf("delivered to %d bodies that left", played.Delivered)
		}
		if err := s.room.Done(s.t.Context(), "nikoni", "stage", abi.Result{ID: played.ID, Reason: "a wall"}, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mu.Lock()
		if len(told) != 1 || told[0] != (abi.Result{ID: played.ID, Action: "move", Reason: "a wall", By: "stage"}) {
			t.Errorf("told %+v", told)
		}
		mu.Unlock()
		for _, id := range []string{played.ID, "nothing"} {
			if err := s.room.Done(s.t.Context(), "nikoni", "stage", abi.Result{ID: id, OK: true}, nil); abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("%s: %v", id, err)
			}
		}
		if s.count(entry.KindResult) != 1 {
			t.Errorf("%d results", s.count(entry.KindResult))
		}
	})
}

// TestActionsAreBounded: a companion that plays without end costs the journal
// little, and a human's STOP ends it.
func TestActionsAreBounded(t *testing.T) {
	n := &actor{id: "nikoni", can: []string{"move"}}
	play(t, testRules, []*actor{n}, func(s *stage) {
		refused := 0
		for range 100 {
			if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "move"}); abi.CodeOf(err) == abi.CodeExhausted {
				refused++
			}
		}
		if refused != 100-action.MaxASecond {
			t.Errorf("%d refused", refused)
		}
		time.Sleep(time.Second)
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "move"}); err != nil {
			t.Errorf("a second later: %v", err)
		}
		s.say("taro", "stop it")
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "move"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("after STOP: %v", err)
		}
	})
}

// TestSpeakIsAnActionAndAMessage: words that are played wait for the floor, as all
// words do, and are said once.
func TestSpeakIsAnActionAndAMessage(t *testing.T) {
	n := &actor{id: "nikoni", can: []string{"speak"}}
	play(t, testRules, []*actor{n, wants_("aya", 9)}, func(s *stage) {
		say := func(text string) (abi.ActionPlayed, error) {
			return s.room.Act(s.t.Context(), "nikoni", rooms.Player{Agent: "bot"}, abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(`{"message":"` + text + `"}`)})
		}
		_, gone := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "nikoni"})
		defer gone()
		played, err := say("やあ")
		if err != nil || played.ID == "" || played.Wish == 0 || played.Delivered != 0 {
			t.Fatalf("%+v %v", played, err)
		}
		synctest.Wait()
		if got := s.texts(); len(got) == 0 || got[0] != "nikoni: やあ" || s.count(entry.KindAction) != 0 {
			t.Errorf("said %q, %d actions", got, s.count(entry.KindAction))
		}
		if d := s.decisions()[0]; d.Ranking[0].Note != "bot played speak" || d.Wish == 0 {
			t.Errorf("%+v", d)
		}
		if _, err := s.room.Act(s.t.Context(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(`{"volume":3}`)}); err != nil || s.count(entry.KindAction) != 1 {
			t.Errorf("a speak without words is an action like others: %v", err)
		}
	})
}
