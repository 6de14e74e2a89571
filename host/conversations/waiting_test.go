package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// TestWaiting gives ten at a time with what went before, comes again until it is
// acknowledged, and knows whose cursors are whose.
func TestWaiting(t *testing.T) {
	stage(t, func(p *play) {
		ab := p.start("a", conversations.Ask{Targets: []string{"b"}, MaxTurns: 40})
		cb := p.start("c", conversations.Ask{Targets: []string{"b"}, MaxTurns: 40})
		for i := range 12 {
			p.says("a", ab, fmt.Sprint("a", i))
			time.Sleep(time.Second)
			p.says("c", cb, fmt.Sprint("c", i))
			time.Sleep(time.Second)
		}
		waiting := func() conversations.Waiting {
			p.Helper()
			w, err := p.Waiting(p.Context(), in("b"))
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		if a := p.next("b"); a.Do != conversations.DoRequest {
			t.Errorf("%+v", a)
		}
		if a := p.is("b", conversations.DoRead, ab); a.Unread != 24 {
			t.Errorf("%d unread", a.Unread)
		}
		first := waiting()
		if again := waiting(); !slices.Equal(textsOf(again.New), textsOf(first.New)) || again.Cursor != first.Cursor {
			t.Errorf("%+v; before it was %+v", again, first)
		}
		if got := strings.Join(textsOf(first.New), " "); got != "a0 c0 a1 c1 a2 c2 a3 c3 a4 c4" || first.Total != 24 || len(first.Context) != 0 {
			t.Errorf("%s, %d in all, context %v", got, first.Total, textsOf(first.Context))
		}
		p.ack("b", first.Cursor)
		p.says("b", ab, "b0")
		second := waiting()
		if got := strings.Join(textsOf(second.New), " "); got != "a5 c5 a6 c6 a7 c7 a8 c8 a9 c9" || second.Total != 14 {
			t.Errorf("%s, %d in all", got, second.Total)
		}
		if got := strings.Join(textsOf(second.Context), " "); got != "a0 c0 a1 c1 a2 c2 a3 c3 a4 c4" {
			t.Errorf("context %s", got)
		}
		p.begin() // a crash: the cursor is good all the same
		p.ack("b", second.Cursor)
		written := len(p.hall(ab).journal)
		p.ack("b", first.Cursor) // an old one changes nothing
		p.ack("b", second.Cursor)
		if n := len(p.hall(ab).journal); n != written {
			t.Errorf("%d entries, before it were %d", n, written)
		}
		third := waiting()
		if got := strings.Join(textsOf(third.New), " "); got != "a10 c10 a11 c11" || third.Total != 4 || len(third.Context) != 20 {
			t.Errorf("%s, %d in all, %d before", got, third.Total, len(third.Context))
		}
		p.ack("b", third.Cursor)
		if w := waiting(); len(w.New)+len(w.Context)+w.Total != 0 || w.Cursor != "" {
			t.Errorf("%+v", w)
		}
		if w, _ := p.Waiting(p.Context(), in("a")); len(w.New) != 1 || len(w.Context) != 12 {
			t.Errorf("a: %v after %v", textsOf(w.New), textsOf(w.Context))
		}
		for _, wrong := range []string{"x", ab, ab + ":x", ab + ":999", ab + ":end", "conv_no:3", third.Cursor + ",", cb + ":3"} {
			who := "b"
			if wrong == cb+":3" {
				who = "a"
			}
			p.refused(p.Acknowledge(p.Context(), in(who), wrong), conversation.Invalid, "acknowledge")
		}
		p.refused(p.Acknowledge(p.Context(), conversations.Member{Project: "q", Agent: "b"}, third.Cursor), conversation.Invalid, "")
	})
}

// TestLongPolls wait no longer than 45 seconds, and end at once with a message, a request, an
// ending, and where the other one has come.
func TestLongPolls(t *testing.T) {
	stage(t, func(p *play) {
		begun := time.Now()
		if a := p.nextWithin("a", time.Hour); a.Do != conversations.DoWait || time.Since(begun) != conversations.MaxWait {
			t.Errorf("%+v after %v", a, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(p.Context(), time.Second)
		defer cancel()
		if _, err := p.Next(ctx, in("a"), new(conversations.Seen), time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		var id string
		for _, c := range []struct {
			who  string
			do   func()
			want conversations.Doing
			then func()
		}{
			{"b", func() { id = p.start("a", conversations.Ask{Targets: []string{"b"}}) }, conversations.DoRequest, nil},
			{"b", func() { p.says("a", id, "hello") }, conversations.DoRead, func() { p.reads("b") }},
			{"a", func() { _, _ = p.Join(p.Context(), in("b"), id) }, conversations.DoWait, nil},
			{"a", func() { p.says("b", id, "hello") }, conversations.DoRead, func() { p.reads("a") }},
			{"b", func() { _, _ = p.End(p.Context(), in("a"), id, "") }, conversations.DoEnded, nil},
		} {
			got := make(chan conversations.Action)
			begun := time.Now()
			go func() { got <- p.nextWithin(c.who, time.Minute) }()
			time.Sleep(10 * time.Second)
			c.do()
			a := <-got
			if a.Do != c.want || a.View.ID != id || time.Since(begun) != 10*time.Second {
				t.Errorf("%s is to %s %s after %v; want %s %s", c.who, a.Do, a.View.ID, time.Since(begun), c.want, id)
			}
			if c.then != nil {
				c.then()
			}
		}
		p.ended("a", id, "a", conversation.InitiatorEnded)
		p.ended("b", id, "a", conversation.InitiatorEnded)
		p.nextWithin("c", time.Second)
		if n := p.Seats(); n != 0 {
			t.Errorf("something is kept for %d agents", n)
		}
	})
}

// TestStartsFromBothSides at once open one conversation of each two, and the other is told which.
func TestStartsFromBothSides(t *testing.T) {
	h := newHouse()
	c := h.open(t)
	const pairs = 1000
	ids := make([][2]string, pairs)
	var wg sync.WaitGroup
	for i := range pairs {
		for side := range 2 {
			who := []string{fmt.Sprint("x", 2*i), fmt.Sprint("x", 2*i+1)}
			wg.Go(func() {
				v, err := c.Start(t.Context(), in(who[side]), conversations.Ask{Targets: []string{who[1-side]}, Text: "hello"})
				var f *conversation.Fault
				switch {
				case err == nil:
					ids[i][side] = "+" + v.ID
				case errors.As(err, &f) && f.Code == conversation.AlreadyActive:
					ids[i][side] = "-" + f.Detail
				default:
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for i, of := range ids {
		if of[0] == "" || of[1] == "" || of[0][0] == of[1][0] || of[0][1:] != of[1][1:] {
			t.Errorf("pair %d: %q", i, of)
		}
	}
	if len(h.halls) != pairs {
		t.Errorf("%d rooms", len(h.halls))
	}
}

// TestWhoLeavesAGroup is told of to those who go on, each once, also while they wait.
func TestWhoLeavesAGroup(t *testing.T) {
	stage(t, func(p *play) {
		id := p.start("a", conversations.Ask{Targets: []string{"b", "c"}})
		p.says("b", id, "hello")
		p.says("c", id, "hello")
		p.reads("a")
		told := make(chan conversations.Action, 1)
		seen := new(conversations.Seen)
		for {
			a, err := p.Next(p.Context(), in("a"), seen, 0)
			if err != nil {
				t.Fatal(err)
			}
			if a.Do == conversations.DoWait && a.View.ID == "" {
				break
			}
			w, _ := p.Waiting(p.Context(), in("a"))
			p.ack("a", w.Cursor)
		}
		go func() {
			a, _ := p.Next(p.Context(), in("a"), seen, conversations.MaxWait)
			told <- a
		}()
		synctest.Wait()
		if _, err := p.End(p.Context(), in("b"), id, ""); err != nil {
			t.Fatal(err)
		}
		if a := <-told; a.Do != conversations.DoWait || a.View.ID != id || !slices.Equal(a.Left, []string{"b"}) {
			t.Errorf("%+v", a)
		}
		if a, err := p.Next(p.Context(), in("a"), seen, 0); err != nil || a.View.ID != "" {
			t.Errorf("once more: %+v %v", a, err)
		}
	})
}
