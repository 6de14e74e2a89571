package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
)

// actor is a companion of the house: it votes with its importance and says its
// line.
type actor struct {
	id         string
	importance float64
	aside      string
}

func (a *actor) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: a.id, Ops: []string{abi.OpVote, abi.OpSpeak}}
}

func (a *actor) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (a *actor) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	if req.Op == abi.OpSpeak {
		return json.Marshal(abi.Line{Text: a.id + "です"})
	}
	v := abi.Vote{State: abi.Listen, Backchannel: a.aside}
	if a.importance > 0 {
		v.State, v.Importance = abi.Speak, a.importance
	}
	return json.Marshal(v)
}

// home is a door before real rooms with a real journal.
type home struct {
	t     *testing.T
	lobby *room.Lobby
	door  *Door
	url   string
}

func rulesOf(policy string, pool abi.Pool) entry.Rules {
	r := entry.Rules{Policy: policy, Seed: "test", Patience: 2000, Floor: 5000, MaxTurns: 24, Stale: entry.StaleReask}
	if policy != "vote" {
		r.PolicyRaw, _ = json.Marshal(pool)
	}
	return r
}

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
	var ids atomic.Int64
	cast := []entry.Joined{}
	for _, a := range actors {
		cast = append(cast, entry.Joined{ID: a.id, Name: a.id, Kind: abi.KindCompanion})
	}
	lobby, err := room.NewLobby(room.Config{
		Journal: j, Log: slog.New(slog.DiscardHandler), Rooms: settings,
		NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) },
		Find: func(id string) (room.Companion, bool) {
			for _, a := range actors {
				if a.id == id {
					return a, true
				}
			}
			return nil, false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- lobby.Run(ctx) }()
	lobby.SetCast(ctx, cast)
	h := &home{t: t, lobby: lobby, door: New(Config{Rooms: lobby, Version: "test"})}
	go func() { ended <- h.door.Run(ctx) }()
	mux := http.NewServeMux()
	h.door.Register(mux)
	server := httptest.NewServer(mux)
	h.url = server.URL + "/mcp"
	waitFor(t, func() bool {
		for _, info := range lobby.Rooms() {
			if info.State == "unavailable" {
				return false
			}
		}
		return true
	})
	t.Cleanup(func() {
		_ = h.door.Close(context.Background())
		server.Close()
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

func (h *home) talk(name string) room.Talk {
	h.t.Helper()
	talk, err := h.lobby.Room(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return talk
}

// human says something in a room.
func (h *home) human(name, text string) abi.Message {
	h.t.Helper()
	m, err := h.talk(name).Say(h.t.Context(), room.Utterance{From: "taro", Text: text})
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

// consume calls seed A's tool.
func (a *agent) consume(from string, amount float64, message string) map[string]any {
	a.t.Helper()
	answer, failed := a.call("consume", map[string]any{"from": from, "amount": amount, "message": message})
	if failed {
		a.t.Fatalf("consume: %v", answer)
	}
	return answer
}
