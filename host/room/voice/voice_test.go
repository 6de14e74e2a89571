package voice_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/looptest"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/room/voice"
)

// stage is a room in which aya and kyoko are.
type stage struct {
	*looptest.Room
	*voice.Voice
	running call.Running
	bodies  action.Bodies
	drains  bool
}

func play(t *testing.T, f func(*testing.T, *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Room: looptest.New(t), running: call.Running{}}
		n := 0
		s.Voice = voice.New(voice.Config{
			Room: "main", Loop: s.Loop, Running: s.running, Bodies: &s.bodies, Board: new(glance.Board), Log: slog.New(slog.DiscardHandler),
			Draining: func() bool { return s.drains },
			Say: func(said entry.Said) {
				n++
				if _, err := s.Line(rules.Line{ID: strings.Repeat("m", n), Said: said}); err != nil {
					t.Error(err)
				}
			},
		})
		s.Room.Settle = func() {
			s.SayHeld()
			s.Rest()
		}
		defer s.Start("aya", "kyoko")()
		f(t, s)
	})
}

// floor has taro say something and gives aya the floor, whose call runs.
func (s *stage) floor() *fold.Floor {
	s.Room.Say("taro", "hello")
	f := s.Give("aya")
	s.Do(func() { s.running[s.Call(f)] = call.Run{Line: true, Basis: f.Basis} })
	return f
}

// answer is what aya's call comes to.
func (s *stage) answer(f *fold.Floor, text string) voice.Answer {
	return voice.Answer{Grant: f.Token, Basis: f.Basis, About: s.State().Last.Seq, Who: "aya", Line: abi.Line{Text: text}}
}

func (s *stage) take(a voice.Answer) { s.Do(func() { s.Take(a) }) }

func (s *stage) segment(id, text string) (err error) {
	s.Do(func() { err = s.Segment("aya", id, abi.SayAsk{Text: text}) })
	return err
}

// said gives what companions said.
func (s *stage) said() (all []entry.Said) {
	return slices.DeleteFunc(looptest.Bodies[entry.Said](s.Room, entry.KindSaid), func(b entry.Said) bool { return b.By == abi.KindHuman })
}

// Pieces sound at once, and the message has them all and what the line adds.
func TestPiecesAreOneLine(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		id := s.Call(f)
		if err := s.segment(id, "One. "); err != nil {
			t.Fatal(err)
		}
		if err := s.segment("another call", "x"); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("of another call: %v", err)
		}
		if err := s.segment(id, strings.Repeat("x", abi.MaxText)); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("too long: %v", err)
		}
		if !s.Has("aya", id) || s.Has("kyoko", id) {
			t.Error("the call is not aya's")
		}
		s.take(s.answer(f, "One. Two."))
		got := s.said()
		if len(got) != 1 || got[0].Text != "One. Two." || got[0].Segments != 2 || got[0].Grant != f.Token || got[0].Broken != "" {
			t.Errorf("said %+v", got)
		}
		if s.running.Has(id) || s.Has("aya", id) {
			t.Error("the call is not over")
		}
		if n := s.Taken(); n != 1 || s.Taken() != 0 {
			t.Errorf("%d answers were taken", n)
		}
	})
}

// A line that is broken off is what went out of it; one that has not begun is none.
func TestBreakOff(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		s.Do(func() { s.BreakOff(entry.EndStopped, "taro said STOP") })
		if got := s.said(); len(got) != 0 || !s.running.Has(s.Call(f)) {
			t.Fatalf("a line that has not begun is broken off: %+v", got)
		}
		if err := s.segment(s.Call(f), "One. "); err != nil {
			t.Fatal(err)
		}
		s.Do(func() { s.BreakOff(entry.EndStopped, "taro said STOP") })
		got := s.said()
		if len(got) != 1 || got[0].Text != "One. " || got[0].Ends != entry.EndStopped || got[0].Broken != "taro said STOP" || s.running.Has(s.Call(f)) {
			t.Errorf("said %+v", got)
		}
	})
}

// elsewhere has aya heard in another room, until free is called.
func (s *stage) elsewhere() (free func()) {
	s.bodies.Embody("main", entry.Body{Who: "aya"})
	s.bodies.Embody("other", entry.Body{Who: "aya"})
	other := s.bodies.Mouth("other")
	other.Open("aya", func() {})
	return other.Shut
}

