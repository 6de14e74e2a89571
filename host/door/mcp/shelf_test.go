package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/waittest"
)

// The protocol's newest revision with sessions, and the first without.
const (
	sessionEra = "2025-11-25"
	modernEra  = "2026-07-28"
)

// shelf is a folder of cards, and a door that is told when they change. Each card
// is that of a companion, which lives in the room "main", but for the drifter.
type shelf struct {
	t       *testing.T
	dir     string
	journal *memory.Journal
	cast    *cast
	rooms   *registry.Registry
	door    *Door
	url     string

	mu     sync.Mutex
	caller identity.Caller // whoever comes
}

// drifter is a companion that lives in no room.
const drifter = "drifter"

func openShelf(t *testing.T, requireSpec bool) *shelf {
	t.Helper()
	s := &shelf{t: t, dir: t.TempDir(), journal: memory.New(), cast: &cast{}, caller: identity.Guest(nil)}
	s.rooms = newRooms(t, s.journal, s.cast, room.Settings{
		Name: usualRoom, Companions: []string{"nikoni", "zaya", "kyoko", "aya", "アヤ", "main"}, Rules: rulesOf("vote", abi.Pool{}),
	})
	s.door = New(Config{Rooms: s.rooms, Version: "test", Cards: s.cards, Meant: s.meant, RequireSpec: requireSpec, Stopping: context.Background()})
	mux := http.NewServeMux()
	s.door.Register(mux)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		c := s.caller
		s.mu.Unlock()
		r.Header.Set("Authorization", "Bearer checked") // as the guard leaves it
		mux.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
	}))
	s.url = server.URL + "/mcp"
	run(t, s.rooms.Run, s.door.Run)
	t.Cleanup(func() { _ = s.door.Close(context.Background()); server.Close() })
	s.changed()
	return s
}

// changed tells the rooms and the door of what is in the folder now, as the host does.
func (s *shelf) changed() {
	here := map[string]room.Companion{}
	for _, c := range s.cards() {
		here[c.ID] = shelved(c)
	}
	s.cast.set(here)
	s.rooms.SetCast(s.t.Context(), s.cast.joined())
	s.door.CardsChanged()
}

// played gives the actions that are in the journal.
func (s *shelf) played() (acts []entry.Action) {
	s.t.Helper()
	es, err := s.journal.Read(s.t.Context(), usualRoom, 0, 1<<30)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range es {
		var act entry.Action
		if e.Kind != entry.KindAction {
			continue
		}
		if err := json.Unmarshal(e.Body, &act); err != nil {
			s.t.Fatal(err)
		}
		acts = append(acts, act)
	}
	return acts
}

// from lets everybody be one caller from now on.
func (s *shelf) from(c identity.Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller = c
}

// meant takes companions by name, and sessions as SESSION-of-CALLER-with-COMPANION.
func (s *shelf) meant(name, caller string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "session-of-"); ok {
		owner, companion, _ := strings.Cut(rest, "-with-")
		if owner != caller {
			return "", abi.Errorf(abi.CodeDenied, "session: was opened by somebody else")
		}
		return companion, nil
	}
	if _, err := os.Stat(s.path(name)); err != nil {
		return "", abi.Errorf(abi.CodeNotFound, "companion: %q is nobody", name)
	}
	return name, nil
}

func (s *shelf) path(id string) string { return filepath.Join(s.dir, id+".json") }

// save writes a card as good editors do.
func (s *shelf) save(id, text string) {
	s.t.Helper()
	tmp := s.path(id) + ".tmp"
	writeFile(s.t, tmp, text)
	rename(s.t, tmp, s.path(id)) // whoever reads meanwhile has the one or the other
	s.changed()
}

func (s *shelf) remove(id string) {
	s.t.Helper()
	if err := os.Remove(s.path(id)); err != nil {
		s.t.Fatal(err)
	}
	s.changed()
}

