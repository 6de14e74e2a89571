package mcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// An agent is told who is heard, how far the talk is, and which lines were cut off.
func TestWhatIsHeard(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.MaxTurns = 5
	h := openHome(t, map[string]entry.Rules{"main": rules}, &actor{id: "aya", importance: 5, says: strings.Repeat("。これはとても長い話です", 20)})
	_, leave := h.talk("main").Embody(entry.Body{Who: "aya", Plays: true})
	defer leave()
	a := h.connect(nil)
	h.human("main", "やあ")
	waittest.Until(t, "somebody is heard", func() bool { return h.talk("main").Info().Heard == "aya" })
	if got, _ := a.call("status", nil); fmt.Sprint(got) != "map[resource:100]" { // chat-relay's agents refuse more
		t.Errorf("status: %v", got)
	}
	got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0})
	if got["heard"] != "aya" || got["turns"] != 1.0 {
		t.Errorf("wait_for_turn: %v", got)
	}
	time.Sleep(time.Second) // some of the line is heard
	if _, err := h.talk("main").Stop(t.Context(), "taro"); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "nobody is heard", func() bool { return h.talk("main").Info().Heard == "" })
	for _, in := range []map[string]any{nil, {"since": 0}} {
		got, _ = a.call("history", in)
		past := got["history"].([]any)
		line := past[len(past)-1].(map[string]any)
		if text := line["message"].(string); line["cut"] != "stopped" || text == "" || len(text) > 300 {
			t.Errorf("%v: %v", in, line)
		}
	}
}

// It is told why a human has to wait.
func TestWhyNobodyAnswers(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.Patience = 20
	h := openHome(t, map[string]entry.Rules{"main": rules})
	a := h.connect(nil)
	if _, failed := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); failed {
		t.Fatal("the agent is not taken in")
	}
	h.human("main", "やあ")
	waittest.Until(t, "the room waits", func() bool { return h.talk("main").Info().State == "waiting" })
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["waiting"] != h.talk("main").Info().Waiting || got["waiting"] == "" {
		t.Errorf("%v", got)
	}
}
