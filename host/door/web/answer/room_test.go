package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/answer"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
)

// What is scripted in the other tests is what real rooms write down: here they do.

// actor is a companion made of functions.
type actor struct {
	vote  func(abi.Scene) abi.Vote
	line  func(context.Context, abi.Scene) abi.Line
	judge func(abi.Perceiving) abi.Judgement
}

func (a *actor) Describe() abi.Description {
	return abi.Description{ABI: "1", Ops: []string{abi.OpVote, abi.OpSpeak, abi.OpPerceive}}
}

func (a *actor) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (a *actor) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	var s abi.Scene
	var p abi.Perceiving
	switch req.Op {
	case abi.OpVote:
		_ = json.Unmarshal(req.Data, &s)
		return json.Marshal(a.vote(s))
	case abi.OpSpeak:
		_ = json.Unmarshal(req.Data, &s)
		return json.Marshal(a.line(ctx, s))
	}
	_ = json.Unmarshal(req.Data, &p)
	return json.Marshal(a.judge(p))
}

// answers gives one that answers people with an importance, and companions never.
func answers(id string, importance float64) *actor {
	return &actor{
		vote: func(s abi.Scene) abi.Vote {
			for _, m := range s.Members {
				if m.ID == s.Message.From && m.Kind == abi.KindHuman {
					return abi.Vote{State: abi.Speak, Importance: importance}
				}
			}
			return abi.Vote{State: abi.Listen}
		},
		line: func(_ context.Context, s abi.Scene) abi.Line {
			return abi.Line{Text: id + " on " + s.Message.Text}
		},
		judge: func(p abi.Perceiving) abi.Judgement {
			if p.Perception.Title == "vision" {
				return abi.Judgement{State: abi.Speak, Importance: 5, Text: id + " sees a cat"}
			}
			return abi.Judgement{State: abi.Listen}
		},
	}
}

func listens() *actor {
	return &actor{vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Listen} }}
}

// newRoom runs a room with these companions.
func newRoom(t *testing.T, cast map[string]*actor) room.Talk {
	t.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(t.TempDir(), "j.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	lobby, err := room.NewLobby(room.Config{
		Journal: j, Log: slog.New(slog.DiscardHandler), NewID: func() string { return fmt.Sprint("id", n.Add(1)) },
		Find: func(id string) (room.Companion, bool) { a, ok := cast[id]; return a, ok },
		Rooms: []room.Settings{{Name: "main", Companions: []string{"*"}, Rules: entry.Rules{
			Policy: "vote", Seed: "x", Patience: 5000, Floor: 10000, MaxTurns: 6, Stale: entry.StaleReask,
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lobby.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	lobby.Loaded(ctx)
	var here []entry.Joined
	for id := range cast {
		here = append(here, entry.Joined{ID: id, Name: id, Kind: abi.KindCompanion})
	}
	lobby.SetCast(ctx, here)
	talk, err := lobby.Room("main")
	if err != nil {
		t.Fatal(err)
	}
	for len(talk.Info().Members) < len(here) {
		time.Sleep(time.Millisecond)
	}
	return talk
}

func say(t *testing.T, talk room.Talk, text string) uint64 {
	t.Helper()
	m, err := talk.Say(t.Context(), room.Utterance{From: "mika", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return m.Seq
}

// hears waits for what aya says because of a message, but not for ever.
func hears(t *testing.T, talk room.Talk, seq uint64, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	text, err := answer.ToMessage(ctx, talk, "aya", seq)
	if err != nil || text != want || ctx.Err() != nil {
		t.Errorf("%q %v (%v), want %q", text, err, ctx.Err(), want)
	}
}

func TestInARoom(t *testing.T) {
	t.Run("an answer", func(t *testing.T) {
		talk := newRoom(t, map[string]*actor{"aya": answers("aya", 5)})
		for _, text := range []string{"one", "two", "three"} {
			hears(t, talk, say(t, talk, text), "aya on "+text)
		}
	})
	t.Run("somebody else answers, and she does not", func(t *testing.T) {
		talk := newRoom(t, map[string]*actor{"aya": answers("aya", 5), "kyoko": answers("kyoko", 9)})
		hears(t, talk, say(t, talk, "hello"), "")
	})
	t.Run("after somebody else", func(t *testing.T) {
		aya := answers("aya", 5)
		aya.vote = func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} }
		talk := newRoom(t, map[string]*actor{"aya": aya, "kyoko": answers("kyoko", 9)})
		hears(t, talk, say(t, talk, "hello"), "aya on kyoko on hello")
	})
	t.Run("nobody wants to", func(t *testing.T) {
		talk := newRoom(t, map[string]*actor{"aya": listens(), "kyoko": listens()})
		seq := say(t, talk, "hello")
		hears(t, talk, seq, "")
	})
	t.Run("asked again", func(t *testing.T) {
		aya, first := answers("aya", 5), make(chan struct{})
		var n atomic.Int64
		aya.line = func(_ context.Context, s abi.Scene) abi.Line {
			if n.Add(1) == 1 {
				<-first
			}
			return abi.Line{Text: "aya on " + s.Message.Text}
		}
		talk := newRoom(t, map[string]*actor{"aya": aya})
		one := say(t, talk, "one")
		for talk.Info().Floor != "aya" {
			time.Sleep(time.Millisecond)
		}
		two := say(t, talk, "two")
		close(first)
		hears(t, talk, one, "aya on two")
		hears(t, talk, two, "aya on two")
	})
	t.Run("stopped", func(t *testing.T) {
		aya := answers("aya", 5)
		aya.line = func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} }
		talk := newRoom(t, map[string]*actor{"aya": aya})
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
	talk := newRoom(t, map[string]*actor{"aya": aya, "kyoko": listens()})
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
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		text, err := answer.OfWish(ctx, talk, "aya", j.Wish)
		if err != nil || text != "aya sees a cat" {
			t.Errorf("%q %v", text, err)
		}
		cancel()
	}
	// Six lines without a human are the cap: the seventh wish is not granted.
	for i := range 6 {
		j, err := talk.Perceive(t.Context(), "aya", abi.Percept{Title: "vision", Format: "text", Body: json.RawMessage(`"x"`)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		want := "aya sees a cat"
		if i >= 4 {
			want = ""
		}
		if text, err := answer.OfWish(ctx, talk, "aya", j.Wish); err != nil || text != want || ctx.Err() != nil {
			t.Errorf("%d: %q %v %v", i, text, err, ctx.Err())
		}
		cancel()
	}
}
