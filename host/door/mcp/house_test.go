package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// actor is a companion of the house: it votes with its importance and says its
// line.
type actor struct {
	id         string
	importance float64
	aside      string
	says       string // besides what all do
}

func (a *actor) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: a.id, Ops: []string{abi.OpVote, abi.OpSpeak}}
}

func (a *actor) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (a *actor) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	if req.Op == abi.OpSpeak {
		return json.Marshal(abi.Line{Text: a.id + "です" + a.says})
	}
	v := abi.Vote{State: abi.Listen, Backchannel: a.aside}
	if a.importance > 0 {
		v.State, v.Importance = abi.Speak, a.importance
	}
	return json.Marshal(v)
}

// cast are the companions of a house, by id. It may change while the rooms run.
type cast struct {
	mu     sync.Mutex
	actors map[string]room.Companion
}

func (c *cast) set(actors map[string]room.Companion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.actors = actors
}

func (c *cast) find(id string) (room.Companion, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.actors[id]
	return a, ok
}

func (c *cast) joined() []entry.Joined {
	here := []entry.Joined{}
	for _, id := range c.Residents() {
		here = append(here, entry.Joined{ID: id, Name: id, Kind: abi.KindCompanion})
	}
	return here
}

// Residents implements room.House.
func (*cast) Loading() []string { return nil }

func (c *cast) Residents() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.actors))
}

// Resident implements room.House.
func (c *cast) Resident(name string) (id string, taken bool) {
	for _, id := range c.Residents() {
		if address.Same(id, name) {
			return id, true
		}
	}
	return "", false
}

// Holder implements room.House.
func (c *cast) Holder(string) (string, bool) { return "", false }

// usualRoom is the room of whoever names none.
const usualRoom = "main"

// newRooms makes rooms on a journal, in which the cast lives. They fall asleep as
// soon as nothing is going on, so that every test meets rooms that sleep.
func newRooms(t *testing.T, j journal.Journal, c *cast, settings ...room.Settings) *registry.Registry {
	t.Helper()
	var ids atomic.Int64
	rooms, err := registry.New(registry.Config{
		Room: room.Config{
			Journal: j, Find: c.find, House: c, Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond,
			NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) },
		},
		Rooms: settings, Usual: usualRoom, MaxRooms: 3, Read: readRoom,
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// readRoom takes the policy, and the size of the pool, of a room that is opened while the
// daemon runs, in which everybody lives.
func readRoom(name string, settings []byte) (room.Settings, error) {
	s := struct {
		Policy string  `json:"policy"`
		Size   float64 `json:"size"`
	}{"pool", 100}
	if err := json.Unmarshal(settings, &s); err != nil {
		return room.Settings{}, abi.Errorf(abi.CodeInvalid, "settings: %v", err)
	}
	pool := abi.DefaultPool()
	pool.Size = s.Size
	return room.Settings{Name: name, Companions: []string{"*"}, Rules: rulesOf(s.Policy, pool)}, nil
}

// home is a door before real rooms with a real journal.
type home struct {
	t     *testing.T
	rooms *registry.Registry
	door  *Door
	url   string
	stops context.CancelFunc // whoever waits is told that the daemon stops
}

func rulesOf(policy string, pool abi.Pool) entry.Rules {
	r := entry.Rules{Policy: policy, Seed: "test", Patience: 2000, Floor: 5000, MaxTurns: 24, Perceived: 12, Stale: entry.StaleReask}
	if policy != "vote" {
		r.PolicyRaw, _ = json.Marshal(pool)
	}
	return r
}

// noCards are the cards of a house in which no companion has one.
func noCards() []cards.Card { return nil }

// openHome opens a door before rooms of these rules, by name.
func openHome(t *testing.T, rooms map[string]entry.Rules, actors ...*actor) *home {
	t.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(t.TempDir(), "j.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	var settings []room.Settings
	for name, rules := range rooms {
		settings = append(settings, room.Settings{Name: name, Companions: []string{"*"}, Rules: rules})
	}
	c := &cast{actors: map[string]room.Companion{}}
	for _, a := range actors {
		c.actors[a.id] = a
	}
	h := &home{t: t, rooms: newRooms(t, j, c, settings...)}
	var stopping context.Context
	stopping, h.stops = context.WithCancel(context.Background())
	t.Cleanup(h.stops)
	h.door = New(Config{Rooms: h.rooms, Version: "test", Cards: noCards, Stopping: stopping})
	mux := http.NewServeMux()
	h.door.Register(mux)
	server := httptest.NewServer(mux)
	h.url = server.URL + "/mcp"
	run(t, h.rooms.Run, h.door.Run)
	t.Cleanup(func() { _ = h.door.Close(context.Background()); server.Close() })
	h.rooms.SetCast(t.Context(), c.joined())
	return h
}

// run lets something run until the test ends; then all of it must have gone.
func run(t *testing.T, all ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, len(all))
	for _, f := range all {
		go func() { ended <- f(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range all {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func (h *home) talk(name string) rooms.Room {
	h.t.Helper()
	talk, err := h.rooms.Room(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return talk
}

// human says something in a room.
func (h *home) human(name, text string) abi.Message {
	h.t.Helper()
	m, err := h.talk(name).Say(h.t.Context(), rooms.Utterance{From: "taro", Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// agent is a client of the door, made of the SDK's.
type agent struct {
	t       *testing.T
	session *sdk.ClientSession
}

// connect opens a session of the older era, as most clients do.
func (h *home) connect(o *sdk.ClientOptions) *agent {
	h.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	s, err := c.Connect(h.t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{h.t, s}
}

// call calls a tool and gives the structured answer; failed says whether the
// answer is an error.
func (a *agent) call(tool string, args map[string]any) (answer map[string]any, failed bool) {
	a.t.Helper()
	res, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	if res.IsError { // which has no structured answer, for it would not be the one declared
		answer, ok := res.Meta[metaError].(map[string]any)
		if !ok || res.StructuredContent != nil {
			a.t.Fatalf("%s %v: %v, %v", tool, args, res.Meta, res.StructuredContent)
		}
		return answer, true
	}
	answer, ok := res.StructuredContent.(map[string]any)
	if !ok {
		a.t.Fatalf("%s %v: no structured answer: %v", tool, args, res.StructuredContent)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if again := map[string]any{}; json.Unmarshal([]byte(text), &again) != nil || fmt.Sprint(again) != fmt.Sprint(answer) {
		a.t.Fatalf("%s: the text %s is not the structured answer %v", tool, text, answer)
	}
	return answer, false
}

// consume calls chat-relay's tool.
func (a *agent) consume(from string, amount float64, message string) map[string]any {
	a.t.Helper()
	answer, failed := a.call("consume", map[string]any{"from": from, "amount": amount, "message": message})
	if failed {
		a.t.Fatalf("consume: %v", answer)
	}
	return answer
}
