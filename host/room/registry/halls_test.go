package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// terms are those of a conversation of a project; an id that begins with a capital is a companion
// that lives here.
func terms(members ...string) conversation.Terms {
	t := conversation.Terms{
		Project: "p", Purpose: "to decide", MaxTurns: conversation.UsualTurns, Members: members,
		Pending: conversation.UsualPending.Milliseconds(), Idle: conversation.UsualIdle.Milliseconds(),
	}
	for _, m := range members {
		if m == strings.ToUpper(m) {
			t.Hosted = append(t.Hosted, m)
		}
	}
	return t
}

func convening(n int, members ...string) rooms.Convening {
	return rooms.Convening{Name: fmt.Sprintf("%s%d", conversation.Prefix, n), Key: "k\n" + strings.Join(members, "\n"), Terms: terms(members...)}
}

func (h *house) convene(n int, members ...string) string {
	h.t.Helper()
	c := convening(n, members...)
	now, err := h.Convene(context.Background(), c)
	if err != nil || now.State != conversation.Pending {
		h.t.Fatalf("%+v %v", now, err)
	}
	return c.Name
}

func (h *house) converse(name string, kind conversation.Kind, who string) conversation.Conversation {
	h.t.Helper()
	now, err := h.room(name).Converse(context.Background(), conversation.Input{Kind: kind, Who: who})
	if err != nil {
		h.t.Fatalf("%s by %s: %v", kind, who, err)
	}
	return now
}

func (h *house) tells(name, who, text string) {
	h.t.Helper()
	if _, err := h.room(name).Say(context.Background(), rooms.Utterance{From: who, By: abi.KindAgent, Text: text, Member: true}); err != nil {
		h.t.Fatalf("%s: %q: %v", who, text, err)
	}
}

func (h *house) stands(name string, want conversation.State) conversation.Conversation {
	h.t.Helper()
	c := h.room(name).Info().Conversation
	if c == nil || c.State != want {
		h.t.Fatalf("it stands like this: %+v; want %s", c, want)
	}
	return *c
}

// replays has the rules make again what they made of a room's inputs.
func (h *house) replays(name string) {
	h.t.Helper()
	got, err := reader.Replay(context.Background(), h.journal, name)
	if err != nil || got.Diff != nil || got.Folded > 3 {
		h.t.Errorf("replay of %s: %+v %v", name, got, err)
	}
}

func faultOf(err error) string {
	var f *conversation.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// TestConversation is a conversation of two agents from its start to its end.
func TestConversation(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		name := h.convene(1, "a", "b")
		h.tells(name, "a", "JWT or a session?")
		h.stands(name, conversation.Pending)
		h.tells(name, "b", "JWT")
		h.stands(name, conversation.Active)
		_, err := h.room(name).Say(t.Context(), rooms.Utterance{From: "c", By: abi.KindAgent, Text: "me too", Member: true})
		if faultOf(err) != conversation.NotParticipant {
			t.Errorf("a stranger: %v", err)
		}
		h.say(name, "go on") // taro, a human
		sleep(5 * time.Minute)
		if h.Awake(name) {
			t.Error("it does not sleep")
		}
		for _, by := range []rooms.Owner{{Name: "a"}, {Name: rooms.Guests}} { // members either
			if _, err := h.Fork(t.Context(), rooms.Forking{Of: name, By: by}); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "takes the scope admin") {
				t.Errorf("%s forks it: %v", by.Name, err)
			}
		}
		h.tells(name, "a", "thanks")
		if got := strings.Join(h.texts(name), "|"); got != "a: JWT or a session?|b: JWT|taro: go on|a: thanks" {
			t.Errorf("%s", got)
		}
		if c := h.converse(name, conversation.End, "a"); c.State != conversation.Terminating || c.Turns != 3 {
			t.Errorf("%+v", c)
		}
		_, err = h.room(name).Say(t.Context(), rooms.Utterance{From: "b", By: abi.KindAgent, Text: "wait", Member: true})
		if faultOf(err) != conversation.NotOpen {
			t.Errorf("afterwards: %v", err)
		}
		h.converse(name, conversation.Tell, "b")
		h.converse(name, conversation.Tell, "a")
		if kinds := h.kinds(name); strings.Count(kinds, "lifecycle") != 4 {
			t.Errorf("%s", kinds)
		}
		if list, err := h.List(t.Context(), "", 10); err != nil || len(list) != 1 {
			t.Errorf("rooms besides: %v %v", list, err)
		}
		h.end()
		h.run()
		h.stands(name, conversation.Ended)
		h.replays(name)
	})
}

