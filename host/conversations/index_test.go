package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// TestKeysAreFreed: when it is over they may start again at once, also where the journal was
// away, and where a kill came between.
func TestKeysAreFreed(t *testing.T) {
	stage(t, func(p *play) {
		away := abi.Errorf(abi.CodeUnavailable, "away")
		stop := p.runs()
		one := p.start("a", conversations.Ask{Targets: []string{"b"}})
		p.trouble(on("dissolve", away), fine)
		if _, err := p.End(p.Context(), in("a"), one, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Start(p.Context(), in("b"), conversations.Ask{Targets: []string{"a"}}); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Minute)
		p.trouble(fine, fine)
		time.Sleep(2 * time.Minute)
		if !slices.Contains(p.freed(), one) {
			t.Errorf("dissolved: %q", p.freed())
		}
		two := p.start("b", conversations.Ask{Targets: []string{"a"}})
		stop()
		if _, err := p.End(p.Context(), in("b"), two, ""); err != nil {
			t.Fatal(err)
		}
		p.begin() // what was left is done by whoever starts, or by Run
		three := p.start("b", conversations.Ask{Targets: []string{"a"}})
		if slices.Index(p.freed(), two) < 0 || three == two {
			t.Errorf("dissolved: %q", p.freed())
		}
		e, err := p.Earlier(p.Context(), three)
		if err != nil || e == nil || e.ID != two || e.Ending == nil || e.Ending.By != "b" {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// TestHalfAConversation is begun by the next daemon, or by whoever wants the same: a kill left
// its key, or the answer to its start did not come.
func TestHalfAConversation(t *testing.T) {
	for _, what := range []string{"begin", "convene"} {
		for _, restart := range []bool{false, true} {
			stage(t, func(p *play) {
				p.depart("b")
				lost := abi.Errorf(abi.CodeTimeout, "no answer")
				if what == "begin" {
					p.trouble(on(what, lost), fine)
				} else {
					p.trouble(fine, on(what, lost))
				}
				if _, err := p.Start(p.Context(), in("a"), conversations.Ask{Targets: []string{"b"}}); !errors.Is(err, lost) {
					t.Fatal(err)
				}
				p.trouble(fine, fine)
				if restart {
					p.begin()
					if len(p.invited) != 1 {
						t.Errorf("invited: %q", p.invited)
					}
				}
				_, err := p.Start(p.Context(), in("b"), conversations.Ask{Targets: []string{"a"}})
				p.refused(err, conversation.AlreadyActive, "conv_")
				if a := p.next("b"); a.Do != conversations.DoRequest || a.View.Initiator() != "a" {
					t.Errorf("%+v", a)
				}
			})
		}
	}
}

// TestGone ends what the member was in, unless it has a session again; what a room could not
// take is said again.
func TestGone(t *testing.T) {
	stage(t, func(p *play) {
		stop := p.runs()
		defer stop()
		id := p.start("a", conversations.Ask{Targets: []string{"b"}})
		p.says("b", id, "hello")
		p.Gone(p.Context(), in("b"))
		p.is("a", conversations.DoRead, id)
		p.reads("a")
		p.is("a", conversations.DoWait, "")
		p.depart("b")
		p.trouble(on("gone", abi.Errorf(abi.CodeUnavailable, "away")), fine)
		p.Gone(p.Context(), in("b"))
		p.is("a", conversations.DoWait, "")
		p.trouble(fine, fine)
		time.Sleep(10 * time.Second)
		p.ended("a", id, "b", conversation.SessionExpired)
		p.is("b", conversations.DoWait, "")
	})
}

// TestExpected: whoever takes part, or is to be told, may come back; neither those who never
// came, nor those who are gone, nor those whom the house tells.
func TestExpected(t *testing.T) {
	stage(t, func(p *play) {
		expected := func(want ...string) {
			t.Helper()
			p.begin()
			var got []string
			for _, m := range p.Expected() {
				got = append(got, m.Agent)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%q may come back; want %q", got, want)
			}
		}
		id := p.start("a", conversations.Ask{Targets: []string{"b"}})
		chat := p.start("human", conversations.Ask{Targets: []string{"c"}})
		expected("a")
		p.says("b", id, "hello")
		p.says("c", chat, "hello")
		expected("a", "b", "c")
		p.depart("b")
		p.Gone(p.Context(), in("b"))
		expected("a", "c")
	})
}

// TestWhatWasNotTold is found by who sees that something is missing: a message that is in the
// journal is handed out, and nobody who left hears more.
func TestWhatWasNotTold(t *testing.T) {
	stage(t, func(p *play) {
		stop := p.runs()
		defer stop()
		id := p.start("a", conversations.Ask{Targets: []string{"b", "c"}, Text: "one"})
		if _, err := p.Join(p.Context(), in("c"), id); err != nil {
			t.Fatal(err)
		}
		p.hush(true)
		if s := p.says("b", id, "two"); s.View.Turns != 2 || s.View.State != conversation.Active {
			t.Errorf("%+v", s.View)
		}
		if _, err := p.End(p.Context(), in("c"), id, ""); err != nil {
			t.Fatal(err)
		}
		p.hush(false)
		p.says("a", id, "three")
		synctest.Wait()
		for who, want := range map[string][]string{"a": {"two"}, "b": {"one", "three"}, "c": {"one", "two"}} {
			if got := p.reads(who); !slices.Equal(got, want) {
				t.Errorf("%s reads %q; want %q", who, got, want)
			}
		}
	})
}

// TestListAndHistory: of old ones as well, and newest first.
func TestListAndHistory(t *testing.T) {
	stage(t, func(p *play) {
		var ids []string
		for i := range 5 {
			id := p.start("a", conversations.Ask{Targets: []string{"b"}, Text: fmt.Sprint("text ", i), Purpose: fmt.Sprint("purpose ", i)})
			ids = append([]string{id}, ids...)
			time.Sleep(time.Second)
			if i < 4 {
				_, _ = p.Decline(p.Context(), in("b"), id, "")
				p.reads("b")
				p.ended("a", id, "b", conversation.WasDeclined)
				p.ended("b", id, "b", conversation.WasDeclined)
			}
		}
		list := func(f conversations.Filter) (got []string) {
			t.Helper()
			views, err := p.List(p.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range views {
				got = append(got, v.ID)
			}
			return got
		}
		for range 2 {
			for _, c := range []struct {
				f    conversations.Filter
				want []string
			}{
				{conversations.Filter{}, ids},
				{conversations.Filter{Project: "p", Agent: "b", Limit: 2}, ids[:2]},
				{conversations.Filter{Before: ids[1], Limit: 2}, ids[2:4]},
				{conversations.Filter{State: conversation.Declined}, ids[1:]},
				{conversations.Filter{State: conversation.Pending}, ids[:1]},
				{conversations.Filter{Agent: "c"}, nil},
				{conversations.Filter{Project: "q"}, nil},
			} {
				if got := list(c.f); !slices.Equal(got, c.want) {
					t.Errorf("%+v: %q; want %q", c.f, got, c.want)
				}
			}
			e, err := p.Earlier(p.Context(), ids[0])
			if err != nil || e == nil || e.ID != ids[1] || e.Purpose != "purpose 3" || e.Turns != 1 || len(e.Last) != 1 || e.Last[0].Text != "text 3" || e.Ended.IsZero() {
				t.Errorf("%+v, %v", e, err)
			}
			if e, err := p.Earlier(p.Context(), ids[4]); e != nil || err != nil {
				t.Errorf("%+v, %v", e, err)
			}
			msgs, head, err := p.History(p.Context(), ids[2], 0, 0)
			if err != nil || len(msgs) != 1 || msgs[0].Text != "text 2" || head < msgs[0].Seq {
				t.Errorf("%+v, %d, %v", msgs, head, err)
			}
			p.begin()
		}
		_, err := p.List(p.Context(), conversations.Filter{Before: "conv_no"})
		p.refused(err, conversation.Invalid, "before")
		_, err = p.List(p.Context(), conversations.Filter{Limit: 102})
		p.refused(err, conversation.Invalid, "limit")
		_, _, err = p.History(p.Context(), "conv_no", 0, 0)
		p.refused(err, conversation.NotFound, "")
		_, err = p.Earlier(p.Context(), "conv_no")
		p.refused(err, conversation.NotFound, "")
		_, err = p.End(p.Context(), in("c"), "", "")
		p.refused(err, conversation.NoneActive, "")
		_, err = p.End(p.Context(), in("c"), ids[0], "")
		p.refused(err, conversation.NotParticipant, "")
	})
}

// TestProjects: one is found for an agent that is in one alone.
func TestProjects(t *testing.T) {
	stage(t, func(p *play) {
		if got, err := p.ProjectOf("b"); got != "p" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		_, err := p.ProjectOf("a")
		p.refused(err, conversation.Invalid, `["p" "q"]`)
		_, err = p.ProjectOf("nobody")
		p.refused(err, conversation.Invalid, "in no project")
		if _, ok := p.Project("r"); ok {
			t.Error("there is a project r")
		}
	})
}

// TestFollow tells each change of state with who is not here, and drops whoever is too slow.
func TestFollow(t *testing.T) {
	stage(t, func(p *play) {
		var told []string
		over := errors.New("over")
		done := make(chan error)
		go func() {
			done <- p.Follow(p.Context(), "p", func(n conversations.Notice) error {
				told = append(told, fmt.Sprint(n.State, n.Absent))
				if n.State == conversation.Ended {
					return over
				}
				return nil
			})
		}()
		slow, block := make(chan error), make(chan struct{})
		go func() {
			slow <- p.Follow(p.Context(), "", func(conversations.Notice) error { <-block; return nil })
		}()
		go func() {
			if err := p.Follow(p.Context(), "q", func(n conversations.Notice) error { t.Error(n); return nil }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
		synctest.Wait()
		p.depart("b")
		id := p.start("a", conversations.Ask{Targets: []string{"b", "c"}, Text: "hello"})
		synctest.Wait()
		p.says("b", id, "hello")
		p.says("a", id, "again")
		p.depart("a")
		p.depart("c")
		if _, err := p.End(p.Context(), in("a"), id, ""); err != nil {
			t.Fatal(err)
		}
		p.Gone(p.Context(), in("a"))
		p.Gone(p.Context(), in("b"))
		if err := <-done; err != over || strings.Join(told, " ") != "pending[b] active[] terminating[] ended[]" {
			t.Errorf("%q, %v", told, err)
		}
		for range 300 {
			id := p.start("a", conversations.Ask{Targets: []string{"b"}})
			_, _ = p.Decline(p.Context(), in("b"), id, "")
		}
		close(block)
		if err := <-slow; abi.CodeOf(err) != abi.CodeExhausted {
			t.Error(err)
		}
	})
}
