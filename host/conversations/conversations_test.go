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

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// play is a house with its conversations, in which time is virtual.
type play struct {
	*testing.T
	*house
	*conversations.Conversations
	invited []string
	seen    map[string]*conversations.Seen
}

func stage(t *testing.T, fn func(p *play)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &play{T: t, house: newHouse(), seen: map[string]*conversations.Seen{}}
		p.arrive("a", "b", "c")
		p.begin()
		fn(p)
	})
}

// begin is a daemon that starts: nothing is known but what the journals say.
func (p *play) begin() {
	p.Helper()
	p.Conversations = p.house.open(p.T, func(c *conversations.Config) {
		c.Invite = func(i conversations.Invitation) {
			p.invited = append(p.invited, fmt.Sprintf("%s by %s to %s: %s", i.Agent, i.From, i.Conversation, i.Purpose))
		}
	})
	clear(p.seen)
}

// runs lets Run work until the test is over.
func (p *play) runs() (stop func()) {
	ctx, cancel := context.WithCancel(p.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Conversations.Run(ctx); err != nil {
			p.Error(err)
		}
	}()
	return func() { cancel(); <-done }
}

func (p *play) refused(err error, code, detail string) {
	p.Helper()
	var f *conversation.Fault
	if !errors.As(err, &f) || f.Code != code || !strings.Contains(f.Detail, detail) {
		p.Errorf("%v; want %s (%s)", err, code, detail)
	}
}

func (p *play) start(from string, a conversations.Ask) string {
	p.Helper()
	v, err := p.Start(p.Context(), in(from), a)
	if err != nil {
		p.Fatal(err)
	}
	return v.ID
}