// TestNobodySpeaksForAnAgent: whoever comes by another door is no member, whatever it calls itself, and what
// it tries locks nobody out.
func TestNobodySpeaksForAnAgent(t *testing.T) {
	in(t, func(t *testing.T) *house {
		h := oneRoom(t)
		h.config.Room.Named = func(name string) bool { return name == "Elsa" }
		return h
	}, func(t *testing.T, h *house) {
		name := h.convene(1, "a", "b")
		for _, u := range []rooms.Utterance{
			{From: "a", By: abi.KindAgent, Text: "x"}, {From: "c", By: abi.KindAgent, Text: "x"},
			{From: "a", Text: "x"}, {From: "A", Text: "x"}, {From: "Elsa", Text: "x"},
		} {
			_, err := h.room(name).Say(t.Context(), u)
			wantCode(t, err, abi.CodeDenied, "from: ")
			_, _, err = h.room(name).Offer(t.Context(), u, 5)
			wantCode(t, err, abi.CodeDenied, "from: ")
		}
		h.tells(name, "a", "hello")
		h.tells(name, "b", "hello")
		for _, who := range []string{"a", "Elsa"} {
			if who == "Elsa" {
				name = h.convene(2, "b", "c")
			}
			if _, err := h.room(name).Stop(t.Context(), who); err != nil {
				t.Fatal(err)
			}
			if c := h.stands(name, conversation.Terminating); *c.Ending != (conversation.Ending{By: "somebody", Reason: conversation.ParticipantEnded}) {
				t.Errorf("%+v", c.Ending)
			}
		}
	})
}

// TestOneOfMany has both of a pair, and many more, ask in the same instant; the key is free when the
// conversation is over.
func TestOneOfMany(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		var opened atomic.Int64
		var name atomic.Value
		var done sync.WaitGroup
		for i := range 50 {
			done.Go(func() {
				c := convening(i, "a", "b")
				if i%2 == 1 {
					c.Terms.Members = []string{"b", "a"}
				}
				_, err := h.Convene(t.Context(), c)
				if err == nil {
					opened.Add(1)
					name.Store(c.Name)
				} else if faultOf(err) != conversation.AlreadyActive {
					t.Error(err)
				}
			})
		}
		done.Wait()
		if opened.Load() != 1 {
			t.Fatalf("%d were opened", opened.Load())
		}
		first := name.Load().(string)
		if all, err := h.Convened(t.Context(), "", 99); err != nil || len(all) != 1 || all[0].Over || all[0].Name != first {
			t.Errorf("%+v %v", all, err)
		}
		h.converse(first, conversation.End, "b")
		if err := h.Dissolve(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		if err := h.Settle(t.Context(), first, rooms.Settled{State: conversation.Declined, Opened: since}); err != nil {
			t.Fatal(err)
		}
		if all, err := h.Convened(t.Context(), "", 99); err != nil || len(all) != 1 || !all[0].Over || all[0].Settled == nil || all[0].Settled.State != conversation.Declined || !all[0].Settled.Opened.Equal(since) {
			t.Errorf("%+v %v", all, err)
		}
		h.convene(100, "a", "b")
		if all, err := h.Convened(t.Context(), "", 99); err != nil || len(all) != 2 {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// TestConversationTimesOut while it sleeps, and though the daemon was away.
func TestConversationTimesOut(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		name := h.convene(1, "a", "b")
		other := h.convene(2, "a", "c")
		h.tells(other, "c", "hello")
		sleep(4 * time.Minute)
		h.end()
		sleep(30 * time.Second)
		h.run()
		sleep(29 * time.Second)
		h.stands(name, conversation.Pending)
		sleep(2 * time.Second)
		if c := h.stands(name, conversation.Expired); c.Untold("a") == nil || c.Untold("b") != nil {
			t.Errorf("%+v", c)
		}
		h.stands(other, conversation.Active)
		sleep(5 * time.Minute)
		if c := h.stands(other, conversation.Terminating); *c.Ending != (conversation.Ending{Reason: conversation.Timeout}) {
			t.Errorf("%+v", c)
		}
	})
}

// TestABegunConversation is one of which a kill left nothing but the key.
func TestABegunConversation(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		c := convening(1, "a", "b")
		settings, _ := json.Marshal(map[string]any{"conversation": c.Terms})
		if err := h.journal.Register(t.Context(), c.Name, journal.Listing{Key: c.Key, By: "(conversations)", Settings: settings}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Convene(t.Context(), convening(2, "a", "b")); faultOf(err) != conversation.AlreadyActive {
			t.Errorf("%v", err)
		}
		h.tells(c.Name, "a", "hello")
		h.stands(c.Name, conversation.Pending)
	})
}