// cards reads the folder, as host/card would.
func (s *shelf) cards() []cards.Card {
	files, _ := filepath.Glob(s.path("*"))
	var all []cards.Card
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			panic(err)
		}
		var file struct {
			Name    string
			Actions []json.RawMessage
		}
		if err := json.Unmarshal(source, &file); err != nil {
			panic(err)
		}
		c := cards.Card{ID: strings.TrimSuffix(filepath.Base(f), ".json"), Name: file.Name, Source: source}
		for _, raw := range file.Actions {
			var a struct{ Title, Description string }
			if err := json.Unmarshal(raw, &a); err != nil {
				panic(err)
			}
			c.Actions = append(c.Actions, cards.Action{Name: a.Title, Description: a.Description, Schema: raw})
		}
		all = append(all, c)
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	usual := card.Usual(slices.DeleteFunc(ids, func(id string) bool { return id == drifter }), card.Home{Companions: []string{"*"}})
	for i := range all {
		all[i].Usual = all[i].ID == usual
	}
	return all
}

// shelved is the companion of a card, which says nothing and plays what is in it.
type shelved cards.Card

func (c shelved) Describe() abi.Description { return abi.Description{ABI: "1", Name: c.ID} }

func (c shelved) Call(context.Context, abi.Request) (json.RawMessage, error) {
	return nil, abi.Errorf(abi.CodeUnknownOp, "%s answers nothing", c.ID)
}

func (c shelved) Permit(a abi.ActionAsk) (string, error) {
	i := slices.IndexFunc(c.Actions, func(known cards.Action) bool { return known.Name == a.Action })
	if i < 0 {
		return "", abi.Errorf(abi.CodeInvalid, "action: %s has no %q", c.ID, a.Action)
	}
	var schema jsonschema.Schema
	var v any = map[string]any{}
	if json.Unmarshal(c.Actions[i].Schema, &schema) != nil || len(a.Parameters) > 0 && json.Unmarshal(a.Parameters, &v) != nil {
		panic("what came was JSON")
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		panic(err)
	}
	if x, is := v.(map[string]any); is {
		if _, is := x["x"].(string); is {
			return "", abi.Errorf(abi.CodeInvalid, "parameters.x: is a string, must be a number")
		}
	}
	if err := r.Validate(v); err != nil {
		return "", abi.Errorf(abi.CodeInvalid, "parameters: %v", err)
	}
	return "", nil
}

// told is what a client was told, in the order in which it came.
type told chan string

func (c told) await(t *testing.T) string {
	t.Helper()
	select {
	case what := <-c:
		return what
	case <-time.After(waittest.Long):
		t.Fatal("nothing was told")
	}
	return ""
}

// quiet demands that nothing more is told.
func (c told) quiet(t *testing.T) {
	t.Helper()
	select {
	case what := <-c:
		t.Errorf("told of %s", what)
	case <-time.After(100 * time.Millisecond):
	}
}

// connect opens a client of an era that writes down what it is told.
func (s *shelf) connect(era string) (*agent, told) {
	s.t.Helper()
	c := make(told, 64)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { c <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c <- "resources" },
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { c <- "tools" },
	})
	own := &http.Transport{}
	s.t.Cleanup(own.CloseIdleConnections)
	cs, err := client.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: own}}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cs.Close() })
	return &agent{s.t, cs}, c
}

// spec reads a card.
func (a *agent) spec(uri string) (string, error) {
	res, err := a.session.ReadResource(a.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(res.Contents) != 1 || res.Contents[0].MIMEType != "application/json" || res.Contents[0].URI != uri {
		a.t.Errorf("%s: %+v", uri, res.Contents)
	}
	return res.Contents[0].Text, nil
}

// uris lists the resources that are cards.
func (a *agent) uris() []string {
	a.t.Helper()
	list, err := a.session.ListResources(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	uris := []string{}
	for _, r := range list.Resources {
		if strings.HasPrefix(r.URI, "spec:") {
			uris = append(uris, r.URI)
		}
	}
	return uris
}

// playable lists the actions that action-play has, nil without the tool.
func (a *agent) playable() []string {
	a.t.Helper()
	list, err := a.session.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != playTool {
			continue
		}
		names := []string{}
		properties := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for _, name := range properties["actionName"].(map[string]any)["enum"].([]any) {
			names = append(names, name.(string))
		}
		return names
	}
	return nil
}

// subscribe asks to be told of a resource.
func (a *agent) subscribe(uri string) {
	a.t.Helper()
	if err := a.session.Subscribe(a.t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		a.t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
