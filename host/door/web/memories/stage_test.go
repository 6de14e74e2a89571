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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

var said = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

// house is what the door asks in these tests. It remembers of kyoko what it is given, and
// writes down what it is asked.
type house struct {
	kyoko []abi.Memory
	asked []string
	err   error // of everything, where it is set
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

func (h *house) List(_ context.Context, companion string, f memories.Filter) ([]abi.Memory, error) {
	if err := h.note("list %s %+v", companion, f); err != nil {
		return nil, err
	}
	if companion != "kyoko" {
		return nil, abi.Field("companion", abi.CodeNotFound, "there is no %q", companion)
	}
	return slices.Clone(h.kyoko[:min(f.Limit, len(h.kyoko))]), nil // whoever they are of
}

func (h *house) One(_ context.Context, companion, id string) (abi.Memory, error) {
	if err := h.note("one %s %s", companion, id); err != nil {
		return abi.Memory{}, err
	}
	if companion != "kyoko" {
		return abi.Memory{}, abi.Field("companion", abi.CodeNotFound, "there is no %q", companion)
	}
	for _, m := range h.kyoko {
		if m.ID == id {
			return m, nil
		}
	}
	return abi.Memory{}, abi.Field("id", abi.CodeNotFound, "kyoko remembers no %q", id)
}

func (h *house) Add(_ context.Context, companion, by string, m abi.Memory) (abi.Memory, error) {
	err := h.note("add %s %s %s", companion, by, m.Text)
	m.ID = "m9"
	return m, err
}

func (h *house) Edit(ctx context.Context, companion, id, by string, c memories.Change) (abi.Memory, error) {
	m, err := h.One(ctx, companion, id)
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

func (h *house) Forget(ctx context.Context, f memories.Forget) (memories.Gone, error) {
	if f.Who == "nobody" {
		return memories.Gone{}, abi.Field("who", abi.CodeNotFound, "nobody of this name was ever here")
	}
	err := h.note("forget %+v", f)
	if !f.DryRun && ctx.Done() != nil {
		h.asked = append(h.asked, "which could be given up in the middle")
	}
	return memories.Gone{Stores: []memories.Count{{Store: "messages", Count: 3}}, Left: nil}, err
}

func (h *house) prompts(_ context.Context, room string, seq uint64) ([]memories.Prompt, error) {
	if err := h.note("prompts %s %d", room, seq); err != nil {
		return nil, err
	}
	if room != "main" {
		return nil, abi.Field("room", abi.CodeNotFound, "there is no %q", room)
	}
	return []memories.Prompt{{
		Seq: 14, At: said, Usage: entry.Usage{Who: "kyoko", Model: "small", Op: abi.OpSpeak, In: 900, Out: 12, Cached: 640, Calls: 1, Cost: .0021, About: seq},
		Parts: []memories.Part{{Name: "system", Text: "You are <Kyoko>.", Tokens: 5}}, Exact: true,
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
	if err := web.Register(mux, web.Config{Memories: &memories.Config{Memories: h, Forgetting: h, Prompts: h.prompts}}); err != nil {
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
	Prompts  []memories.Prompt
	DryRun   bool `json:"dry_run"`
	Who      string
	Stores   []memories.Count
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
