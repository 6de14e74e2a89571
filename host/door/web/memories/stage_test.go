package memories_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/memory"
)

var said = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

// house is what the door asks in these tests. It remembers of kyoko what it is given, and
// writes down what it is asked.
type house struct {
	kyoko []abi.Memory
	asked []string
	err   error // of everything, where it is set
	stops context.Context
}

func (h *house) stopping() context.Context {
	if h.stops == nil {
		return context.Background()
	}
	return h.stops
}

// remembered is what mika said, what ken said of mika, and what ken said.
func remembered() []abi.Memory {
	return []abi.Memory{
		{ID: "m1", Kind: abi.MemoryFact, Text: "Mika's cat is called Tama.", Quote: "my cat Tama", About: []string{"mika"}, Keys: []string{"Tama"}, Room: "main", Turns: []uint64{12}, SaidBy: "mika", SaidAt: said, Importance: 4, Visibility: abi.VisiblePerson},
		{ID: "m2", Kind: abi.MemoryFact, Text: "Mika likes <b>tea</b>.", About: []string{"Ｍika"}, SaidBy: "ken", SaidAt: said, Importance: 2, Visibility: abi.VisibleRoom},
		{ID: "m3", Kind: abi.MemoryEpisode, Text: "Ken moved.", About: []string{"ken"}, SaidBy: "ken", SaidAt: said, ValidTo: said.Add(time.Hour), Importance: 1, Visibility: abi.VisibleAll},
	}
}

func (h *house) note(format string, args ...any) error {
	h.asked = append(h.asked, fmt.Sprintf(format, args...))
	return h.err
}

func (h *house) Companions(context.Context) ([]string, error) { return []string{"gone"}, h.err }

func (h *house) List(_ context.Context, companion string, f memory.Filter) (memory.Page, error) {
	if err := h.note("list %s %+v", companion, f); err != nil {
		return memory.Page{}, err
	}
	if f.After == "m4" {
		return memory.Page{}, abi.Field("after", abi.CodeNotFound, "there is no %q", f.After)
	}
	p := memory.Page{Memories: h.kyoko[:min(f.Limit, len(h.kyoko))], Total: len(h.kyoko)} // whosever they are
	if len(p.Memories) == f.Limit {
		p.Next = p.Memories[f.Limit-1].ID
	}
	return p, nil
}

func (h *house) Get(_ context.Context, companion, id string) (abi.Memory, error) {
	if err := h.note("get %s %s", companion, id); err != nil {
		return abi.Memory{}, err
	}
	for _, m := range h.kyoko {
		if m.ID == id && companion == "kyoko" {
			return m, nil
		}
	}
	return abi.Memory{}, abi.Field("id", abi.CodeNotFound, "%s remembers no %q", companion, id)
}

func (h *house) Write(_ context.Context, companion string, a abi.MemoryAdd, v abi.Visibility, by string) (abi.Memory, error) {
	err := h.note("add %s %+v %s %s", companion, a, v, by)
	return abi.Memory{ID: "m9", Text: a.Text}, err
}

func (h *house) Edit(ctx context.Context, companion, id string, c memory.Changes, by string) (abi.Memory, error) {
	m, err := h.Get(ctx, companion, id)
	if err == nil {
		err = h.note("edit %s %s %s", companion, id, by)
	}
	if c.Text != nil {
		m.Text = *c.Text
	}
	if c.Keys != nil {
		m.Keys = *c.Keys
	}
	m.Importance = *cmp.Or(c.Importance, &m.Importance)
	m.Visibility = *cmp.Or(c.Visibility, &m.Visibility)
	m.ValidTo = *cmp.Or(c.ValidTo, &m.ValidTo)
	return m, err
}

