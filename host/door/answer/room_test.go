package answer_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/answer"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// The other tests script what real rooms write down: here these do.

// answers gives one that answers people with an importance, and companions never.
func answers(id string, importance float64) *doortest.Actor {
	return &doortest.Actor{
		Vote: func(s abi.Scene) abi.Vote {
			for _, m := range s.Members {
				if m.ID == s.Message.From && m.Kind == abi.KindHuman {
					return abi.Vote{State: abi.Speak, Importance: importance}
				}
			}
			return abi.Vote{State: abi.Listen}
		},
		Speak: func(_ context.Context, s abi.Scene) abi.Line {
			return abi.Line{Text: id + " on " + s.Message.Text}
		},
		Perceive: func(p abi.Perceiving) abi.Judgement {
			if p.Perception.Title == "vision" {
				return abi.Judgement{State: abi.Speak, Importance: 5, Text: id + " sees a cat"}
			}
			return abi.Judgement{State: abi.Listen}
		},
	}
}

func listens() *doortest.Actor {
	return &doortest.Actor{Vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Listen} }}
}

// newRoom runs a room with these companions.
func newRoom(t *testing.T, cast map[string]*doortest.Actor) rooms.Room {
	t.Helper()
	main := doortest.Settings("main", "*")
	main.Rules.Patience, main.Rules.MaxTurns = 5000, 6
	r := doortest.NewHouseOf(t, main).Get("main")
	for id, a := range cast {
		r.Play(id, a)
	}
	return r
}

func say(t *testing.T, talk rooms.Room, text string) uint64 {
	t.Helper()
	m, err := talk.Say(t.Context(), rooms.Utterance{From: "mika", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return m.Seq
}

// hears waits for what aya says because of a message, but not for ever.
func hears(t *testing.T, talk rooms.Room, seq uint64, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	defer cancel()
	text, err := answer.ToMessage(ctx, talk, "aya", seq)
	if err != nil || text != want || ctx.Err() != nil {
		t.Errorf("%q %v (%v), want %q", text, err, ctx.Err(), want)
	}
}

func TestInARoom(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		talk := newRoom(t, map[string]*doortest.Actor{"aya": answers("aya", 5)})
		for _, text := range []string{"one", "two", "three"} {
			hears(t, talk, say(t, talk, text), "aya on "+text)
		}
	})
	t.Run("somebody else answers, and she does not", func(t *testing.T) {
		talk := newRoom(t, map[string]*doortest.Actor{"aya": answers("aya", 5), "kyoko": answers("kyoko", 9)})
		hears(t, talk, say(t, talk, "hello"), "")
	})
	t.Run("after somebody else", func(t *testing.T) {
		aya := answers("aya", 5)
		aya.Vote = func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} }
		talk := newRoom(t, map[string]*doortest.Actor{"aya": aya, "kyoko": answers("kyoko", 9)})
		hears(t, talk, say(t, talk, "hello"), "aya on kyoko on hello")
	})
	t.Run("nobody wants to", func(t *testing.T) {
		talk := newRoom(t, map[string]*doortest.Actor{"aya": listens(), "kyoko": listens()})
		seq := say(t, talk, "hello")
		hears(t, talk, seq, "")
	})
	t.Run("asked again", func(t *testing.T) {
		aya, first := answers("aya", 5), make(chan struct{})
		var n atomic.Int64
		aya.Speak = func(_ context.Context, s abi.Scene) abi.Line {
			if n.Add(1) == 1 {
				<-first
			}
			return abi.Line{Text: "aya on " + s.Message.Text}
		}
		talk := newRoom(t, map[string]*doortest.Actor{"aya": aya})
		one := say(t, talk, "one")
		waittest.Until(t, "aya has the floor", func() bool { return talk.Info().Floor == "aya" })
		two := say(t, talk, "two")
		close(first)
		hears(t, talk, one, "aya on two")
		hears(t, talk, two, "aya on two")
	})
	t.Run("stopped", func(t *testing.T) {
		aya := answers("aya", 5)
		aya.Speak = func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} }
		talk := newRoom(t, map[string]*doortest.Actor{"aya": aya})
		seq := say(t, talk, "hello")
		go func() {
			for talk.Info().Floor != "aya" {
				time.Sleep(time.Millisecond)
			}
			_, _ = talk.Stop(context.Background(), "mika")
		}()
		hears(t, talk, seq, "")
	})
}

func TestSeenInARoom(t *testing.T) {
	aya := answers("aya", 5)
	talk := newRoom(t, map[string]*doortest.Actor{"aya": aya, "kyoko": listens()})
	for _, title := range []string{"vision", "vision", "audio"} {
		j, err := talk.Perceive(t.Context(), "aya", abi.Percept{Title: title, Format: "text", Body: json.RawMessage(`"x"`)})
		if err != nil {
			t.Fatal(err)
		}
		if title == "audio" {
			if j.Wish != 0 {
				t.Errorf("%+v", j)
			}
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
		text, err := answer.OfWish(ctx, talk, "aya", j.Wish)
		if err != nil || text != "aya sees a cat" {
			t.Errorf("%q %v", text, err)
		}
		cancel()
	}
}
