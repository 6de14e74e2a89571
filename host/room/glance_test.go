package room

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// A room says who is heard, from the first word until the line has ended.
func TestInfoSaysWhoIsHeard(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
		id, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "aya", Plays: true})
		defer leave()
		s.say("taro", "hello")
		synctest.Wait()
		if i := s.room.Info(); i.Heard != "aya" || i.Waiting != "" {
			t.Errorf("heard %q, waiting %q", i.Heard, i.Waiting)
		}
		said := s.said()
		if err := s.room.Played(s.t.Context(), entry.Played{Line: said[len(said)-1].Grant, Who: "aya", Body: id, Done: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if i := s.room.Info(); i.Heard != "" {
			t.Errorf("%q is heard after the end", i.Heard)
		}
	})
}

// It says why a human is not answered yet, and no more once one is: somebody who comes
// while a round is open that comes to nothing is asked as soon as it has.
func TestInfoSaysWhyNobodyAnswers(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 1
	slow, _, _ := slowly("slow", 90*time.Second)
	play(t, rules, []*actor{slow}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if i := s.room.Info(); i.Waiting == "" || i.State != "waiting" {
			t.Errorf("%s, for %q", i.State, i.Waiting)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s.room.Info().Round == nil {
			t.Fatal("nobody is asked again")
		}
		s.load(wants_("aya", 5))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if i := s.room.Info(); i.Waiting != "" || len(s.texts()) != 2 {
			t.Errorf("%s, waiting %q: %q", i.State, i.Waiting, s.texts())
		}
	})
}

// A stream's chat ends no line, unless it calls whoever speaks; all others do.
func TestChatEndsNoLine(t *testing.T) {
	for _, c := range []struct {
		name, text, source string
		cut                bool
	}{
		{"chat", "this is good", "chat", false},
		{"chat that calls", "aya, wait", "chat", true},
		{"a human", "this is good", "", true},
	} {
		rules := testRules
		rules.MaxTurns, rules.Interrupt, rules.Interrupters = 1, entry.InterruptNow, []string{"*"}
		play(t, rules, []*actor{saying("aya", "A line that takes some seconds to say, so that there is time. And another sentence.")}, func(s *stage) {
			_, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "aya"})
			defer leave()
			s.say("taro", "hello")
			time.Sleep(time.Second)
			m, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "mika", Text: c.text, Source: c.source})
			if err != nil {
				t.Fatal(err)
			}
			if said := s.said(); said[len(said)-1].Source != c.source && m.Seq != 0 {
				t.Errorf("%s: %+v", c.name, said[len(said)-1])
			}
			time.Sleep(20 * time.Second)
			synctest.Wait()
			heard := bodies[entry.Heard](t, s.entries(), entry.KindHeard)
			if len(heard) == 0 || (heard[0].End == entry.EndCut) != c.cut {
				t.Errorf("%s: %+v", c.name, heard)
			}
		})
	}
}

// Neither a microphone that hears somebody without end nor a body that is slower than
// thought takes the floor from whoever waits for them.
func TestTheFloorWaitsForItsLine(t *testing.T) {
	for name, hold := range map[string]func(s *stage, body string){
		"a microphone": func(s *stage, _ string) {
			if err := s.room.Speaking(s.t.Context(), "taro", true); err != nil {
				s.t.Error(err)
			}
		},
		"a slow body": func(s *stage, body string) {
			said := s.said()
			for part, takes := range []time.Duration{12, 12, 10, 6} { // of a line of four pieces
				time.Sleep(takes * time.Second)
				if err := s.room.Played(s.t.Context(), entry.Played{Line: said[len(said)-1].Grant, Who: "aya", Body: body, Part: part + 1}); err != nil {
					s.t.Error(err)
				}
			}
		},
	} {
		rules := testRules
		rules.MaxTurns, rules.Interrupt, rules.Interrupters, rules.Ahead = 2, entry.InterruptSentence, []string{"*"}, 30
		var s *stage
		pieces := []string{"A first piece of some length, as they are. ", "A second piece of some length, as they are. ", "A third one, which is as long as they are. ", "And the last one of four."}
		aya := recites(&s, "aya", pieces, whole)
		play(t, rules, []*actor{aya, saying("kyoko", "I see.")}, func(st *stage) {
			s = st
			id, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "aya", Plays: true})
			defer leave()
			_, gone := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "kyoko"})
			defer gone()
			s.say("taro", "aya, hello")
			time.Sleep(4500 * time.Millisecond)
			hold(s, id)
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := s.said(); got[len(got)-1].From != "kyoko" {
				t.Errorf("%s: %q\n%+v", name, s.texts(), s.decisions())
			}
		})
	}
}

func TestUnknownSource(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		_, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "mika", Text: "hi", Source: "twitch"})
		if abi.CodeOf(err) != abi.CodeInvalid || abi.AsError(err).Field != "source" {
			t.Error(err)
		}
	})
}

// saying says one line whenever it has the floor.
func saying(id, text string) *actor {
	a := wants_(id, 5)
	a.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Text: text}, nil }
	return a
}
