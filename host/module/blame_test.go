package module_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

// Answers that break the rules of their op reach the log and the status.
func TestUselessAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logtest.Log
		c := begin(moduletest.Answering("x"), module.Limits{}, &book)
		defer c.Close()
		dance := abi.Vote{State: "dance"}.Check()
		if s := c.Status(time.Now()); s.Error != "" {
			t.Errorf("blamed for nothing: %s", s.Error)
		}
		for range 60 { // half a minute
			c.Blame(abi.OpVote, dance)
			time.Sleep(500 * time.Millisecond)
		}
		said := func(want int) {
			t.Helper()
			if n := book.Count("an answer was of no use"); n != want || book.Count("level=WARN") != want {
				t.Errorf("the log says it %d times, want %d:\n%s", n, want, &book)
			}
		}
		said(1)
		if !strings.Contains(book.String(), `companion=aya`) || !strings.Contains(book.String(), "dance") {
			t.Errorf("the log says %s", &book)
		}
		s := c.Status(time.Now())
		if s.State != module.StateReady || s.Faults != 0 || !strings.HasPrefix(s.Error, "60 answers were of no use, last: vote: vote.state: \"dance\"") {
			t.Errorf("status %+v", s)
		}
		c.Blame(abi.OpSpeak, dance) // another kind
		said(2)
		c.Blame(abi.OpVote, abi.Vote{State: abi.State(strings.Repeat("踊", 1000) + "\n")}.Check()) // the first kind in other words
		said(2)
		if got := c.Status(time.Now()).Error; len(got) > 500 {
			t.Errorf("the status has %d bytes of a guest's words", len(got))
		}
		time.Sleep(31 * time.Second)
		c.Blame(abi.OpVote, dance)
		said(3)
		for i := range 100 { // a guest that makes up codes
			c.Blame(abi.OpVote, abi.Errorf(abi.Code(fmt.Sprint("code", i)), "x"))
		}
		said(3 + 14)                                    // with the two kinds of this minute, 16
		retire := swap(c, 2, moduletest.Answering("y")) // what the old one did is not the new one's
		retired(t, retire)
		if s := c.Status(time.Now()); s.Error != "" {
			t.Errorf("status of the next generation: %s", s.Error)
		}
		c.Blame(abi.OpVote, dance)
		if s := c.Status(time.Now()); !strings.HasPrefix(s.Error, "one answer was of no use: vote: ") {
			t.Errorf("status %+v", s)
		}
	})
}

func retired(t *testing.T, retire func(time.Duration) (bool, error)) {
	t.Helper()
	if drained, err := retire(time.Second); !drained || err != nil {
		t.Errorf("retired: %v, %v", drained, err)
	}
}

// TestNoHalfOfASecret: what is shortened for the log and the status has lost its secrets by then.
func TestNoHalfOfASecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logtest.Log
		c := begin(moduletest.Answering("x"), module.Limits{}, &book)
		defer c.Close()
		c.Hide(func(text string) string { return strings.ReplaceAll(text, "hunter2", "(secret)") })
		c.Blame(abi.OpVote, abi.Errorf(abi.CodeInvalid, "%s hunter2", strings.Repeat("x", 295)))
		if told := book.String() + c.Status(time.Now()).Error; strings.Contains(told, "hun") || !strings.Contains(told, " (sec") {
			t.Error(told)
		}
	})
}
