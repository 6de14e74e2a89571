package host_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestForksShareABound: what a room may spend in a day is spent in its forks, too, and in theirs.
func TestForksShareABound(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	v := &vendor{told: map[string]map[string]bool{}}
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	h.save("aya.json", []byte(`{"name":"Aya","personality":"x","role":"x"}`))
	h.open(fmt.Sprintf("[memory]\nby = \"rules\"\n[room.main]\nmax_turns = 1\nsilence = \"0s\"\ncalls_day = 1\n[model.main]\nurl = %q\nmodel = \"tiny\"\n", server.URL))
	h.say("main", "taro", "Aya, are you there?")
	h.until("Aya answers", func() bool { return len(h.messages("main")) == 2 })
	for _, of := range []string{"main", "main-2"} {
		if status, answer := h.ask("POST", "/v1/rooms/"+of+"/forks", "{}"); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
	}
	for _, room := range []string{"main-3", "main-2", "main"} {
		seq := h.say(room, "taro", "Aya, and now?")
		h.until("she is over the bound in "+room, func() bool {
			return strings.Contains(h.why(room, seq), "room.main.calls_day: 1 a day are used up")
		})
	}
	if n := len(v.calls()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