func (h *house) Forget(ctx context.Context, f memories.Forget) (memories.Order, error) {
	if f.Who == "nobody" {
		return memories.Order{}, abi.Field("who", abi.CodeNotFound, "nobody of this name was ever here")
	}
	err := h.note("forget %s%s%s by %s copies=%t dry=%t", f.Who, f.Companion, f.Fact, cmp.Or(f.By.Name, "a guest"), f.Copies, f.DryRun)
	if f.Who == "endless" {
		<-ctx.Done()
		return memories.Order{ID: "o1", State: "running"}, nil
	}
	if !f.DryRun {
		return h.Order(ctx, "o1")
	}
	return memories.Order{State: "would", Kind: "person", Stores: []memories.Count{{Store: "entries", Count: 3}}}, err
}

func (h *house) Order(_ context.Context, id string) (memories.Order, error) {
	if id != "o1" && h.err == nil {
		return memories.Order{}, abi.Field("order", abi.CodeNotFound, "there is no %q", id)
	}
	return memories.Order{ID: id, At: said, State: "done", Kind: "person", As: "forgotten-3f9a1c", Stores: []memories.Count{{Store: "entries", Count: 3}}, Left: []string{"a copy"}}, h.err
}

func (h *house) Orders(ctx context.Context) ([]memories.Order, error) {
	o, err := h.Order(ctx, "o1")
	return []memories.Order{o, {}}, err
}

func (h *house) prompts(_ context.Context, room string, seq uint64) ([]told.Prompt, error) {
	if err := h.note("prompts %s %d", room, seq); err != nil {
		return nil, err
	}
	if room != "main" {
		return nil, abi.Field("room", abi.CodeNotFound, "there is no %q", room)
	}
	return []told.Prompt{{
		Seq: 14, At: said, Usage: entry.Usage{Who: "kyoko", Model: "small", Op: abi.OpSpeak, In: 900, Out: 12, Cached: 640, Calls: 1, Cost: .0021, About: seq},
		Parts: []told.Part{{Name: "system", Text: "You are <Kyoko>.", Tokens: 5}}, Exact: true,
	}, {Seq: 13, At: said, Why: "it was trimmed"}}, nil
}

// tokens are of people who look after the house, talk, read and act, and of agents.
const tokens = "admin human admin sha256:%s\nmika human read,talk sha256:%s\nlooker human read sha256:%s\nactor human act sha256:%s\nbot agent read,talk,act,admin sha256:%s\nkyoko agent read,talk,act,admin sha256:%s\n"

func newDoor(t *testing.T, h *house, change ...func(*guard.Config)) http.Handler {
	t.Helper()
	var hashes []any
	for _, name := range []string{"admin", "mika", "looker", "actor", "bot", "kyoko"} {
		hashes = append(hashes, identity.Hash(name+"'s"))
	}
	register, err := identity.Parse("tokens", fmt.Appendf(nil, tokens, hashes...))
	if err != nil {
		t.Fatal(err)
	}
	cfg := guard.Config{Tokens: register, Rate: -1}
	for _, f := range change {
		f(&cfg)
	}
	g, err := guard.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	lives := func() []web.Companion { return []web.Companion{{ID: "kyoko"}} }
	if err := web.Register(mux, web.Config{Companions: lives, Stopping: h.stopping(), Memories: &memories.Config{Memories: h, Forgetting: h, Prompts: h.prompts}}); err != nil {
		t.Fatal(err)
	}
	return g.Handler(guard.Mux(mux))
}

// answer is what a request got.
type answer struct {
	status int
	text   string
	abi.Memory
	Memories []abi.Memory
	Next     string
	Prompts  []told.Prompt
	Total    int
	Order    string
	State    string
	Orders   []memories.Order
	Code     string
	Detail   string
	Errors   []guard.Field
}

// ask makes a request as whoever: "here" or "elsewhere" without a token, else the holder of one.
func ask(t *testing.T, door http.Handler, whoever, method, path, body string) (a answer) {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, in)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:4000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch whoever {
	case "here":
	case "elsewhere":
		r.RemoteAddr = "192.0.2.7:4000"
	default:
		r.Header.Set("Authorization", "Bearer "+whoever+"'s")
	}
	w := httptest.NewRecorder()
	door.ServeHTTP(w, r)
	a = answer{status: w.Code, text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Errorf("%s: %v", a.text, err)
	}
	return a
}
