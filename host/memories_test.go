package host_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/memories"
)

// remembers gives the facts that a companion remembers, as people at this machine are shown them.
func (h *home) remembers(companion, query string) (facts []abi.Memory) {
	h.t.Helper()
	var page struct{ Memories []abi.Memory }
	h.get("/v1/companions/"+companion+"/memories?"+query, &page)
	return slices.DeleteFunc(page.Memories, func(m abi.Memory) bool { return m.Kind != abi.MemoryFact })
}

// found gives how many messages have a word, in a room or with "" in all, as the door finds them.
func (h *home) found(room, word string) int {
	h.t.Helper()
	path := "/v1/search"
	if room != "" {
		path = "/v1/rooms/" + room + "/search"
	}
	var page struct {
		Hits []struct{ Message abi.Message }
	}
	h.get(path+"?limit=100&q="+url.QueryEscape(word), &page)
	return len(page.Hits)
}

// TestMemoriesAtTheDoor: a companion of a running daemon is told a cat, remembers it after the talk, is
// corrected, and knows nothing once the person is forgotten: nor does the room.
func TestMemoriesAtTheDoor(t *testing.T) {
	h := newHome(t)
	h.drop(parrot(t, "one"), "aya.wasm")
	h.open("[memory]\nby = \"rules\"\n" + lively)
	h.until("aya is here", func() bool { return len(h.info("main").Members) == 1 })
	cat := h.say("main", "mika", "うちの猫の名前はタマだよ。")
	for i := range 59 { // that many turns of people are gone through at once
		h.say("main", "ken", fmt.Sprintf("%d, %d", i, i*i))
	}
	var found []abi.Memory
	h.until("aya remembers", func() bool { found = h.remembers("aya", "who=mika"); return len(found) > 0 })
	m := found[0]
	if m.SaidBy != "mika" || m.Room != "main" || len(m.Turns) != 1 || m.Turns[0] != cat || !strings.Contains(m.Text, "タマ") || !strings.Contains("うちの猫の名前はタマだよ。", m.Quote) {
		t.Errorf("%+v", m)
	}
	if got := h.remembers("aya", "text=猫"); len(got) == 0 || got[0].ID != m.ID {
		t.Errorf("found %+v", got)
	}
	one := "/v1/companions/aya/memories/" + m.ID
	if status, body := h.ask("PATCH", one, `{"text":"mikaの犬の名前はポチ","keys":["ポチ"]}`); status != 200 || !strings.Contains(body, "ポチ") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := h.ask("POST", "/v1/companions/aya/memories", `{"text":"kenは背が高い","about":["ken"]}`); status != 201 {
		t.Errorf("%d %s", status, body)
	}
	tall := h.remembers("aya", "who=ken")
	if len(tall) != 1 || tall[0].SaidBy != "guest" || tall[0].Visibility != abi.VisiblePerson {
		t.Fatalf("%+v", tall)
	}
	var o memories.Order
	h.send("DELETE", "/v1/companions/aya/memories/"+tall[0].ID, "", &o)
	h.settled(o)
	if got := h.remembers("aya", "who=ken&past=true"); len(got) != 0 {
		t.Errorf("%+v", got)
	}

	if n := h.found("main", "タマ"); n == 0 || h.found("", "猫の名前") == 0 {
		t.Errorf("タマ is found %d times", n)
	}
	var would memories.Order
	h.send("POST", "/v1/forget", `{"who":"mika","dry_run":true}`, &would)
	if would.State != "would" || would.ID != "" || count(would, "entries") < 1 || count(would, "memories") < 1 {
		t.Errorf("%+v", would)
	}
	if got := h.remembers("aya", "who=mika"); len(got) == 0 {
		t.Error("looking has erased")
	}
	h.send("POST", "/v1/forget", `{"who":"mika","confirm":"mika"}`, &o)
	o = h.settled(o)
	if count(o, "entries") < 1 || count(o, "memories") != count(would, "memories") || o.As == "" {
		t.Errorf("%+v, and was to be %+v", o, would)
	}
	if got := h.remembers("aya", "past=true&who=mika"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if n := h.found("", "タマ"); n != 0 || h.found("main", "49") == 0 {
		t.Errorf("タマ is found %d times, or nothing is", n)
	}
	for _, said := range h.messages("main") {
		if said.From == "mika" || strings.Contains(said.Text, "タマ") {
			t.Errorf("%+v", said)
		}
	}
	if status, body := h.ask("GET", one, ""); status != 404 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := h.ask("GET", fmt.Sprintf("/v1/rooms/main/entries/%d/prompts", cat), ""); status != 200 || !strings.Contains(body, `"prompts":[]`) { // a parrot asks no model
		t.Errorf("%d %s", status, body)
	}
}

// send makes a request that is to be answered with JSON.
func (h *home) send(method, path, body string, out any) {
	h.t.Helper()
	status, answer := h.ask(method, path, body)
	if err := json.Unmarshal([]byte(answer), out); err != nil || status >= 300 {
		h.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
}

// settled waits until an order is carried out.
func (h *home) settled(o memories.Order) memories.Order {
	h.t.Helper()
	h.until("it is erased", func() bool {
		if o.State != "done" {
			h.get("/v1/forget/"+o.ID, &o)
		}
		return o.State == "done"
	})
	return o
}

func count(o memories.Order, store string) int {
	for _, s := range o.Stores {
		if s.Store == store {
			return s.Count
		}
	}
	return -1
}
