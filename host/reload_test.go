//go:build unix

package host_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// reloads has the house be another, and gives what a reload says.
func (h *home) reloads(toml string) string {
	h.t.Helper()
	h.toml = toml
	r, err := h.reload(h.t.Context())
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Live, r.Restart, r.Warnings)
}

// stateOf gives the state and the generation of a module, "" for one that is not there.
func (h *home) stateOf(id string) (state string) {
	h.t.Helper()
	var list []struct {
		ID, State  string
		Generation int
	}
	h.get("/v1/companions", &list)
	for _, c := range list {
		if c.ID == id {
			state = fmt.Sprint(c.State, " ", c.Generation)
		}
	}
	return state
}

// TestReloadTakesHandlers: handlers and the tables of their modules come, change and go by a reload, programs among them, the
// first ones too; a mistake in one of them is told with its line, and changes nothing.
func TestReloadTakesHandlers(t *testing.T) {
	h := newHome(t)
	plugins := filepath.Join(h.dir, "plugins")
	h.drop(build(t, "./testdata/gossip", "gossip", ""), "gossip.wasm")
	house := handlerRoom + "max_turns = 1\n"
	h.open(house)
	says := func(text, want string) {
		t.Helper()
		var said string
		h.until(text+" is said as "+want, func() bool {
			said, _ = h.told(text, entry.KindSaid)
			return strings.Contains(said, want)
		})
	}
	says("a spoiler", "a spoiler")
	if got := h.reloads(house + "[handler.ngword]\n"); got != `[handler.ngword] [] [test.toml:11:10: handler.ngword.module: "ngword" has no file in "`+plugins+`" (make plugins makes those of companiond, and companiond new handler NAME one of your own)]` {
		t.Error(got)
	}
	install(t, build(t, "../plugins/ngword", "ngword", ""), plugins, "ngword.wasm")
	h.until("ngword is loaded", func() bool { return h.stateOf("ngword") == "ready 1" })
	filter := func(settings string) string {
		return house + "[handler.ngword]\nfail = 'stop'\nsettings = " + settings + "\n"
	}
	if got := h.reloads(filter("{ words = ['spoiler'] }")); got != "[handler.ngword.fail handler.ngword.settings] [] []" {
		t.Error(got)
	}
	says("a spoiler", "a ＊＊＊＊＊＊＊")
	h.reloads(filter("{ words = ['secret'] }"))
	says("a spoiler and a secret", "a spoiler and a ＊＊＊＊＊＊")
	if got := h.reloads(filter("{ words = 'all' }")); !strings.HasPrefix(got, "test.toml:13:14: handler.ngword.settings: settings.words: is a string, must be an array") {
		t.Error(got)
	}
	says("one more secret", "one more ＊＊＊＊＊＊")

	install(t, lampProgram(t), plugins, "lampd")
	lamp := func(place, table string) string {
		return filter("{ words = ['secret'] }") + "[handler.desk]\nmodule = 'lamp'\nsettings = { place = '" + place + "' }\n[module.lamp]\nprogram = 'lampd'\n" + table
	}
	switches := func(want string) {
		t.Helper()
		var got string
		h.until(want, func() bool {
			_, got = h.ask("POST", "/v1/handlers/desk/actions/lamp.set", `{"on":true}`)
			return strings.Contains(got, want)
		})
	}
	if got := h.reloads(lamp("hall", "")); got != "[handler.desk module.lamp] [] []" {
		t.Error(got)
	}
	switches("switched the lamp in the hall: true, 1 times by now")
	h.reloads(lamp("cellar", ""))
	switches("switched the lamp in the cellar: true, 2 times by now")
	if got := h.reloads(lamp("attic", "checksum = '"+strings.Repeat("ab", 32)+"'\n")); !strings.Contains(got, "module.lamp.program") && !strings.Contains(got, "handler.desk.module") || !strings.Contains(got, "its SHA-256 is ") {
		t.Error(got)
	}
	switches("switched the lamp in the cellar: true, 3 times by now")
	b, err := os.ReadFile(filepath.Join(plugins, "lampd"))
	if err != nil {
		t.Fatal(err)
	}
	h.reloads(lamp("attic", fmt.Sprintf("checksum = '%x'\n", sha256.Sum256(b))))
	switches("switched the lamp in the attic")
	h.until("another generation, whose file is held to its checksum", func() bool { return h.stateOf("lamp") == "ready 2" })
	if got := h.reloads(house); got != "[handler.desk handler.ngword module.lamp] [] []" {
		t.Error(got)
	}
	h.until("the program has left", func() bool { return h.stateOf("lamp") == "" })
	says("a secret", "a secret")
	if _, list := h.ask("GET", "/v1/handlers", ""); !strings.Contains(list, `"handlers":[]`) {
		t.Error(list)
	}
}