func (p *play) says(from, id, text string) conversations.Said {
	p.Helper()
	s, err := p.Say(p.Context(), in(from), conversations.Words{Conversation: id, Text: text})
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// next gives what somebody is to do now, as in the same session.
func (p *play) next(who string) conversations.Action {
	p.Helper()
	return p.nextWithin(who, 0)
}

func (p *play) nextWithin(who string, wait time.Duration) conversations.Action {
	p.Helper()
	if p.seen[who] == nil {
		p.seen[who] = new(conversations.Seen)
	}
	a, err := p.Next(p.Context(), in(who), p.seen[who], wait)
	if err != nil {
		p.Fatal(err)
	}
	return a
}

// is demands what somebody is to do now, and about which conversation.
func (p *play) is(who string, do conversations.Doing, id string) conversations.Action {
	p.Helper()
	a := p.next(who)
	if a.Do != do || a.View.ID != id {
		p.Fatalf("%s is to %s %q (%+v); want %s %q", who, a.Do, a.View.ID, a, do, id)
	}
	return a
}

// reads hands somebody's messages out and acknowledges them.
func (p *play) reads(who string) (texts []string) {
	p.Helper()
	w, err := p.Waiting(p.Context(), in(who))
	if err != nil {
		p.Fatal(err)
	}
	p.ack(who, w.Cursor)
	return textsOf(w.New)
}

func textsOf(lines []conversations.Line) (texts []string) {
	for _, l := range lines {
		texts = append(texts, l.Text)
	}
	return texts
}

func (p *play) ack(who, cursor string) {
	p.Helper()
	if err := p.Acknowledge(p.Context(), in(who), cursor); err != nil {
		p.Fatal(err)
	}
}

// ended demands that somebody is told of an ending now, and that it is not told again once
// that was acknowledged.
func (p *play) ended(who, id, by string, reason conversation.Reason) {
	p.Helper()
	p.is(who, conversations.DoEnded, id)
	a := p.is(who, conversations.DoEnded, id) // it was not acknowledged
	if a.Ending != (conversation.Ending{By: by, Reason: reason}) {
		p.Errorf("%s is told of %+v; want %s by %q", who, a.Ending, reason, by)
	}
	p.ack(who, a.Cursor)
	p.ack(who, a.Cursor) // a second time is no error
	if a := p.next(who); a.View.ID == id {
		p.Errorf("%s is told again: %+v", who, a)
	}
}

// TestUC016 is the use case of seed E, step by step, and a restart at each of them.
func TestUC016(t *testing.T) {
	for restart := range 9 {
		stage(t, func(p *play) {
			step := 0
			next := func() {
				if step++; step == restart {
					p.begin()
				}
			}
			p.depart("b")
			id := p.start("a", conversations.Ask{Targets: []string{"b"}, Purpose: "a consultation"})
			if len(p.invited) != 1 || p.invited[0] != "b by a to "+id+": a consultation" {
				t.Errorf("invited: %q", p.invited)
			}
			p.arrive("b")
			next()
			r := p.is("b", conversations.DoRequest, id)
			if r.View.Initiator() != "a" || r.View.State != conversation.Pending || r.View.Terms.Purpose != "a consultation" {
				t.Errorf("%+v", r.View)
			}
			next()
			p.says("a", id, "JWT or session?")
			next()
			if step < restart || restart == 0 {
				p.is("b", conversations.DoRead, id)
			}
			if got := p.reads("b"); !slices.Equal(got, []string{"JWT or session?"}) {
				t.Errorf("b reads %q", got)
			}
			next()
			if s, err := p.Say(p.Context(), in("b"), conversations.Words{Text: "JWT"}); err != nil || s.View.ID != id || s.View.State != conversation.Active {
				t.Errorf("%+v, %v", s, err)
			}
			next()
			p.is("a", conversations.DoRead, id)
			if got := p.reads("a"); !slices.Equal(got, []string{"JWT"}) {
				t.Errorf("a reads %q", got)
			}
			next()
			if s := p.says("a", id, "so it will be"); s.View.Turns != 3 {
				t.Errorf("%+v", s)
			}
			v, err := p.End(p.Context(), in("a"), "", "")
			if err != nil || v.State != conversation.Terminating {
				t.Fatalf("%+v, %v", v, err)
			}
			next()
			p.is("b", conversations.DoRead, id) // nothing is lost
			if got := p.reads("b"); !slices.Equal(got, []string{"so it will be"}) {
				t.Errorf("b reads %q", got)
			}
			p.ended("b", id, "a", conversation.InitiatorEnded)
			next()
			p.ended("a", id, "a", conversation.InitiatorEnded)
			p.is("a", conversations.DoWait, "")
			p.is("b", conversations.DoWait, "")
			if v, err := p.Get(p.Context(), id); err != nil || v.State != conversation.Ended || v.Turns != 3 {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestStartIsRefused in the order of seed E, row by row.
func TestStartIsRefused(t *testing.T) {
	stage(t, func(p *play) {
		ask := func(targets ...string) conversations.Ask { return conversations.Ask{Targets: targets} }
		open := p.start("a", ask("b"))
		long := strings.Repeat("あ", conversation.MaxText+1)
		for _, c := range []struct {
			from string
			ask  conversations.Ask
			code string
			say  string
		}{
			{"a", ask("a"), conversation.WithSelf, ""},
			{"a", ask("nobody", "a"), conversation.WithSelf, ""},
			{"a", ask("nobody", "human"), conversation.AgentNotFound, "nobody"},
			{"a", ask("human", "elsewhere"), conversation.WithHuman, "human"},
			{"human", ask("human2"), conversation.WithHuman, "human2"},
			{"a", ask("elsewhere"), conversation.NotInProject, "elsewhere"},
			{"a", conversations.Ask{Targets: []string{"b"}, Purpose: long}, conversation.AlreadyActive, open},
			{"b", ask("a"), conversation.AlreadyActive, open},
			{"a", ask(), conversation.Invalid, "target_agent_id"},
			{"a", ask("c", "c"), conversation.Invalid, "c is there twice"},
			{"a", conversations.Ask{Targets: []string{"c"}, Purpose: long}, conversation.Invalid, "purpose: 4001"},
			{"a", conversations.Ask{Targets: []string{"c"}, Text: long}, conversation.Invalid, "initial_message: 4001"},
			{"a", conversations.Ask{Targets: []string{"c"}, Text: "\x00"}, conversation.Invalid, "initial_message"},
			{"a", conversations.Ask{Targets: []string{"c"}, MaxTurns: 1}, conversation.Invalid, "max_turns"},
			{"a", conversations.Ask{Targets: []string{"c"}, MaxTurns: 41}, conversation.Invalid, "max_turns"},
			{"human", conversations.Ask{Targets: []string{"c"}, MaxTurns: -1}, conversation.Invalid, "max_turns"},
			{"a", conversations.Ask{Targets: []string{"c"}, Pending: -1}, conversation.Invalid, "pending_seconds"},
			{"a", conversations.Ask{Targets: []string{"c"}, Idle: 25 * time.Hour}, conversation.Invalid, "idle_seconds"},
		} {
			_, err := p.Start(p.Context(), in(c.from), c.ask)
			p.refused(err, c.code, c.say)
		}
		if n := len(p.halls); n != 1 {
			t.Errorf("%d rooms", n)
		}
		exact := strings.Repeat("あ", conversation.MaxText)
		id := p.start("a", conversations.Ask{Targets: []string{"c"}, Purpose: exact, Text: exact, MaxTurns: 2, Pending: time.Second, Idle: time.Hour})
		v, err := p.Get(p.Context(), id)
		if err != nil || v.Turns != 1 || v.Terms.MaxTurns != 2 || v.Terms.Pending != 1000 || v.Terms.Idle != 3_600_000 || !strings.HasPrefix(id, "conv_") {
			t.Errorf("%+v, %v", v, err)
		}
		if v, _ := p.Get(p.Context(), open); v.Terms.MaxTurns != 20 || v.Terms.Pending != 300_000 || v.Terms.Idle != 600_000 {
			t.Errorf("%+v", v)
		}
	})
}

// TestChats: a human and an AI need no start, any number of turns may be taken, and the AI is
// told to leave when the human ends it.
func TestChats(t *testing.T) {
	stage(t, func(p *play) {
		s, err := p.Say(p.Context(), in("human"), conversations.Words{Target: "a", Text: "hello"})
		if err != nil || !s.Started || !s.View.Terms.Chat() || s.View.Terms.MaxTurns != 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		id := s.View.ID
		p.is("a", conversations.DoRequest, id)
		for range 50 {
			p.says("a", id, "and")
			if s, err := p.Say(p.Context(), in("human"), conversations.Words{Target: "a", Text: "yes"}); err != nil || s.View.ID != id || s.Started {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		p.says("human2", id, "from outside")
		if got := p.says("a", id, "turn 102"); got.View.Turns != 102 {
			t.Errorf("turn %d", got.View.Turns)
		}
		if _, err := p.End(p.Context(), in("human"), id, ""); err != nil {
			t.Fatal(err)
		}
		for p.next("a").Do == conversations.DoRead {
			p.reads("a")
		}
		if a := p.is("a", conversations.DoExit, id); a.Ending.By != "human" {
			t.Errorf("%+v", a)
		}
		// An AI may write to a human as well, but to no AI.
		if s, err := p.Say(p.Context(), in("b"), conversations.Words{Target: "human", Text: "help"}); err != nil || !s.Started || s.View.Initiator() != "b" || !s.View.Terms.Chat() {
			t.Errorf("%+v, %v", s, err)
		}
		_, err = p.Say(p.Context(), in("b"), conversations.Words{Target: "c", Text: "help"})
		p.refused(err, conversation.Required, "c")
		_, err = p.Say(p.Context(), in("human"), conversations.Words{Target: "human2", Text: "help"})
		p.refused(err, conversation.WithHuman, "human2")
	})
}

// TestSay finds the conversation that is meant, and refuses row by row.
func TestSay(t *testing.T) {
	stage(t, func(p *play) {
		say := func(from string, w conversations.Words) (conversations.Said, error) {
			if w.Text == "" {
				w.Text = "text"
			}
			return p.Say(p.Context(), in(from), w)
		}
		_, err := say("a", conversations.Words{})
		p.refused(err, conversation.NoneActive, "")
		ab := p.start("a", conversations.Ask{Targets: []string{"b"}})
		abc := p.start("a", conversations.Ask{Targets: []string{"b", "c"}})
		_, err = say("a", conversations.Words{})
		p.refused(err, conversation.Invalid, abc)
		for _, c := range []struct {
			from string
			w    conversations.Words
			code string
		}{
			{"a", conversations.Words{Conversation: "conv_none"}, conversation.NotFound},
			{"c", conversations.Words{Conversation: ab}, conversation.NotParticipant},
			{"a", conversations.Words{Conversation: ab, Target: "c"}, conversation.Invalid},
			{"a", conversations.Words{Conversation: ab, Target: "a"}, conversation.WithSelf},
			{"a", conversations.Words{Target: "a"}, conversation.WithSelf},
			{"a", conversations.Words{Target: "nobody"}, conversation.AgentNotFound},
			{"a", conversations.Words{Target: "elsewhere"}, conversation.NotInProject},
			{"a", conversations.Words{Conversation: ab, Text: strings.Repeat("x", 4001)}, conversation.Invalid},
			{"a", conversations.Words{Conversation: ab, Text: " "}, conversation.Invalid},
			{"a", conversations.Words{Conversation: ab, MessageID: "no id"}, conversation.Invalid},
		} {
			_, err := say(c.from, c.w)
			p.refused(err, c.code, "")
		}
		for _, c := range []struct {
			from string
			w    conversations.Words
			want string
		}{
			{"a", conversations.Words{Target: "b"}, ab}, // the two alone
			{"b", conversations.Words{}, ab},            // a wrote there
			{"c", conversations.Words{Target: "b"}, abc},
			{"b", conversations.Words{}, abc}, // c wrote last
			{"b", conversations.Words{Target: "a"}, ab},
		} {
			time.Sleep(time.Second)
			if s, err := say(c.from, c.w); err != nil || s.View.ID != c.want || s.Started {
				t.Errorf("%s with %+v says it in %s, %v; want %s", c.from, c.w, s.View.ID, err, c.want)
			}
		}
		if _, err := p.Decline(p.Context(), in("b"), abc, ""); err == nil {
			t.Error("b has spoken, and declines")
		}
	})
}

// TestAMessageSentTwice is said once, also where its answer was lost, and it was the last one
// or the conversation was opened for it.
func TestAMessageSentTwice(t *testing.T) {
	stage(t, func(p *play) {
		w := conversations.Words{Target: "b", Text: "hello", MessageID: "m1", AutoStart: true}
		first, err := p.Say(p.Context(), in("a"), w)
		if err != nil || !first.Started {
			t.Fatal(err)
		}
		second, err := p.Say(p.Context(), in("a"), w)
		if err != nil || second.Started || second.Message.Seq != first.Message.Seq {
			t.Fatalf("%+v, %v", second, err)
		}
		if _, err := p.Decline(p.Context(), in("b"), first.View.ID, "no"); err != nil {
			t.Fatal(err)
		}
		third, err := p.Say(p.Context(), in("a"), w)
		if err != nil || third.Started || third.Message.Seq != first.Message.Seq || third.View.State != conversation.Declined {
			t.Fatalf("%+v, %v", third, err)
		}
		if len(p.halls) != 1 {
			t.Errorf("%d rooms", len(p.halls))
		}
		w.MessageID = "m2"
		if again, err := p.Say(p.Context(), in("a"), w); err != nil || !again.Started {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}

// TestTurnsOfAMessage are those up to it, whatever was said before it was answered.
func TestTurnsOfAMessage(t *testing.T) {
	stage(t, func(p *play) {
		id := p.start("a", conversations.Ask{Targets: []string{"b"}})
		p.trouble(fine, func(string) error {
			p.trouble(fine, fine)
			p.says("b", id, "second")
			return nil
		})
		if s := p.says("a", id, "first"); s.View.Turns != 1 || s.Message.Text != "first" {
			t.Errorf("turn %d: %+v", s.View.Turns, s.Message)
		}
		if v, err := p.Get(p.Context(), id); err != nil || v.Turns != 2 {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// TestRequests: all are shown, once a session, and may be declined.
func TestRequests(t *testing.T) {
	stage(t, func(p *play) {
		var ids []string
		for _, from := range []string{"a", "b", "human"} {
			ids = append(ids, p.start(from, conversations.Ask{Targets: []string{"c"}}))
			time.Sleep(time.Second)
		}
		a := p.is("c", conversations.DoRequest, ids[0])
		if len(a.Others) != 2 || a.Others[0].ID != ids[1] || a.Others[1].ID != ids[2] {
			t.Errorf("%+v", a.Others)
		}
		p.is("c", conversations.DoWait, "")
		later := p.start("x1", conversations.Ask{Targets: []string{"c"}})
		if a := p.is("c", conversations.DoRequest, later); len(a.Others) != 3 {
			t.Errorf("%+v", a.Others)
		}
		p.is("c", conversations.DoWait, "")
		p.seen["c"] = nil
		p.is("c", conversations.DoRequest, ids[0])
		if v, err := p.Decline(p.Context(), in("c"), ids[0], "busy"); err != nil || v.State != conversation.Declined {
			t.Fatalf("%+v, %v", v, err)
		}
		if v, err := p.Join(p.Context(), in("c"), ids[1]); err != nil || v.State != conversation.Active {
			t.Fatalf("%+v, %v", v, err)
		}
		if v, err := p.Join(p.Context(), in("c"), ids[1]); err != nil || v.State != conversation.Active {
			t.Fatalf("%+v, %v", v, err)
		}
		_, err := p.Decline(p.Context(), in("c"), ids[1], "")
		p.refused(err, conversation.NotOpen, "")
		_, err = p.Join(p.Context(), in("c"), ids[0])
		p.refused(err, conversation.NotOpen, "declined")
		_, err = p.Join(p.Context(), in("a"), ids[1])
		p.refused(err, conversation.NotParticipant, "")
		p.ended("a", ids[0], "c", conversation.WasDeclined)
		p.ended("c", ids[0], "c", conversation.WasDeclined)
		if a := p.is("b", conversations.DoWait, ids[1]); a.View.State != conversation.Active {
			t.Errorf("%+v", a)
		}
		p.is("b", conversations.DoWait, "")
	})
}

// lapse says that the time of a conversation is over, as its room does.
func (p *play) lapse(id string, absent ...string) {
	p.Helper()
	if _, err := p.hall(id).Converse(p.Context(), conversation.Input{Kind: conversation.Lapse, Absent: absent}); err != nil {
		p.Fatal(err)
	}
}

// TestTimeOuts: whoever asked is told who did not come, the others that it ended.
func TestTimeOuts(t *testing.T) {
	stage(t, func(p *play) {
		id := p.start("a", conversations.Ask{Targets: []string{"b", "c"}, Text: "anybody?"})
		time.Sleep(conversation.UsualPending)
		p.lapse(id, "c")
		a := p.is("a", conversations.DoExpired, id)
		if a.Target != "b, c" || a.Ending != (conversation.Ending{Reason: conversation.Timeout}) {
			t.Errorf("%+v", a)
		}
		p.ack("a", a.Cursor)
		p.is("a", conversations.DoWait, "")
		p.is("b", conversations.DoRead, id)
		if p.Acknowledge(p.Context(), in("b"), id+":1") == nil {
			t.Error("that was never given")
		}
		p.reads("b")
		p.ended("b", id, "", conversation.Timeout)
		p.is("c", conversations.DoWait, "") // it was not here, and had not joined
		if v, _ := p.Get(p.Context(), id); v.State != conversation.Expired || !v.Done() {
			t.Errorf("%+v", v)
		}
	})
}

// TestGroupLeaver hears nothing of what is said after it left, and of its own ending once, also
// after a restart. Somebody invited who goes and comes back has not left.
func TestGroupLeaver(t *testing.T) {
	for _, restart := range []bool{false, true} {
		stage(t, func(p *play) {
			id := p.start("a", conversations.Ask{Targets: []string{"b", "c"}, Text: "one"})
			p.depart("c")
			p.Gone(p.Context(), in("c"))
			p.says("b", id, "two")
			p.arrive("c")
			p.says("a", id, "three")
			if _, err := p.End(p.Context(), in("b"), id, "bye"); err != nil {
				t.Fatal(err)
			}
			p.says("a", id, "behind b's back")
			if restart {
				p.begin()
			}
			if got := p.reads("b"); !slices.Equal(got, []string{"one", "three"}) {
				t.Errorf("b reads %q", got)
			}
			p.ended("b", id, "b", conversation.ParticipantEnded)
			if got := p.reads("c"); !slices.Equal(got, []string{"one", "two", "three", "bye", "behind b's back"}) {
				t.Errorf("c reads %q", got)
			}
			if _, err := p.Stop(p.Context(), "human2", id); err != nil {
				t.Fatal(err)
			}
			p.reads("a")
			p.ended("a", id, "human2", conversation.ParticipantEnded)
			p.ended("c", id, "human2", conversation.ParticipantEnded)
			_, err := p.Stop(p.Context(), "a", id)
			p.refused(err, conversation.NotParticipant, "a is no human")
		})
	}
}

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
