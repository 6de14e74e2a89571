package trouble_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/model/trouble"
)

// TestAnAnswerOfNoUse says nothing of the characters, and is told once until there is one that is.
func TestAnAnswerOfNoUse(t *testing.T) {
	told := new(logtest.Log)
	l := &trouble.Log{Log: told.Logger(), Model: "main"}
	for i, step := range []struct {
		do    func()
		lines int
	}{
		{func() { l.Useless("verified", "no verdict") }, 1}, {func() { l.Answered("vote") }, 1}, {func() { l.Useless("verified", "another") }, 1},
		{func() { l.Useless("remember", "no facts") }, 2}, {func() { l.Answered("verified") }, 2}, {func() { l.Useless("verified", "no verdict") }, 3},
	} {
		step.do()
		if n := told.Count("cannot be used"); n != step.lines {
			t.Errorf("step %d: %d lines, want %d: %s", i+1, n, step.lines, told)
		}
	}
	if told.Count("does not answer") > 0 || told.Count("answers again") > 0 || told.Count("asked_for=verified") != 2 {
		t.Errorf("%s", told)
	}
}

// TestAModelThatComesAndGoes writes a few lines a minute, and in the end what is so.
func TestAModelThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := new(logtest.Log)
		l := &trouble.Log{Log: told.Logger(), Model: "main"}
		lines := func() int { return told.Count("the model does not answer") + told.Count("the model answers again") }
		for i := range 6000 { // ten minutes
			if l.Away(fmt.Sprint("status ", i)); i%2 == 0 {
				l.Answered("vote")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := lines(); n > 66 || n < 20 {
			t.Errorf("%d lines", n)
		}
		time.Sleep(time.Minute)
		before := told.Count("the model answers again")
		l.Away("status 500")
		l.Answered("vote")
		l.Answered("vote")
		if n := told.Count("the model answers again"); n != before+1 || told.Count("left_out=") == 0 {
			t.Errorf("%d times it answers again, before that %d", n, before)
		}
	})
}
