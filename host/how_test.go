package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/host/entry"

	"github.com/companiond/companiond/host/waittest"
)

// emoter is a language model that says its lines with the tool speak where it has one.
type emoter struct {
	mu       sync.Mutex
	says     string // parameters of speak; empty: text
	toolless bool
	asked    []string // bodies of the requests
}

func (m *emoter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, string(body))
	offered := strings.Contains(string(body), `"name":"speak"`)
	if m.toolless && offered {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"tiny does not support tools"}}`)
		return
	}
	delta, ends := `{"content":"Hello! How are you?"}`, "stop"
	if m.says != "" && offered {
		args, _ := json.Marshal(m.says)
		delta, ends = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"speak","arguments":%s}}]}`, args), "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, ends)
}

// TestHowItIsSaidInTurns: a character with the floor says how its line is said, and its body
// gets that; a line that the card does not take so is said without it. A model may write its
// line as text, and one without tools does.
func TestHowItIsSaidInTurns(t *testing.T) {
	waittest.WithoutRaces(t)
	m := &emoter{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("emo.json", []byte(`{"name": "Emo", "actions": [{"title": "speak", "properties": {
		"message": {"type": "string"}, "emotion": {"type": "string", "enum": ["joy", "anger"]}}, "required": ["message"]}]}`))
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\n[room.main]\npatience = \"20s\"\n")
	_, frames := h.body("/v1/actions?companion=emo", nil)
	answer := func(says string, toolless bool) entry.Said {
		m.mu.Lock()
		m.says, m.toolless = says, toolless
		m.mu.Unlock()
		h.say("main", "taro", "Emo, hello!")
		h.until("Emo answers", func() bool { all := h.messages("main"); return all[len(all)-1].From == "emo" })
		said := ofKind[entry.Said](h, "main", entry.KindSaid)
		return said[len(said)-1]
	}
	const glad = `{"message":"Hooray! I won.","emotion":"joy"}`
	if s := answer(glad, false); s.Text != "Hooray! I won." || string(s.Parameters) != glad || s.Segments != 0 || s.Warning != "" {
		t.Errorf("by the tool: %+v", s)
	}
	if f := h.next(frames); f.Action != "speak" || f.Parameters["message"] != "Hooray! I won." || f.Parameters["emotion"] != "joy" || f.Part != 1 {
		t.Errorf("the body gets %+v", f)
	}
	if s := answer(`{"message":"Alas!","emotion":"shame"}`, false); s.Text != "Alas!" || s.Parameters != nil || !strings.Contains(s.Warning, "parameters.emotion") {
		t.Errorf("what the card does not take: %+v", s)
	}
	if f := h.next(frames); f.Parameters["message"] != "Alas!" || f.Parameters["emotion"] != nil {
		t.Errorf("the body gets %+v", f)
	}
	for _, toolless := range []bool{false, true} {
		if s := answer("", toolless); s.Text != "Hello! How are you?" || s.Parameters != nil || s.Segments != 2 {
			t.Errorf("as text, without tools %v: %+v", toolless, s)
		}
	}
	h.replay("main")
}
