package registry_test

import (
	"cmp"
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
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// parrot answers what is no parrot.s line with what it heard.
type parrot struct{ name string }

func (p parrot) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: p.name, Ops: []string{abi.OpVote, abi.OpSpeak, abi.OpPerceive}}
}

func (parrot) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (parrot) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	var s abi.Scene
	if err := json.Unmarshal(req.Data, &s); err != nil {
		return nil, err
	}
	switch req.Op {
	case abi.OpVote:
		v := abi.Vote{State: abi.Listen}
		if s.Message.From != req.Self && !strings.HasPrefix(s.Message.Text, req.Room+" heard") {
			v = abi.Vote{State: abi.Speak, Importance: 5}
		}
		return json.Marshal(v)
	case abi.OpSpeak:
		return json.Marshal(abi.Line{Text: req.Room + " heard " + s.Message.Text})
	}
	return json.Marshal(abi.Judgement{State: abi.Listen})
}

// slow is a parrot that answers when it may.
type slow struct {
	parrot
	may chan struct{}
}

func (s slow) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	<-s.may
	return s.parrot.Call(ctx, req)
}

// house is a daemon without doors: a registry that can be ended and begun again on
// the same journal.
type house struct {
	*registry.Registry
	t       testing.TB
	journal journal.Journal
	log     slog.Handler // nil discards
	config  registry.Config
	ids     atomic.Int64
	end     func()

	mu   sync.Mutex
	live map[string]room.Companion
}

func settings(name string, companions ...string) room.Settings {
	return room.Settings{Name: name, Companions: companions, Rules: entry.Rules{
		Policy: "vote", Seed: name, Patience: 1000, Floor: 10_000, MaxTurns: 1, Perceived: 12, Stale: entry.StaleReask,
	}}
}

// newHouse makes a house that does not run yet.
func newHouse(t testing.TB, rooms ...room.Settings) *house {
	h := &house{t: t, journal: memory.New(), live: map[string]room.Companion{}}
	h.config = registry.Config{Rooms: rooms, Usual: "main", MaxRooms: 3, Read: read, Talks: entry.Rules{Policy: turn.ConversationPolicy, Patience: 1000, Floor: 10_000, Stale: entry.StaleAccept}}
	return h
}

// read takes {"companions": [...], "max_turns": N, "policy": ""}.
func read(name string, raw []byte) (room.Settings, error) {
	s := settings(name)
	given := struct {
		Companions *[]string `json:"companions"`
		MaxTurns   *int      `json:"max_turns"`
		Policy     *string   `json:"policy"`
	}{&s.Companions, &s.Rules.MaxTurns, &s.Rules.Policy}
	if err := json.Unmarshal(raw, &given); err != nil {
		return s, abi.Errorf(abi.CodeInvalid, "%v", err)
	}
	if s.Rules.Policy != "vote" {
		return s, abi.Errorf(abi.CodeInvalid, "policy: %q is unknown", s.Rules.Policy)
	}
	return s, nil
}

// run lets the house run until stop.
func (h *house) run() {
	h.t.Helper()
	c := h.config
	given := c.Room
	c.Room = room.Config{
		Here: given.Here, Named: given.Named, Conversed: given.Conversed,
		Journal: h.journal, Log: slog.New(cmp.Or(h.log, slog.DiscardHandler)), Idle: c.Room.Idle, House: c.Room.House,
		NewID: func() string { return fmt.Sprintf("id%d", h.ids.Add(1)) },
		Find: func(id string) (room.Companion, bool) {
			h.mu.Lock()
			defer h.mu.Unlock()
			p, ok := h.live[id]
			return p, ok
		},
	}
	var err error
	if h.Registry, err = registry.New(c); err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = h.Run(ctx) }) // it ends when ctx does
	h.end = func() {
		cancel()
		done.Wait()
	}
}

// meet says who is loaded.
func (h *house) meet(ids ...string) {
	cast := []entry.Joined{}
	h.mu.Lock()
	clear(h.live)
	for _, id := range ids {
		h.live[id] = parrot{id}
		cast = append(cast, entry.Joined{ID: id, Kind: abi.KindCompanion})
	}
	h.mu.Unlock()
	h.SetCast(context.Background(), cast)
}

func (h *house) room(name string) rooms.Room {
	h.t.Helper()
	talk, err := h.Room(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return talk
}

func (h *house) say(name, text string) abi.Message {
	h.t.Helper()
	m, err := h.room(name).Say(context.Background(), rooms.Utterance{From: "taro", Text: text})
	if err != nil {
		h.t.Fatalf("%s in %s: %v", text, name, err)
	}
	return m
}

func (h *house) texts(name string) (texts []string) {
	h.t.Helper()
	ms, _, err := h.room(name).Messages(context.Background(), 0, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range ms {
		texts = append(texts, m.From+": "+m.Text)
	}
	return texts
}

// kinds gives what is in a room's journal.
func (h *house) kinds(name string) string {
	h.t.Helper()
	es, err := h.journal.Read(context.Background(), name, 0, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	var kinds []string
	for _, e := range es {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func (h *house) row(name string) journal.Room {
	h.t.Helper()
	r, _, err := h.journal.Room(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// mine is an owner who may have three rooms.
var mine = rooms.Owner{Name: "taro"}

func (h *house) open(name string, by rooms.Owner, raw string) error {
	_, err := h.Open(context.Background(), rooms.Opening{Name: name, By: by, Settings: []byte(raw)})
	return err
}

// in plays a house in a bubble of its own time.
func in(t *testing.T, h func(t *testing.T) *house, play func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := h(t)
		h.run()
		defer func() { h.end() }()
		play(t, h)
	})
}

func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantCode(t testing.TB, err error, code abi.Code, words ...string) {
	t.Helper()
	if err == nil && code == "" {
		return
	}
	if err == nil || abi.CodeOf(err) != code {
		t.Errorf("got %v, want %q", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}
