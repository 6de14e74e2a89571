package socket_test

import (
	"strings"
	"testing"
	"time"
)

// A page that begins behind an old entry speaks nothing of what was over when it came: somebody
// else may be heard now. What comes then it speaks.
func TestAFrontSpeaksNothingThatWasOver(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya := s.play("aya", "?from=taro", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(time.Minute)
		if f := aya.came(); strings.Count(f, "chat.delta") != 3 {
			t.Fatal(f)
		}
		aya.send("chat.message", "msg_2", `"text":"And you, aya?"`)
		time.Sleep(time.Second)
		aya.send("control.cancel", "msg_2", "")
		time.Sleep(time.Minute)
		late := s.play("aya", "?from=hana&since=0", "")
		time.Sleep(time.Minute)
		if f := late.came(); f != "" {
			t.Errorf("a page that came late gets %s", f)
		}
		late.send("chat.message", "msg_3", `"text":"Hello again, aya!"`)
		time.Sleep(time.Second)
		if f := late.came(); !strings.HasPrefix(f, "ack|chat.start|chat.delta I am aya") {
			t.Errorf("what is said then: %s", f)
		}
	})
}

// A message that is sent again when its line has ended is done at once, on the same connection and
// on a new one.
func TestAFrontSendsAgain(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya := s.play("aya", "?from=taro", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(5 * time.Minute)
		aya.came()
		for _, p := range []*player{aya, s.play("aya", "?from=taro", "")} {
			p.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
			if f := p.came(); f != "ack|chat.done" {
				t.Error(f)
			}
		}
		if n := len(s.people()); n != 1 {
			t.Errorf("it was said %d times", n)
		}
		aya.send("chat.message", "msg_2", `"text":"Hush, aya!"`)
		time.Sleep(time.Second)
		aya.send("control.cancel", "msg_2", "")
		aya.came()
		aya.send("chat.message", "msg_2", `"text":"Hush, aya!"`)
		if f := aya.came(); f != "ack|chat.done" {
			t.Errorf("after a STOP: %s", f)
		}
	})
}