// TestReloadHoldsGrants: what a module needs is not taken from it while it serves, what it was refused for want of is given, and
// one that serves no more goes together with its table.
func TestReloadHoldsGrants(t *testing.T) {
	h := newHome(t)
	h.drop(build(t, "./testdata/gossip", "gossip", ""), "gossip.wasm")
	h.open(handlerRoom)
	install(t, build(t, "../plugins/clock", "clock", ""), filepath.Join(h.dir, "plugins"), "clock.wasm")
	h.until("it is refused", func() bool { return h.stateOf("clock") == "failed 0" })
	if got := h.reloads(handlerRoom + "[handler.clock]\n"); !strings.Contains(got, "test.toml:") || !strings.Contains(got, "not granted to clock") {
		t.Error(got)
	}
	granted := handlerRoom + "[handler.clock]\n[module.clock]\ngrant = ['action.emit', 'timer.set', 'perception.emit']\n"
	if got := h.reloads(granted); !strings.HasPrefix(got, "[handler.clock module.clock] []") {
		t.Error(got)
	}
	h.until("it is loaded", func() bool { return h.stateOf("clock") == "ready 1" })
	if got := h.reloads(handlerRoom + "[handler.clock]\n[module.clock]\ngrant = []\n"); !strings.Contains(got, "not granted to clock") {
		t.Error(got)
	}
	if h.stateOf("clock") != "ready 1" {
		t.Error(h.stateOf("clock"))
	}
	if got := h.reloads(handlerRoom); got != "[handler.clock module.clock] [] []" { // with its table, as people take it out
		t.Error(got)
	}
	if got := h.reloads(granted); got != "[handler.clock module.clock] [] []" {
		t.Error(got)
	}
	h.until("it acts again", func() bool {
		_, list := h.ask("GET", "/v1/handlers", "")
		return strings.Contains(list, `"clock"`) && strings.HasPrefix(h.stateOf("clock"), "ready ")
	})
}

// TestReloadsUnderCalls: of those who have a handler act while its settings and its module's grants change again and
// again nobody is turned away.
func TestReloadsUnderCalls(t *testing.T) {
	h := newHome(t)
	install(t, build(t, "./testdata/lamp", "lamp", ""), filepath.Join(h.dir, "plugins"), "lamp.wasm")
	lamp := func(n int) string {
		return fmt.Sprintf("%s[handler.desk]\nmodule = 'lamp'\nsettings = { place = 'room %d' }\n[module.lamp]\ngrant = [%s]\n", handlerRoom, n, strings.Repeat("'say'", n%2))
	}
	h.open(lamp(0))
	h.until("the lamp is loaded", func() bool {
		status, _ := h.ask("POST", "/v1/handlers/desk/actions/lamp.set", `{"on":true}`)
		return status == 200
	})
	var over atomic.Bool
	var calls atomic.Int64
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for !over.Load() {
				if status, got := h.ask("POST", "/v1/handlers/desk/actions/lamp.set", `{"on":true}`); status != 200 {
					t.Errorf("%d %s", status, got)
					return
				}
				calls.Add(1)
			}
		})
	}
	reloads := 100
	if waittest.RaceDetector { // each loads the guest twice, which takes seconds then
		reloads = 20
	}
	for n := 1; n <= reloads; n++ {
		if got := h.reloads(lamp(n)); got != "[handler.desk.settings module.lamp.grant] [] []" {
			t.Error(got)
		}
	}
	over.Store(true)
	callers.Wait()
	if _, got := h.ask("POST", "/v1/handlers/desk/actions/lamp.set", `{"on":true}`); !strings.Contains(got, fmt.Sprintf("room %d:", reloads)) {
		t.Error(got)
	}
	t.Logf("%d reloads, %d calls", reloads, calls.Load())
}
