package host_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/entry"
	book "github.com/companiond/companiond/host/history"

	"github.com/companiond/companiond/host/opening"
	"github.com/companiond/companiond/host/waittest"
)

// compressions gives what became of the room's history, the oldest first.
func (h *home) compressions() (all []past.Compression) {
	h.t.Helper()
	var list struct{ Compressions []past.Compression }
	h.get("/v1/rooms/main/compressions", &list)
	slices.Reverse(list.Compressions)
	return list.Compressions
}

// talksUntil has people talk, and a character answer, until something is so, for at most so many turns.
func (h *home) talksUntil(what string, most int, ok func() bool) {
	h.t.Helper()
	for range most / 2 {
		n := len(h.messages("main"))
		h.say("main", "taro", fmt.Sprintf("Let us go on with the plan, step %c of it is done and looks well.", 'a'+n%26))
		h.until("Ann answers", func() bool { return len(h.messages("main")) == n+2 })
		if ok() {
			return
		}
	}
	h.t.Fatalf("not within %d turns: %s; %+v", most, what, h.compressions())
}

// TestLongTalk: where the history of a mind is nearly full, its beginning is drafted and verified, and waits for a
// person, also after a restart; denied, it is left alone for 32 turns. Where the configuration gives its word, it is
// approved, told from then on, said in the feed, and can be taken off.
func TestLongTalk(t *testing.T) {
	waittest.WithoutRaces(t)
	model := &listener{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("ann.json", []byte(`{"name":"Ann","personality":"curious and kind"}`))
	settings := "[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\ncontext = 3000\ncalls_minute = 0\n" +
		"[room.main]\nmax_turns = 1\npatience = \"20s\"\npace = \"0s\"\nahead = 0\ncompress_by = \"extract\"\ncompress_verify = \"extract\"\n"
	auto := settings + "compress = \"auto\"\ncompress_policy = \"Keep the budget.\"\n"
	h.open(settings)
	h.say("main", "taro", "The budget is 4,800 yen, Ann.")
	h.until("Ann answers", func() bool { return len(h.messages("main")) == 2 })
	stands := func(want ...string) func() bool {
		return func() bool {
			var got []string
			for _, c := range h.compressions() {
				got = append(got, c.State)
			}
			return slices.Equal(got, want)
		}
	}
	h.talksUntil("it is asked for", 400, func() bool { return len(h.compressions()) > 0 })
	h.until("it waits", stands("offered"))
	c := h.compressions()[0]
	if c.By != book.Configuration || c.Auto || c.Turns.From != 1 || c.ApprovedBy != "" || c.Compresser != "extract" {
		t.Errorf("%+v", c)
	}
	model.mu.Lock()
	if last := model.told[len(model.told)-1]; strings.Contains(last, "compressed_history") {
		t.Errorf("it is told so without a person: %s", last)
	}
	model.mu.Unlock()
	h.stop()
	h.open(settings)
	some := 0
	h.talksUntil("it is said on", 40, func() bool { some++; return some == 5 })
	if !stands("offered")() {
		t.Errorf("%+v", h.compressions())
	}
	if status, answer := h.ask("POST", "/v1/rooms/main/compressions/"+c.ID+"/deny", `{"why":"not now"}`); status != 200 {
		t.Fatal(status, answer)
	}
	h.stop()
	h.open(auto)
	denied := len(h.messages("main"))
	h.talksUntil("it is asked for once more", 40, func() bool { return len(h.compressions()) > 1 })
	if n := len(h.messages("main")); n < denied+book.Rest {
		t.Errorf("it is asked for again %d turns after it was denied", n-denied)
	}
	h.until("it is approved", stands("denied", "approved"))
	c = h.compressions()[1]
	if c.ApprovedBy != book.Configuration || !c.Auto || c.Policy != "Keep the budget." {
		t.Errorf("%+v", c)
	}
	approved := slices.ContainsFunc(h.entries("main"), func(e entry.Entry) bool {
		in, err := entry.Decode[book.Input](e)
		return e.Kind == entry.KindHistory && err == nil && in.Kind == book.Approve && in.By == book.Configuration && in.Proposal == c.ID
	})
	if !approved {
		t.Error("the feed does not say so")
	}
	model.mu.Lock()
	before := model.told[len(model.told)-1]
	model.mu.Unlock()
	some = 0
	h.talksUntil("Ann is told", 2, func() bool { return true })
	model.mu.Lock()
	after := model.told[len(model.told)-1]
	model.mu.Unlock()
	if !strings.Contains(after, `{"compressed_history":"`) || !strings.Contains(after, "4,800 yen") || len(after) > len(before)*2/3 {
		t.Errorf("%d bytes became %d:\n%s", len(before), len(after), after)
	}
	if status, answer := h.ask("POST", "/v1/rooms/main/compressions/"+c.ID+"/revert", `{}`); status != 200 {
		t.Fatal(status, answer)
	}
	h.talksUntil("it is said on", 40, func() bool { some++; return some == 5 })
	if !stands("denied", "reverted")() {
		t.Errorf("%+v", h.compressions())
	}
	h.replay("main")
}

// TestWhoMayApproveInAdvance: whoever opens a room does not; the words of the configuration are those of the history.
func TestWhoMayApproveInAdvance(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\n")
	for settings, want := range map[string]string{
		`"compress":"auto","compress_policy":"Keep nothing."`: "compress: approves in advance",
		`"compress":"auto"`:                        "compress_policy: must say what stays",
		`"compress":"off"`:                         "",
		`"compress":"ask","compress_policy":"Yes"`: "",
	} {
		status, answer := h.ask("POST", "/v1/rooms", `{"name":"tea-`+fmt.Sprint(len(settings))+`",`+settings+`}`)
		if want == "" && status != 201 || want != "" && (status != 400 || !strings.Contains(answer, want)) {
			t.Errorf("%s: %d %s", settings, status, answer)
		}
	}
	if config.CompressAuto != book.ModeAuto {
		t.Error("auto is another word")
	}
	c, _ := config.Parse("x", []byte("[room.main]\n"), nil)
	if st := opening.Standing(c.Rooms[0]); st.Mode != book.ModeAsk || !st.Asks() || st.At != .7 {
		t.Errorf("usually it is %+v", st)
	}
}
