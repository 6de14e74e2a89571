package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/entry"
)

// gossips is a house with one who says again what it hears, and with ngword as a filter.
func gossips(t *testing.T, settings string) *home {
	t.Helper()
	h := newHome(t)
	h.drop(build(t, "./testdata/gossip", "gossip", ""), "gossip.wasm")
	install(t, build(t, "../plugins/ngword", "ngword", ""), filepath.Join(h.dir, "plugins"), "ngword.wasm")
	h.open(handlerRoom + "max_turns = 1\n[handler.ngword]\nfail = \"stop\"\n" + settings)
	h.until("ngword is loaded", func() bool {
		var list []struct{ ID, State string }
		h.get("/v1/companions", &list)
		n := 0
		for _, c := range list {
			if c.State == "ready" {
				n++
			}
		}
		return n == 2
	})
	return h
}

// told gives what gossip says of what it is told, and the seq of that, once the entry of a kind is there.
func (h *home) told(text string, kind entry.Kind) (said string, seq uint64) {
	h.t.Helper()
	from := h.say("main", "taro", "gossip: "+text)
	h.until("what gossip makes of "+text, func() bool {
		for _, e := range h.entries("main") {
			if e.Seq <= from || e.Kind != kind {
				continue
			}
			if m, ok := e.Message(); ok {
				said, seq = m.Text, e.Seq
				return true
			}
			b, err := entry.Decode[entry.Failed](e)
			said, seq = b.Error, e.Seq
			return err == nil && b.Grant != ""
		}
		return false
	})
	return said, seq
}

// whyOf gives what `companiond why` says of an entry.
func (h *home) whyOf(seq uint64) string {
	h.t.Helper()
	var why struct{ Text string }
	h.get(fmt.Sprintf("/v1/rooms/main/entries/%d/why", seq), &why)
	return why.Text
}

// tailed gives the room as people see it at a terminal.
func (h *home) tailed() string {
	h.t.Helper()
	var out bytes.Buffer
	for _, e := range h.entries("main") {
		if err := (paint.Painter{Out: &out}).Entry(e); err != nil {
			h.t.Error(err)
		}
	}
	return out.String()
}

// perceives offers gossip a line of a chat.
func (h *home) perceives(text string) (status int, answer string) {
	h.t.Helper()
	body, _ := json.Marshal(map[string]string{"title": "chat", "format": "text", "body": text})
	return h.ask(http.MethodPost, "/v1/companions/gossip/perceptions?wait=20", string(body))
}

// steps gives what was done about lines, or about perceptions.
func (h *home) steps(of string) (all []string) {
	for _, e := range h.entries("main") {
		if b, err := entry.Decode[entry.Handled](e); e.Kind == entry.KindHandled && err == nil && b.Of == of {
			for _, s := range b.Steps {
				all = append(all, s.Handler+" "+s.Did)
			}
		}
	}
	return all
}

// TestFilterMasks: what a companion says, in pieces or at once, and what it perceives has no forbidden word any more, at
// the doors and in the journal; why and tail say so.
func TestFilterMasks(t *testing.T) {
	h := gossips(t, "on = [\"ch*\"]\nsettings = { words = [\"badword\", \"ばか\"] }\n")
	if said, _ := h.told("it is a BadWord.", entry.KindSaid); said != "it is a ＊＊＊＊＊＊＊." {
		t.Errorf("at once: %q", said)
	}
	said, seq := h.told("a badword, |good, |バカ.", entry.KindSaid)
	if said != "a ＊＊＊＊＊＊＊, |good, |＊＊." {
		t.Errorf("in pieces: %q", said)
	}
	if why := h.whyOf(seq); strings.Count(why, "ngword changed a piece of its line") != 2 || strings.Count(why, "ngword passed a piece of its line") != 1 {
		t.Errorf("why: %s", why)
	}
	if want := []string{"ngword changed", "ngword changed", "ngword passed", "ngword changed"}; !slices.Equal(h.steps(entry.OfLine), want) {
		t.Errorf("steps %q", h.steps(entry.OfLine))
	}
	if status, answer := h.perceives("so badword"); status != http.StatusOK && status != http.StatusCreated {
		t.Fatalf("a perception: %d %s", status, answer)
	}
	h.until("gossip tells", func() bool {
		all := h.messages("main")
		return all[len(all)-1].Text == "I heard: so ＊＊＊＊＊＊＊"
	})
	all := h.messages("main")
	if why := h.whyOf(all[len(all)-1].Seq); !strings.Contains(why, `ngword changed the perception "chat"`) || !strings.Contains(why, "ngword passed a piece of its line") {
		t.Errorf("why: %s", why)
	}
	for _, e := range h.entries("main") {
		if b := strings.ToLower(string(e.Body)); e.Kind != entry.KindSaid && e.Kind != entry.KindRound && (strings.Contains(b, "badword") || strings.Contains(b, "バカ")) {
			t.Errorf("%s has the word: %s", e.Kind, e.Body)
		}
	}
	if tail := h.tailed(); !strings.Contains(tail, "ngword changed what gossip says") || !strings.Contains(tail, "ngword changed what gossip perceives as chat") || strings.Contains(tail, "ngword passed") {
		t.Errorf("tail: %s", tail)
	}
	h.stop()
	h.replay("main")
}

// TestFilterRefuses: nothing behind a refused piece is said, nothing at all where there was none before it, and whoever offers a
// perception hears why it is refused.
func TestFilterRefuses(t *testing.T) {
	h := gossips(t, "settings = { words = [\"badword\"], mode = \"refuse\" }\n")
	said, seq := h.told("it is a badword.", entry.KindFailed)
	if said != "refused by ngword: it has a forbidden word" {
		t.Errorf("at once: %q", said)
	}
	if why := h.whyOf(seq); !strings.Contains(why, "ngword refused a piece of its line: it has a forbidden word") {
		t.Errorf("why: %s", why)
	}
	said, seq = h.told("good, |a badword, |and more.", entry.KindSaid)
	if said != "good, |" {
		t.Errorf("in pieces: %q", said)
	}
	if why := h.whyOf(seq); !strings.Contains(why, "ngword passed a piece of its line") || !strings.Contains(why, "ngword refused a piece of its line") {
		t.Errorf("why: %s", why)
	}
	status, answer := h.perceives("a badword")
	if status != http.StatusForbidden || !strings.Contains(answer, "refused by ngword: it has a forbidden word") {
		t.Errorf("a perception: %d %s", status, answer)
	}
	if steps := h.steps(entry.OfPerception); !slices.Equal(steps, []string{"ngword refused"}) {
		t.Errorf("steps %q", steps)
	}
	if tail := h.tailed(); !strings.Contains(tail, "ngword refused what gossip says: it has a forbidden word") || !strings.Contains(tail, "ngword refused what gossip perceives as chat: it has") {
		t.Errorf("tail: %s", tail)
	}
	for _, e := range h.entries("main") {
		if e.Kind == entry.KindPerceived {
			t.Errorf("it is perceived: %s", e.Body)
		}
	}
	h.stop()
	h.replay("main")
}
