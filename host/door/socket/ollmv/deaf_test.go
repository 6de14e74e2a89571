package ollmv

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

const interrupts = `{"type":"interrupt-signal","text":"One."}`

// speaking is a page that shows the first sentence of a line.
func speaking(t *testing.T) *stage {
	s := on(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "One. And this is the second of them, a long one."})
	if got := s.types(); got != "control conversation-chain-start|audio One.|full-text One." {
		t.Error(got)
	}
	return s
}

// stopped tells how the room ends a line at a STOP.
func (s *stage) stopped(line string) {
	s.tell(session.Passed{Entry: at(7), Upto: 7, Stop: true})
	s.tell(session.Ended{Entry: at(8), Line: line, End: entry.EndStopped})
}

// TestTheNextLineIsShown: a page that was interrupted throws away the sentences that come before it has noticed that it
// thinks anew, whoever interrupted it.
func TestTheNextLineIsShown(t *testing.T) {
	for name, interrupt := range map[string]func(s *stage){
		"by itself":               func(s *stage) { s.says(interrupts, nil); s.stopped("g") },
		"by somebody elsewhere":   func(s *stage) { s.stopped("g") },
		"where nothing was heard": func(s *stage) { s.stopped("g"); s.says(interrupts, nil) },
	} {
		s := speaking(t)
		interrupt(s)
		s.types()
		s.tell(session.Piece{Entry: at(9), ID: "n", Line: "h", Part: 1, Last: true, Text: "Next. Then."})
		if got := s.types(); got != "control conversation-chain-start" {
			t.Errorf("%s: at once: %s", name, got)
		}
		s.passes(settles)
		if got := s.types(); got != "audio Next.|full-text Next." {
			t.Errorf("%s: then: %s", name, got)
		}
		s.passes(10 * time.Second)
		if got := s.types(); got != "audio  Then.|full-text Then.|backend-synth-complete" {
			t.Errorf("%s: to the end: %s", name, got)
		}
		s.tell(session.Ended{Entry: at(10), Line: "h", End: entry.EndSaid})
		s.types()
		s.tell(session.Piece{Entry: at(11), ID: "o", Line: "i", Part: 1, Last: true, Text: "More."})
		if got := s.types(); got != "control conversation-chain-start|audio More.|full-text More." {
			t.Errorf("%s: a page that hears waits for nothing: %s", name, got)
		}
	}
}

// TestTypedOverALine: the page interrupts and says something at once, before the line has ended in the room. What comes of
// the old line then neither makes it deaf for the answer nor ends its thinking.
func TestTypedOverALine(t *testing.T) {
	s := speaking(t)
	s.says(interrupts, nil)
	s.passes(time.Minute)
	if got := s.types(); strings.Contains(got, "audio") {
		t.Errorf("it goes on: %s", got)
	}
	in := s.says(typed, func(in session.In) session.In {
		i := in.(session.Input)
		i.Seq = 9
		return i
	}).(session.Input)
	if got := s.types(); got != "control conversation-chain-start|full-text Thinking..." {
		t.Error(got)
	}
	s.stopped("g")
	s.tell(session.Said{Entry: at(9), ID: in.As, From: "taro", By: abi.KindHuman, Text: in.Text})
	if got := s.types(); got != "force-new-message" {
		t.Errorf("of the old one: %s", got)
	}
	s.passes(time.Second)
	s.tell(session.Piece{Entry: at(10), ID: "n", Line: "h", Part: 1, Last: true, Text: "Yes?"})
	if got := s.types(); got != "audio Yes?|full-text Yes?" {
		t.Error(got)
	}
}

// TestStoppedWhileItThinks: somebody else stops a line of the companion's while the page waits for an answer, which it
// shows all the same.
func TestStoppedWhileItThinks(t *testing.T) {
	s := speaking(t)
	s.says(typed, taken)
	s.types()
	s.tell(session.Ended{Entry: at(8), Line: "g", End: entry.EndCut})
	if got := s.types(); got != "interrupt-signal|backend-synth-complete|force-new-message" {
		t.Error(got)
	}
	s.tell(session.Piece{Entry: at(10), ID: "n", Line: "h", Part: 1, Last: true, Text: "Yes?"})
	s.passes(settles)
	if got := s.types(); got != "control conversation-chain-start|audio Yes?|full-text Yes?" {
		t.Error(got)
	}
}

// TestARefusedChoice: the page shows the companion that it had, and waits no more for the other.
func TestARefusedChoice(t *testing.T) {
	s := on(t)
	in, err := s.Decode([]byte(`{"type":"switch-config","file":"nobody"}`), s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.sent(s.Answer(in, abi.AsError(abi.Field("companion", abi.CodeNotFound, "there is no nobody")), s.now))
	s.want(`{"type":"error","message":"companion: there is no nobody"}`, `{"type":"set-model-and-conf","conf_name":"Aya","conf_uid":"aya","client_uid":"main/taro"}`, `{"type":"full-text","text":"Aya"}`)
}
