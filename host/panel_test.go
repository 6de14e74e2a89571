package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"

	"github.com/companiond/companiond/host/waittest"
)

// refereed is a language model that votes, for one or for many, and says hello.
type refereed struct {
	mu    sync.Mutex
	votes [][]string // who each request for votes was for; of a vote alone nobody is named
	omit  string
}

func (m *refereed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream         bool
		Messages       []struct{ Content string }
		ResponseFormat struct {
			JSONSchema struct{ Name string } `json:"json_schema"`
		} `json:"response_format"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &req)
	last := req.Messages[len(req.Messages)-1].Content
	const vote = `"state":"speak","importance":%d,"closing":"none","reason":"they ask"}`
	content := "Hello!"
	m.mu.Lock()
	defer m.mu.Unlock()
	switch req.ResponseFormat.JSONSchema.Name {
	case "vote":
		m.votes = append(m.votes, nil)
		content = fmt.Sprintf("{"+vote, 9)
	case "votes":
		var task struct{ Asked []string }
		_ = json.Unmarshal([]byte(last[strings.LastIndexByte(last, '\n')+1:]), &task)
		m.votes = append(m.votes, task.Asked)
		var votes []string
		for i, who := range task.Asked {
			if who != m.omit {
				votes = append(votes, fmt.Sprintf(`{"who":%q,`+vote, who, 8-i))
			}
		}
		content = `{"votes":[` + strings.Join(votes, ",") + `]}`
	}
	text, _ := json.Marshal(content)
	const usage = `"usage":{"prompt_tokens":100,"completion_tokens":9}`
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],%s}`, text, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],%s}\n\ndata: [DONE]\n\n", text, usage)
}

func (m *refereed) asked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprint(m.votes)
}

// TestVotesTogether: one request votes for all characters of a model, and is written down
// once, for the first and with the others. Who is left out is asked about alone. What they
// were told can be shown.
func TestVotesTogether(t *testing.T) {
	waittest.WithoutRaces(t)
	m := &refereed{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	h := newHome(t)
	for _, name := range []string{"Ann", "Bob", "Cid"} {
		h.save(strings.ToLower(name)+".json", fmt.Appendf(nil, `{"name":%q,"personality":"is %[1]s","role":"x"}`, name))
	}
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\nvotes_together = true\n[room.main]\nmax_turns = 1\npatience = \"20s\"\n")
	round := func(human, omit, speaker, asked string) {
		t.Helper()
		m.mu.Lock()
		m.votes, m.omit = nil, omit
		m.mu.Unlock()
		n := len(h.messages("main"))
		h.say("main", human, "The weather is nice by the sea today.")
		h.until("somebody answers", func() bool { return len(h.messages("main")) == n+2 })
		if got := h.messages("main")[n+1]; got.From != speaker || m.asked() != asked {
			t.Errorf("%s answers after %s, want %s after %s", got.From, m.asked(), speaker, asked)
		}
	}
	round("taro", "", "ann", "[[ann bob cid]]")
	round("taro", "bob", "bob", "[[ann bob cid] []]")
	var together []entry.Usage
	h.until("what they cost is written down", func() bool {
		together = slices.DeleteFunc(ofKind[entry.Usage](h, "main", entry.KindUsage), func(u entry.Usage) bool { return u.Op != "vote" })
		return len(together) == 3
	})
	for i, want := range []string{"ann[bob cid]", "ann[bob cid]", "bob[]"} {
		if u := together[i]; fmt.Sprint(u.Who, u.With) != want || u.In != 100 || u.About == 0 {
			t.Errorf("usage %d: %+v, want %s", i, u, want)
		}
	}
	h.replay("main")
	h.stop()
	db, err := sqlite.OpenReadOnly(filepath.Join(h.dir, "state", "companiond.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	prompts, err := told.Shelf{Journal: db, Words: kept.New(db, ""), Zone: time.Local}.About(t.Context(), "main", together[1].About)
	if err != nil || len(prompts) == 0 || slices.ContainsFunc(prompts, func(p told.Prompt) bool { return !p.Exact }) || len(prompts[0].Usage.With) != 2 || !strings.Contains(prompts[0].Parts[0].Text, "is Bob") {
		t.Errorf("%v, %+v", err, prompts)
	}
}
