package host_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/door/web/past"
)

// TestForgottenWhileARoomIsAwake: a room that somebody talks in tells its characters nothing any more of a text whose words were erased, and
// its turns are compressed anew as if it had never been.
func TestForgottenWhileARoomIsAwake(t *testing.T) {
	m := forgetful(0)
	h := design(t, m)
	h.say("main", "yuki", "私の合鍵はスズキさんが持っていて、費用の上限は別に7,700円です。")
	c := h.compressed(map[string]any{"turns": "1-51", "policy": designPolicy, "compresser": "extract", "verifier": "extract", "target_length": 300})
	if c.State != "offered" {
		t.Fatalf("%s: %s", c.State, c.Why)
	}
	h.decides(c.ID, "approve")
	if _, told := h.asks(m, "Ann, what shall we build first?"); !strings.Contains(told.text, `"compressed_history"`) || !strings.Contains(told.text, "7,700") {
		t.Fatalf("before, it is told\n%s", told.text)
	}
	var o memories.Order
	h.send("POST", "/v1/forget", `{"who":"yuki","confirm":"yuki"}`, &o)
	h.settled(o)
	_, told := h.asks(m, "Ann, and then?")
	for _, word := range []string{"7,700", "スズキ", "yuki", `"compressed_history"`} {
		if strings.Contains(told.text, word) {
			t.Errorf("%s is told after it was forgotten:\n%s", word, told.text)
		}
	}
	if !strings.Contains(told.text, constraint) {
		t.Errorf("what others said is not told as it was:\n%s", told.text)
	}
	var now past.Compression
	h.get("/v1/rooms/main/compressions/"+c.ID, &now)
	if !now.Erased || now.State != "approved" {
		t.Errorf("%s, erased: %v", now.State, now.Erased)
	}
	for _, turns := range []string{"10-20", "1-52"} { // a part of it, and more than it
		anew := h.compressed(map[string]any{"turns": turns, "policy": designPolicy, "compresser": "extract", "verifier": "extract", "target_length": 300})
		if anew.State != "offered" {
			t.Errorf("%s: %s: %s", turns, anew.State, anew.Why)
		}
		h.decides(anew.ID, "deny")
	}
	var problem struct{ Code string }
	if status := h.post("/v1/rooms/main/compressions/"+c.ID+"/approve", map[string]any{}, &problem); status != http.StatusConflict {
		t.Errorf("approved again: %d %+v", status, problem)
	}
	h.replay("main")
}
