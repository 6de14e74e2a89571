package aituberkit

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

// Of what had happened when the client came nothing is spoken that was over, whatever it ended
// by; what is still being said is, from its beginning.
func TestWhatWasOverIsNotSpoken(t *testing.T) {
	s := on(t)
	s.f.Follow()
	s.hello()
	mine := session.MessageID(wire, s.f.speaker, "msg_a")
	over := once("g2", "Nobody heard me.", "")
	over.Over = true
	for _, o := range []session.Out{
		once("g1", "One. Two.", mine),
		end("g1", entry.EndSaid),
		over,
		session.Piece{Entry: at(12), ID: "w", Text: "mhm"}, // a listener's word
		once("g3", "Stopped. Line.", ""),
		session.Passed{Entry: at(14), Upto: 14, Stop: true},
		end("g3", entry.EndStopped),
		session.Piece{Entry: at(15), ID: "p", Line: "g4", Part: 1, Text: "In pieces. And"},
		session.Whole{Entry: at(16), Line: "g4", Parts: 1, End: entry.EndSaid},
		session.Piece{Entry: at(17), ID: "p", Line: "g5", Part: 1, Text: "I go on. And"},
	} {
		s.tell(o)
	}
	s.passes(time.Minute)
	s.says(`{"version":"2","id":"p","type":"ping","payload":{}}`, nil)
	if got := s.types(); got != "pong p" {
		t.Errorf("before it has caught up: %q", got)
	}
	s.tell(session.Live{})
	if got := s.types(); got != "chat.done msg_a|chat.start line_g5|chat.delta line_g5 I go on." {
		t.Error(got)
	}
	s.tell(once("g6", "After that.", ""))
	if got := s.types(); !strings.Contains(got, "chat.delta line_g6 After that.") {
		t.Error(got)
	}
}

// A STOP of before is none of what the client says meanwhile.
func TestAnOldStopEndsNothingNew(t *testing.T) {
	s := on(t)
	s.f.Follow()
	s.hello()
	in := s.says(hi, nil).(session.Input)
	s.tell(session.Passed{Entry: at(3), Upto: 3, Stop: true})
	s.tell(session.Said{Entry: at(5), ID: in.As, From: "mika", By: abi.KindHuman, Text: in.Text})
	s.tell(session.Live{})
	s.tell(once("g1", "Hello.", in.As))
	if got := s.types(); got != "ack msg_b|chat.start msg_b|chat.delta msg_b Hello.|chat.done msg_b" {
		t.Error(got)
	}
}

// A message that is sent again when its answer is over is done at once, and one whose answer is
// still told is done with that.
func TestSentAgainWhenItIsOver(t *testing.T) {
	s := on(t)
	s.hello()
	in := s.says(hi, nil).(session.Input)
	again := func() {
		in.Seq, in.Over = 5, true
		s.sent(s.f.Answer(in, nil, s.now))
	}
	s.tell(once("g1", "One. Two.", in.As))
	s.got = nil
	again()
	if got := s.types(); got != "ack msg_b" {
		t.Errorf("while it is told: %q", got)
	}
	s.passes(time.Minute)
	s.tell(end("g1", entry.EndSaid))
	s.passes(slow) // in which it may still tell that it has spoken
	s.got = nil
	again()
	if got := s.types(); got != "ack msg_b|chat.done msg_b" || !s.f.Due().IsZero() {
		t.Errorf("then: %q", got)
	}
	in.Over = false // said by an earlier connection, and nobody has answered
	s.sent(s.f.Answer(in, nil, s.now))
	s.tell(session.Passed{Entry: at(30), Upto: 5})
	if got := s.types(); got != "ack msg_b|chat.done msg_b" {
		t.Errorf("nobody answers: %q", got)
	}
}

// Ids of messages do not tell whose they are without the key of the house; those of before, which
// did, are still known.
func TestIDsDoNotTellTheName(t *testing.T) {
	s := on(t)
	s.hello()
	for _, message := range []string{hi, `{"version":"2","id":"あ","type":"chat.message","payload":{"text":"a"}}`, `{"content":"hi","type":"chat"}`} {
		as := s.says(message, nil).(session.Input).As
		other := New("main", "mika", []byte("another house"))
		if strings.Contains(as, short("mika")) || strings.Contains(as, other.speaker) || !strings.Contains(as, New("side", "mika", secret).speaker) {
			t.Errorf("%s", as)
		}
	}
	s = on(t)
	s.hello()
	s.tell(once("g1", "Yes?", "atk."+short("mika")+".msg_b"))
	if got := s.types(); got != "chat.start msg_b|chat.delta msg_b Yes?|chat.done msg_b" {
		t.Errorf("an id of before: %s", got)
	}
}

// Whatever a client sends while it is told what had happened, none of that is spoken, and nothing
// is left.
func FuzzPast(f *testing.F) {
	f.Add([]byte(hi), []byte(`{"version":"2","id":"x","type":"control.cancel"}`))
	f.Add([]byte(`{"content":"hi","type":"chat"}`), []byte(`{"version":"2","id":"x","type":"character.speech.done","requestId":"line_g"}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := on(t)
		s.f.Follow()
		s.tell(once("g", "One. Two. Three.", session.MessageID(wire, s.f.speaker, "msg_b")))
		s.says(string(one), nil)
		s.tell(end("g", entry.EndSaid))
		s.says(string(two), nil)
		s.tell(session.Passed{Entry: at(30), Upto: 30, Stop: true})
		s.tell(session.Live{})
		s.says(string(one), nil)
		s.passes(time.Hour)
		if len(s.f.lines)+len(s.f.waiting)+len(s.f.owed) != 0 || !s.f.Due().IsZero() {
			t.Fatal("something is left")
		}
		if got := strings.Join(s.got, ""); strings.Contains(got, "One.") || strings.Count(got, `"chat.done"`) > 8 {
			t.Fatal(got)
		}
	})
}