// Whoever is heard in another room begins here once it is not: what was made meanwhile
// waits, pieces and all.
func TestALineWaitsForItsMouth(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		free := s.elsewhere()
		f := s.floor()
		if err := s.segment(s.Call(f), "One. "); err != nil {
			t.Fatal(err)
		}
		s.take(s.answer(f, "One. Two."))
		if got := looptest.Bodies[entry.Segment](s.Room, entry.KindSegment); len(got) != 0 || len(s.said()) != 0 || s.Taken() != 0 {
			t.Fatalf("it sounds: %+v", got)
		}
		free()
		synctest.Wait()
		if got := s.said(); len(got) != 1 || got[0].Text != "One. Two." || got[0].Segments != 2 || s.Taken() != 1 {
			t.Errorf("said %+v", got)
		}
	})
}

// While a human speaks nothing begins, and the room knows when to look again.
func TestALineWaitsForAHuman(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		s.Do(func() { s.Input(entry.KindSpeaking, entry.Speaking{From: "taro", On: true}) })
		if s.NextSound() != time.Hour {
			t.Error("nothing waits")
		}
		s.take(s.answer(f, "Hello."))
		ok, at := s.State().MayBegin(f.Token, s.Now())
		if next := s.NextSound(); ok || next != at.Sub(s.Clock()) || next <= 0 || len(s.said()) != 0 {
			t.Fatalf("may begin %v at %v, next %v, said %+v", ok, at, next, s.said())
		}
		s.Do(func() { s.Input(entry.KindSpeaking, entry.Speaking{From: "taro"}) })
		time.Sleep(s.NextSound())
		s.Do(func() {})
		if got := s.said(); len(got) != 1 || got[0].Text != "Hello." {
			t.Errorf("said %+v", got)
		}
	})
}

// A mouth is given back when nothing more is heard of it, and when the room ends.
func TestTheMouthIsGivenBack(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		s.elsewhere()()
		f := s.floor()
		s.Do(func() {
			other := s.bodies.Mouth("other")
			if !s.MayBegin(f) || other.Open("aya", func() {}) {
				t.Error("aya has two mouths")
			}
			s.Shut()
			if !other.Open("aya", func() {}) {
				t.Error("the mouth is not given back")
			}
		})
	})
}

// When a daemon drains nothing begins, and no call is waited for.
func TestWhatWaitsIsLetGo(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		free := s.elsewhere()
		f := s.floor()
		s.take(s.answer(f, "Hello."))
		s.Do(func() { s.drains = true })
		free()
		synctest.Wait()
		if got := s.said(); len(got) != 0 || s.Taken() != 1 || s.running.Has(s.Call(f)) || s.NextSound() != time.Hour {
			t.Errorf("said %+v", got)
		}
	})
}

// A line comes when the floor has passed on: to the same companion, then it is the line
// that is asked for; to another, then it waits for the floor.
func TestALineThatComesLate(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		a := s.answer(f, "Hello.")
		a.Grant = "the grant before"
		s.take(a)
		if got := s.said(); len(got) != 1 || got[0].Grant != f.Token || s.Taken() != 1 || s.running.Has(s.Call(f)) {
			t.Errorf("said %+v", got)
		}
	})
	play(t, func(t *testing.T, s *stage) {
		s.Room.Say("taro", "hello")
		f := s.Give("kyoko")
		a := s.answer(f, "Hello.")
		a.Grant = "the grant before"
		s.take(a)
		ws := looptest.Bodies[entry.Wish](s.Room, entry.KindWish)
		if len(ws) != 1 || ws[0].Who != "aya" || ws[0].Text != "Hello." || ws[0].Answers != a.About || len(s.said()) != 0 {
			t.Errorf("wishes %+v, said %+v", ws, s.said())
		}
		a.About++ // nobody waits for an answer to that
		s.take(a)
		if ws := looptest.Bodies[entry.Wish](s.Room, entry.KindWish); len(ws) != 1 {
			t.Errorf("wishes %+v", ws)
		}
	})
}

