package conversations_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

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
