package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
)

// told is a line of what a compresser or verifier is told.
type toldLine struct {
	Keep     string
	Turn     uint64
	Policy   json.RawMessage // of a thing to be kept it is a truth, else the policy
	Text     string
	Draft    any
	Refused  string `json:"refused_draft"`
	Feedback string
	Task     string
	Length   int
	Part     int
}

func (l toldLine) named() bool { return l.Keep != "" && string(l.Policy) == "true" }

// request is one that an endpoint got.
type request struct {
	body      []byte
	name      string // of the schema; none for a line
	system    string
	text      string // of the messages behind it, each behind its role
	lines     []toldLine
	maxTokens int
}

// scribeModel is an endpoint at which a character wants to speak where it is named, and that compresses and verifies as a test says.
type scribeModel struct {
	compress func(request) string // the whole text that it answers
	verify   func(request) string
	refuses  func(request) bool // for want of context

	mu   sync.Mutex
	asks []request
}

func (m *scribeModel) open(t *testing.T) string {
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

// asked gives the requests so far of a schema; "": those for lines.
func (m *scribeModel) asked(name string) (all []request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.asks {
		if r.name == name {
			all = append(all, r)
		}
	}
	return all
}

func (m *scribeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Stream         bool
		Messages       []struct{ Role, Content string }
		MaxTokens      int `json:"max_tokens"`
		ResponseFormat struct {
			Schema struct{ Name string } `json:"json_schema"`
		} `json:"response_format"`
	}
	req := request{}
	req.body, _ = io.ReadAll(r.Body)
	_ = json.Unmarshal(req.body, &asked)
	req.name, req.system, req.maxTokens = asked.ResponseFormat.Schema.Name, asked.Messages[0].Content, asked.MaxTokens
	for _, said := range asked.Messages[1:] {
		req.text += said.Role + ": " + said.Content + "\n"
	}
	for line := range strings.SplitSeq(asked.Messages[1].Content, "\n") {
		var l toldLine
		if json.Unmarshal([]byte(line), &l) == nil {
			req.lines = append(req.lines, l)
		}
	}
	m.mu.Lock()
	m.asks = append(m.asks, req)
	m.mu.Unlock()
	if m.refuses != nil && m.refuses(req) {
		http.Error(w, `{"error":{"message":"the prompt exceeds the context window"}}`, http.StatusBadRequest)
		return
	}
	text, stop := "", "stop"
	switch req.name {
	case "compressed":
		text = m.compress(req)
	case "verified":
		if text = m.verify(req); strings.HasSuffix(text, cutOff) {
			text, stop = strings.TrimSuffix(text, cutOff), "length"
		}
	case "":
		text = "I have heard you."
	default:
		lines := strings.Split(strings.TrimSpace(req.text), "\n")
		state := "listen"
		if strings.Contains(strings.Join(lines[max(0, len(lines)-3):], "\n"), "Ann, ") {
			state = "speak"
		}
		text = fmt.Sprintf(`{"state":%q,"importance":5,"closing":"none","reason":"x"}`, state)
	}
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":{"prompt_tokens":700,"completion_tokens":9}}`, quoted(text), stop)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quoted(text))
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", stop)
}

// cutOff ends a text that an endpoint cuts off at the bound.
const cutOff = "\x00"

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// writes is a compresser's answer.
func writes(text string) string { return `{"text":` + quoted(text) + `}` }

// judges is a verifier that finds what stands in the draft letter by letter, and says YES where all that the policy names does.
func judges(r request) string {
	draft, said := "", abi.Verified{Verdict: abi.VerdictYes}
	for _, l := range r.lines {
		if text, is := l.Draft.(string); is {
			draft = text
		} else if l.Draft == true {
			draft = l.Text
		}
	}
	for _, l := range r.lines {
		if l.Keep == "" {
			continue
		}
		item := abi.VerifiedItem{ID: l.Keep, Status: abi.StatusKept, Quote: l.Text}
		if !strings.Contains(draft, l.Text) {
			if item.Status, item.Quote = abi.StatusMissing, ""; l.named() {
				said.Verdict = abi.VerdictNo
			}
		}
		said.Items = append(said.Items, item)
	}
	items, _ := json.Marshal(append([]abi.VerifiedItem{}, said.Items...))
	return fmt.Sprintf(`{"items":%s,"added":[],"feedback":"","verdict":%q}`, strings.ReplaceAll(string(items), `"missing"}`, `"missing","quote":""}`), said.Verdict)
}

// post asks a door for something, and gives the answer's status.
func (h *home) post(path string, in, out any) int {
	h.t.Helper()
	b, _ := json.Marshal(in)
	resp, err := http.Post(h.url+path, "application/json", bytes.NewReader(b))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	if err := json.Unmarshal(answer, out); err != nil {
		h.t.Fatalf("%s: %s %s", path, resp.Status, answer)
	}
	return resp.StatusCode
}

// compressed asks for turns to be compressed, and waits until that stands.
func (h *home) compressed(ask map[string]any) (c past.Compression) {
	h.t.Helper()
	if status := h.post("/v1/rooms/main/compressions", ask, &c); status != http.StatusCreated {
		h.t.Fatalf("%d %+v", status, c)
	}
	h.until("it is drafted", func() bool {
		var list struct{ Compressions []past.Compression }
		h.get("/v1/rooms/main/compressions", &list)
		at := slices.IndexFunc(list.Compressions, func(o past.Compression) bool { return o.ID == c.ID })
		return list.Compressions[at].State != "drafting" || ask["text"] != nil && len(list.Compressions[at].Drafts) > 0 // another may come from outside
	})
	h.get("/v1/rooms/main/compressions/"+c.ID, &c)
	return c
}

// decides does something with a compression.
func (h *home) decides(id, what string) (c past.Compression) {
	h.t.Helper()
	if status := h.post("/v1/rooms/main/compressions/"+id+"/"+what, map[string]any{}, &c); status != http.StatusOK {
		h.t.Fatalf("%s: %d %+v", what, status, c)
	}
	return c
}