// Why nothing was said is written down; of a line that has begun, as why it ends.
func TestACallFails(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		a := s.answer(f, "")
		a.Line.Pass = "has nothing to say"
		s.take(a)
		fs := looptest.Bodies[entry.Failed](s.Room, entry.KindFailed)
		if len(fs) != 1 || !fs[0].Pass || fs[0].Error != "passed: has nothing to say" || fs[0].Grant != f.Token {
			t.Errorf("failed %+v", fs)
		}
	})
	for _, begun := range []bool{false, true} {
		play(t, func(t *testing.T, s *stage) {
			f := s.floor()
			if begun {
				if err := s.segment(s.Call(f), "One. "); err != nil {
					t.Fatal(err)
				}
			}
			a := s.answer(f, "")
			a.Err = context.DeadlineExceeded
			s.take(a)
			fs, said := looptest.Bodies[entry.Failed](s.Room, entry.KindFailed), s.said()
			if begun && (len(fs) != 0 || len(said) != 1 || said[0].Text != "One. " || said[0].Broken != "did not answer in time") {
				t.Errorf("failed %+v, said %+v", fs, said)
			}
			if !begun && (len(said) != 0 || len(fs) != 1 || fs[0].Code != abi.CodeTimeout || fs[0].Pass) {
				t.Errorf("failed %+v, said %+v", fs, said)
			}
		})
	}
}

// How a line is said is with its message, whether it went out in pieces, at once, or comes
// late; it is about the whole line or about nothing.
func TestHow(t *testing.T) {
	const how = `{"emotion":"joy","message":"One. Two."}`
	play(t, func(t *testing.T, s *stage) {
		f := s.floor()
		if err := s.segment(s.Call(f), "One. "); err != nil {
			t.Fatal(err)
		}
		a := s.answer(f, "One. Two. ")
		a.Line.Parameters = json.RawMessage(`{"message":"One. Two. ","emotion":"joy"}`)
		s.take(a)
		if got := s.said(); len(got) != 1 || got[0].Segments != 2 || string(got[0].Parameters) != `{"message":"One. Two. ","emotion":"joy"}` || got[0].Warning != "" {
			t.Errorf("in pieces: %+v", got)
		}
	})
	play(t, func(t *testing.T, s *stage) { // an empty line ends what its pieces said
		f := s.floor()
		if err := s.segment(s.Call(f), "One. Two."); err != nil {
			t.Fatal(err)
		}
		a := s.answer(f, "")
		a.Line.Parameters = json.RawMessage(how)
		s.take(a)
		if got := s.said(); len(got) != 1 || string(got[0].Parameters) != how {
			t.Errorf("by its pieces: %+v", got)
		}
	})
	play(t, func(t *testing.T, s *stage) { // the rest is no good text
		f := s.floor()
		if err := s.segment(s.Call(f), "One. "); err != nil {
			t.Fatal(err)
		}
		a := s.answer(f, "Two.")
		a.Line.Parameters = json.RawMessage(`{"emotion":"joy","message":"Two."}`)
		s.take(a)
		if got := s.said(); len(got) != 1 || got[0].Text != "One. " || got[0].Parameters != nil || !strings.Contains(got[0].Warning, "not the text") {
			t.Errorf("of another line: %+v", got)
		}
	})
	play(t, func(t *testing.T, s *stage) { // a line that failed has no how
		f := s.floor()
		if err := s.segment(s.Call(f), "One. "); err != nil {
			t.Fatal(err)
		}
		a := s.answer(f, "")
		a.Err = abi.Errorf(abi.CodeUnavailable, "away")
		s.take(a)
		if got := s.said(); len(got) != 1 || got[0].Parameters != nil || got[0].Warning != "" || got[0].Broken == "" {
			t.Errorf("broken off: %+v", got)
		}
	})
	play(t, func(t *testing.T, s *stage) {
		s.Room.Say("taro", "hello")
		a := s.answer(s.Give("kyoko"), "One. Two.")
		a.Grant, a.Line.Parameters = "the grant before", json.RawMessage(how)
		s.take(a)
		if ws := looptest.Bodies[entry.Wish](s.Room, entry.KindWish); len(ws) != 1 || string(ws[0].Parameters) != how {
			t.Errorf("late: %+v", ws)
		}
	})
	play(t, func(t *testing.T, s *stage) { // it was found wrong before
		f := s.floor()
		a := s.answer(f, "One. Two.")
		a.Line.Parameters, a.Warning = json.RawMessage(how), "parameters.emotion: no"
		s.take(a)
		if got := s.said(); len(got) != 1 || got[0].Parameters != nil || got[0].Warning != a.Warning {
			t.Errorf("with a warning: %+v", got)
		}
	})
}