// host is a companion of the house that is asked into conversations.
type host struct {
	wants func(scene abi.Scene) abi.Vote
	lines atomic.Int64
}

func (*host) Describe() abi.Description {
	return abi.Description{ABI: "1", Ops: []string{abi.OpVote, abi.OpSpeak}}
}
func (*host) Permit(abi.ActionAsk) (string, error) { return "", nil }
func (k *host) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	var scene abi.Scene
	if err := json.Unmarshal(req.Data, &scene); err != nil {
		return nil, err
	}
	if req.Op == abi.OpVote {
		return json.Marshal(k.wants(scene))
	}
	return json.Marshal(abi.Line{Text: fmt.Sprintf("line %d about %s", k.lines.Add(1), scene.Message.Text)})
}

// lives lets one companion live in the house.
func (h *house) lives(id string, c room.Companion) {
	h.mu.Lock()
	h.live[id] = c
	h.mu.Unlock()
	h.SetCast(context.Background(), []entry.Joined{{ID: id, Kind: abi.KindCompanion}})
}

// TestCompanionIsInvited: its vote accepts or declines, and its leave ends the conversation.
func TestCompanionIsInvited(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		k := &host{wants: func(s abi.Scene) abi.Vote {
			v := abi.Vote{State: abi.Speak, Importance: 5}
			if c := s.Conversation; c == nil || c.From != "a" || c.Purpose != "to decide" || c.Invites("KYOKO") != (c.Turns == 0) {
				t.Errorf("the scene is of %+v", c)
			}
			if strings.Contains(s.Message.Text, "bye") {
				v.Closing = abi.ClosingTerminal
			}
			return v
		}}
		h.lives("KYOKO", k)
		name := h.convene(1, "a", "KYOKO")
		sleep(time.Second)
		h.stands(name, conversation.Active)
		h.tells(name, "a", "one")
		sleep(time.Second)
		h.tells(name, "a", "bye")
		sleep(time.Second)
		if got := strings.Join(h.texts(name), "|"); got != "KYOKO: line 1 about to decide|a: one|KYOKO: line 2 about one|a: bye|KYOKO: line 3 about bye" {
			t.Errorf("%s", got)
		}
		c := h.stands(name, conversation.Terminating)
		if *c.Ending != (conversation.Ending{By: "KYOKO", Reason: conversation.ParticipantEnded}) || c.Untold("KYOKO") != nil || c.Untold("a") == nil {
			t.Errorf("%+v", c)
		}

		k.wants = func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Listen, Reason: "busy"} }
		h.replays(name)
		name = h.convene(2, "b", "KYOKO")
		sleep(time.Second)
		if c := h.stands(name, conversation.Declined); *c.Untold("b") != (conversation.Ending{By: "KYOKO", Reason: conversation.WasDeclined}) {
			t.Errorf("%+v", c)
		}
	})
}

