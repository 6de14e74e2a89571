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

// writers is a language model that answers with a vote and a line behind it. A line of
// those who lose is as long as anybody listens.
type writers struct {
	importance map[string]int // by the character's name

	mu    sync.Mutex
	asked map[string]int
	gone  map[string]int // whose answers were given up
}

func (m *writers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	who := ""
	for name := range m.importance {
		if strings.Contains(string(body), "You are "+name+", in a room with others") {
			who = name
		}
	}
	m.mu.Lock()
	m.asked[who]++
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(text string) {
		delta, _ := json.Marshal(text)
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", delta)
		w.(http.Flusher).Flush()
	}
	say(fmt.Sprintf("speak %d none\n", m.importance[who]))
	if m.importance[who] < 9 {
		<-r.Context().Done()
		m.mu.Lock()
		m.gone[who]++
		m.mu.Unlock()
		return
	}
	say("I am " + who + ". ")
	say("Hello!")
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// One request of each is all it takes: the vote comes first in it, the winner's line is
// there when it has the floor, and the others are not paid for on.
func TestVoteWithLine(t *testing.T) {
	waittest.WithoutRaces(t)
	m := &writers{importance: map[string]int{"Ann": 9, "Bob": 5, "Cid": 4}, asked: map[string]int{}, gone: map[string]int{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	h := newHome(t)
	for name := range m.importance {
		h.save(strings.ToLower(name)+".json", fmt.Appendf(nil, `{"name":%q,"personality":"x","role":"x"}`, name))
	}
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\nvote_with_line = true\n[room.main]\nmax_turns = 1\npatience = \"20s\"\n")
	h.say("main", "taro", "Hello all of you, who has time today?")
	h.until("Ann answers", func() bool { return len(h.messages("main")) == 2 })
	if got := h.messages("main")[1]; got.From != "ann" || got.Text != "I am Ann. Hello!" {
		t.Errorf("%+v", got)
	}
	h.until("the others are given up", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.gone["Bob"] == 1 && m.gone["Cid"] == 1
	})
	m.mu.Lock()
	if fmt.Sprint(m.asked) != "map[Ann:1 Bob:1 Cid:1]" {
		t.Errorf("asked %v", m.asked)
	}
	m.mu.Unlock()
	h.until("all three are paid for", func() bool { return len(ofKind[entry.Usage](h, "main", entry.KindUsage)) == 3 })
	h.replay("main")
}
