package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	jmem "github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/memory/meaning"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// listener is a companion that answers what people say with few words.
type listener struct{ name string }

func (l listener) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: l.name, Ops: []string{abi.OpVote, abi.OpSpeak}}
}

func (listener) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (listener) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	var s abi.Scene
	if err := json.Unmarshal(req.Data, &s); err != nil {
		return nil, err
	}
	if req.Op == abi.OpSpeak {
		return json.Marshal(abi.Line{Text: "I see."})
	}
	v := abi.Vote{State: abi.Listen}
	if s.Message.Text != "I see." {
		v = abi.Vote{State: abi.Speak, Importance: 5}
	}
	return json.Marshal(v)
}

// house is a daemon without doors and engines: rooms and a keeper, which can be ended and begun again
// on the same journal.
type house struct {
	*registry.Registry
	keeper   *memory.Keeper
	t        *testing.T
	journal  journal.Journal
	rooms    []room.Settings
	settings map[string]memory.Settings
	model    func(model.Request) (string, error) // nil: there is none
	minds    map[string]room.Companion           // others than listeners
	meaning  func() *meaning.Finder              // nil: there is none
	context  int                                 // tokens that the model takes; 0: as many as it does where nobody says
	asked    atomic.Int64
	ids      atomic.Int64
	log      strings.Builder
	logs     sync.Mutex
	end      func()
}

func (h *house) Write(p []byte) (int, error) {
	h.logs.Lock()
	defer h.logs.Unlock()
	return h.log.Write(p)
}

// roomOf is a room in which these companions live.
func roomOf(name string, companions ...string) room.Settings {
	return room.Settings{Name: name, Companions: companions, Rules: entry.Rules{
		Policy: "vote", Seed: name, Patience: 1000, Floor: 10_000, MaxTurns: 1, Perceived: 12, Stale: entry.StaleReask,
	}}
}

// run lets the house run until end.
func (h *house) run(loaded ...string) {
	h.t.Helper()
	newID := func() string { return fmt.Sprintf("id%06d", h.ids.Add(1)) }
	log := slog.New(slog.NewTextHandler(h, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := memory.Config{
		Journal: h.journal, Owner: "house", NewID: newID, Log: log,
		Settings: func(id string) memory.Settings { return h.settings[id] },
	}
	if h.model != nil {
		c.Model = func(_ context.Context, _ module.Caller, ask model.Request) (model.Answer, error) {
			h.asked.Add(1)
			text, err := h.model(ask)
			return model.Answer{Text: text, JSON: json.RawMessage(text)}, err
		}
	}
	if h.context > 0 {
		meter := new(tokens.Meter)
		c.Window = func(string) (int, *tokens.Meter) { return h.context, meter }
	}
	if h.meaning != nil {
		c.Meaning = h.meaning()
	}
	h.keeper = memory.New(c)
	var err error
	h.Registry, err = registry.New(registry.Config{
		Rooms: h.rooms, Usual: "main", MaxRooms: 3,
		Room: room.Config{
			Journal: h.journal, NewID: newID, Log: slog.New(slog.DiscardHandler), Heard: h.keeper.Heard,
			Find: func(id string) (room.Companion, bool) {
				if m, ok := h.minds[id]; ok {
					return m, true
				}
				return listener{id}, true
			},
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	if err := h.keeper.Load(ctx); err != nil {
		h.t.Fatal(err)
	}
	after, forget := context.WithCancel(context.Background())
	done.Go(func() { _ = h.keeper.Run(after) }) // it ends when after does
	done.Go(func() {
		defer forget() // the rooms have told it everything
		_ = h.Registry.Run(ctx)
	})
	h.end = func() {
		cancel()
		done.Wait()
	}
	cast := []entry.Joined{}
	for _, id := range loaded {
		cast = append(cast, entry.Joined{ID: id, Name: strings.ToUpper(id), Kind: abi.KindCompanion})
	}
	h.SetCast(ctx, cast)
}

// again ends the house and begins it anew.
func (h *house) again(loaded ...string) {
	h.end()
	h.run(loaded...)
}

// in plays a house in a bubble of its own time.
func in(t *testing.T, prepare func(*house), play func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, journal: jmem.New(), rooms: []room.Settings{roomOf("main", "aya")}, settings: map[string]memory.Settings{}}
		if prepare != nil {
			prepare(h)
		}
		h.run("aya")
		defer func() { h.end() }()
		play(t, h)
	})
}

// say has somebody say something, and waits until all is quiet.
func (h *house) say(name, who, text string) uint64 {
	h.t.Helper()
	talk, err := h.Room(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	m, err := talk.Say(context.Background(), rooms.Utterance{From: who, Text: text})
	if err != nil {
		h.t.Fatalf("%s in %s: %v", text, name, err)
	}
	sleep(2 * time.Second)
	return m.Seq
}

// sleep lets time pass.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// rests waits until a talk was gone through.
func rests() { sleep(memory.Rests + time.Second) }

// recall gives what a companion recalls in a room, as texts.
func (h *house) recall(who, room, text string) (texts []string) {
	h.t.Helper()
	found, err := h.keeper.Recall(context.Background(), module.Caller{Companion: who, Room: room, Op: abi.OpSpeak}, abi.MemoryAsk{Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range found.Memories {
		texts = append(texts, m.Text)
	}
	return texts
}

// remembers gives all that a companion remembers, also what is no longer so, the newest first.
func (h *house) remembers(who string) []abi.Memory {
	h.t.Helper()
	p, err := h.keeper.List(context.Background(), who, memory.Filter{Past: true, Limit: memory.MaxList})
	if err != nil {
		h.t.Fatal(err)
	}
	return p.Memories
}

// facts are the texts of what it remembers, but for episodes.
func (h *house) facts(who string) (texts []string) {
	h.t.Helper()
	for _, m := range h.remembers(who) {
		if m.Kind == abi.MemoryFact {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// logged gives what was logged.
func (h *house) logged() string {
	h.logs.Lock()
	defer h.logs.Unlock()
	return h.log.String()
}

func contains(texts []string, part string) bool {
	return strings.Contains(strings.Join(texts, "\n"), part)
}

// read gives all entries of a stream.
func (h *house) read(stream string) []entry.Entry {
	h.t.Helper()
	es, err := h.journal.Read(context.Background(), stream, 0, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	return es
}

func wantCode(t testing.TB, err error, code abi.Code, words ...string) {
	t.Helper()
	if abi.CodeOf(err) != code {
		t.Errorf("got %v, want %q", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(fmt.Sprint(err), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}