// TestACompanionWrites: what a companion that lives here opens, it may write in by itself, without the floor;
// others may not take its name, and it may not where it is no member.
func TestACompanionWrites(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		think := make(chan struct{})
		h.lives("A", &host{wants: func(abi.Scene) abi.Vote { <-think; return abi.Vote{State: abi.Listen} }})
		name := h.convene(1, "A", "b")
		said := func(from string, by abi.ParticipantKind, text string) error {
			_, err := h.room(name).Say(t.Context(), rooms.Utterance{From: from, By: by, Text: text, Member: true})
			return err
		}
		if err := said("A", abi.KindCompanion, "may I?"); err != nil {
			t.Fatal(err)
		}
		h.tells(name, "b", "go on")
		if err := said("A", abi.KindCompanion, "so I do"); err != nil { // while it is asked for its vote
			t.Error(err)
		}
		close(think)
		for _, by := range []abi.ParticipantKind{abi.KindAgent, abi.KindHuman} {
			if err := said("A", by, "I am A"); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%s takes its name: %v", by, err)
			}
		}
		if err := said("B", abi.KindCompanion, "me too"); err == nil {
			t.Error("a companion that is no member writes")
		}
		if _, err := h.room("main").Say(t.Context(), rooms.Utterance{From: "A", By: abi.KindCompanion, Text: "here, too"}); err == nil {
			t.Error("it writes in a room that is for no conversation")
		}
		if got := strings.Join(h.texts(name), "|"); !strings.HasPrefix(got, "A: may I?|b: go on|") || strings.Count(got, "A: so I do") != 1 || strings.Contains(got, "I am A") {
			t.Error(got)
		}
		h.end()
		h.run()
		h.replays(name)
	})
}

// TestStopEndsAConversation: also one that no member asked to end, by the STOP of a room.
func TestStopEndsAConversation(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		name := h.convene(1, "a", "b")
		h.tells(name, "b", "hello")
		if _, err := h.room(name).Stop(t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		if c := h.stands(name, conversation.Terminating); *c.Untold("a") != (conversation.Ending{By: "taro", Reason: conversation.ParticipantEnded}) {
			t.Errorf("%+v", c)
		}
		h.converse(name, conversation.Tell, "a")
		h.converse(name, conversation.Tell, "b")
		h.stands(name, conversation.Ended)
	})
}

// TestChat is between a human and those who answer: no turn is the last, and a human is answered.
func TestChat(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.lives("KYOKO", &host{wants: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} }})
		for i, other := range []string{"a", "KYOKO"} {
			c := convening(i, "taro", other)
			c.Terms.Humans, c.Terms.MaxTurns, c.Terms.Purpose = []string{"taro"}, 0, ""
			if _, err := h.Convene(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if other == "KYOKO" {
				sleep(2 * time.Second)
				if got := h.stands(c.Name, conversation.Pending); got.Turns != 0 {
					t.Errorf("it answers what nobody said: %q", h.texts(c.Name))
				}
			}
			for n := range 30 {
				h.say(c.Name, fmt.Sprint("question ", n))
				if w := h.room(c.Name).Info().Waiting; w != "" {
					t.Errorf("%s is asked, and %s", other, w)
				}
				if other == "a" {
					if n == 0 {
						sleep(time.Minute)
					}
					h.tells(c.Name, "a", fmt.Sprint("answer ", n))
				}
				sleep(time.Second)
				if w := h.room(c.Name).Info().Waiting; w != "" {
					t.Errorf("%s was asked, and %s", other, w)
				}
			}
			if got := h.stands(c.Name, conversation.Active); got.Turns < 60 {
				t.Errorf("%s: %d turns: %q", other, got.Turns, h.texts(c.Name))
			}
			h.converse(c.Name, conversation.End, "taro")
			want := conversation.Terminating // until a is told; the house tells the others
			if other == "KYOKO" {
				want = conversation.Ended
			}
			h.stands(c.Name, want)
			h.replays(c.Name)
		}
	})
}
