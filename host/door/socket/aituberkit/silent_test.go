package aituberkit

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

const (
	started = `{"version":"2","id":"x","type":"character.speech.start","requestId":"line_g"}`
	ended   = `{"version":"2","id":"x","type":"character.speech.done","requestId":"line_g"}`
	three   = "これは一つ目のとても長い文です、よく聞いてください。二つ目です。三つ目です。"
)

// own gives what the wire tells the room by itself.
func (s *stage) own() (all []session.In) {
	for in := s.f.Own(); in != nil; in = s.f.Own() {
		all = append(all, in)
	}
	return all
}

// What the client did not get of a line that the room waits for no longer is not sent, and the room is
// told when a sentence that it has must be over.
func TestASilencedFront(t *testing.T) {
	for _, how := range []entry.End{entry.EndFailed, entry.EndSaid} {
		s := on(t)
		s.hello()
		s.tell(once("g", three, ""))
		s.says(started, nil)
		s.says(ended, nil)
		s.passes(9 * time.Second) // in its second sentence it falls silent
		s.got = nil
		s.tell(session.Ended{Entry: at(20), Line: "g", End: how, Missed: true})
		if got := s.types(); got != "chat.done line_g" {
			t.Errorf("%s: %q", how, got)
		}
		if all := s.own(); len(all) != 0 {
			t.Errorf("%s: it may sound, and the room is told %+v", how, all)
		}
		s.passes(5 * time.Second)
		if all := s.own(); len(all) != 1 || all[0] != (session.Played{Line: "g", Done: true}) {
			t.Errorf("%s: then %+v", how, all)
		}
		s.passes(time.Minute)
		if s.want(); !s.f.Due().IsZero() {
			t.Errorf("%s: something is left", how)
		}
	}
}

// A room waits for twice as long as all takes, and a little: nothing goes out by itself before
// that is over, nor while the end of a sentence is waited for that somebody speaks over.
func TestNothingGoesOutByItself(t *testing.T) {
	s := on(t)
	s.hello()
	s.tell(once("g", strings.Repeat("二つ目です。", 8), ""))
	var all time.Duration
	for _, x := range s.f.lines[0].all {
		all += x.long
	}
	s.got = nil
	s.passes(2*all + 5*time.Second)
	s.want()
	s.passes(s.f.Due().Sub(s.now) - time.Second)
	s.tell(session.Said{Entry: at(12), ID: "m", From: "taro", By: abi.KindHuman, Text: "wait", Over: true})
	s.passes(10 * time.Second)
	s.want()
	s.passes(time.Minute)
	if got := s.types(); !strings.Contains(got, "二つ目です。") {
		t.Errorf("in the end: %q", got)
	}
}

// One that tells nothing of two lines gets the next by its length; if it has told before, it is waited
// for as soon as it says that it has a sentence.
func TestAFrontThatTellsAgain(t *testing.T) {
	for _, told := range []bool{false, true} {
		s := on(t)
		s.hello()
		for _, id := range []string{"1", "2", "g"} {
			s.tell(once(id, three, ""))
			if id == "1" && told {
				s.says(strings.Replace(ended, "line_g", "line_1", 1), nil)
			}
			if id != "g" {
				s.passes(40 * time.Second)
				s.tell(session.Ended{Entry: at(20), Line: id, End: entry.EndFailed, Missed: true})
			}
		}
		s.got = nil
		in := s.says(started, nil)
		if (in == session.Played{Line: "g"}) != told {
			t.Errorf("told before %v: %+v", told, in)
		}
		if again := s.says(started, nil); again != nil {
			t.Errorf("once more: %+v", again)
		}
		s.passes(9 * time.Second)
		if got := s.types(); (got == "") != told {
			t.Errorf("told before %v: %q", told, got)
		}
	}
}