// human has somebody say something that calls whoever is named.
func (s *stage) human(t *testing.T, from, text string, calls ...string) (seq uint64) {
	s.Do(func() {
		e, err := s.Line(rules.Line{ID: from + ": " + text, Said: entry.Said{From: from, By: abi.KindHuman, Text: text, Kind: abi.KindTurn, Addressed: calls}})
		if err != nil {
			t.Error(err)
		}
		seq = e.Seq
	})
	return seq
}

// answers gives aya the floor for a message, after those to whom nobody wants to say something.
func (s *stage) answers(t *testing.T, seq uint64) *fold.Floor {
	for range 5 {
		round := s.State().Round
		if round == nil || round.About == seq {
			break
		}
		s.Do(func() {
			for _, v := range round.Electorate {
				s.Input(entry.KindVote, entry.Voted{Round: round.ID, Voter: v.ID, Vote: abi.Vote{State: abi.Listen}})
			}
		})
	}
	f := s.Give("aya")
	if f.Subject != seq {
		t.Fatalf("the floor is for %d, not for %d", f.Subject, seq)
	}
	s.Do(func() { s.running[s.Call(f)] = call.Run{Line: true, Basis: f.Basis} })
	return f
}

// What others say to nobody keeps whoever called somebody from one line, and not from the next.
func TestCalledWhileOthersTalk(t *testing.T) {
	for name, c := range map[string]struct {
		called []string // by taro
		then   func(t *testing.T, s *stage)
		stale  bool
	}{
		"to nobody":                {[]string{"aya"}, func(t *testing.T, s *stage) { s.human(t, "mika", "noise 2"); s.human(t, "jun", "noise") }, false},
		"nobody was called":        {nil, func(t *testing.T, s *stage) { s.human(t, "mika", "noise 2") }, true},
		"another was called":       {[]string{"kyoko"}, func(t *testing.T, s *stage) { s.human(t, "mika", "noise 2") }, true},
		"somebody else calls":      {[]string{"aya"}, func(t *testing.T, s *stage) { s.human(t, "mika", "aya?", "aya"); s.human(t, "jun", "noise") }, true},
		"whoever called says more": {[]string{"aya"}, func(t *testing.T, s *stage) { s.human(t, "taro", "no, wait") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, s *stage) {
				seq := s.human(t, "taro", "are you there?", c.called...)
				f := s.answers(t, seq)
				s.human(t, "mika", "noise")
				err := s.segment(s.Call(f), "Yes. ")
				if abi.CodeOf(err) != abi.CodeStale {
					t.Fatalf("the first: %v", err)
				}
				s.take(voice.Answer{Grant: f.Token, Basis: f.Basis, About: seq, Who: "aya", Err: err})
				if c.called == nil { // what mika said is the newest that nobody answered
					seq = s.State().Round.About
				}
				f = s.answers(t, seq)
				c.then(t, s)
				err = s.segment(s.Call(f), "Yes. ")
				if c.stale {
					if abi.CodeOf(err) != abi.CodeStale {
						t.Errorf("the second: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				s.take(voice.Answer{Grant: f.Token, Basis: f.Basis, About: seq, Who: "aya", Line: abi.Line{Text: "Yes. I am."}})
				got := s.said()
				if len(got) != 1 || got[0].Text != "Yes. I am." || s.State().Turn(seq) != nil || len(s.State().Unanswered) == 0 {
					t.Errorf("said %+v; %+v waits", got, s.State().Unanswered)
				}
			})
		})
	}
}

// TestHowAPieceIsSaid: by one of the six words, whatever it is called; and so is a line.
func TestHowAPieceIsSaid(t *testing.T) {
	for name, want := range map[string]string{"": "", "喜び": "happy", "[Sad]": "sad", "smug": "neutral"} {
		play(t, func(t *testing.T, s *stage) {
			f := s.floor()
			s.Do(func() {
				if err := s.Segment("aya", s.Call(f), abi.SayAsk{Text: "Oh. ", Emotion: name}); err != nil {
					t.Error(err)
				}
			})
			a := s.answer(f, "Oh. No.")
			a.Line.Emotion = name
			s.take(a)
			pieces := looptest.Bodies[entry.Segment](s.Room, entry.KindSegment)
			if len(pieces) != 2 || pieces[0].Emotion != want || pieces[1].Emotion != want || s.said()[0].Emotion != want {
				t.Errorf("%q: %+v, %+v, want %q", name, pieces, s.said(), want)
			}
		})
	}
}
