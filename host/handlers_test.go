//go:build unix

package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/logtest"
)

// TestHandlerActs: what a companion plays of a handler's actions is carried out by its module, in WebAssembly or
// as a program, held to the handler's schema; what comes of it is in the journal, and a handler that fails or hangs costs
// that action.
func TestHandlerActs(t *testing.T) {
	for _, carrier := range []string{"wasm", "process"} {
		t.Run(carrier, func(t *testing.T) {
			h := newHome(t)
			h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
			settings := handlerRoom + "[handler.desk]\nmodule = \"lamp\"\nsettings = { place = \"hall\" }\n"
			if carrier == "wasm" {
				install(t, build(t, "./testdata/lamp", "lamp", ""), filepath.Join(h.dir, "plugins"), "lamp.wasm")
			} else {
				install(t, lampProgram(t), filepath.Join(h.dir, "plugins"), "lamp")
				settings += "[module.lamp]\nprogram = \"lamp\"\n"
			}
			h.open(settings)
			h.say("main", "taro", "good morning") // a room that sleeps writes nothing
			h.until("the lamp is offered", func() bool {
				return slices.ContainsFunc(h.entries("main"), func(e entry.Entry) bool {
					b, err := entry.Decode[entry.Offered](e)
					return e.Kind == entry.KindOffered && err == nil && b.Who == "clerk" && b.By == "desk" && len(b.Actions) == 5
				})
			})
			var list []web.Companion
			h.get("/v1/companions", &list)
			var models struct{ Data []struct{ ID string } }
			h.get("/v1/models", &models)
			if len(list) != 2 || list[0].Kind != "" || list[1].Kind != "action-handler" || !strings.Contains(list[1].File, "plugins/lamp") || len(models.Data) == 0 || slices.ContainsFunc(models.Data, func(m struct{ ID string }) bool { return strings.Contains(m.ID, "lamp") }) {
				t.Errorf("%+v, %+v", list, models)
			}
			plays := func(action, want string) {
				t.Helper()
				n := len(h.messages("main"))
				h.say("main", "taro", "clerk, play:"+action)
				h.until(action, func() bool { return len(h.messages("main")) == n+2 })
				if said := h.messages("main")[n+1].Text; strings.HasPrefix(said, "played") != (want != "") {
					t.Fatalf("clerk says %q", said)
				} else if want == "" {
					return
				}
				var done entry.Done
				h.until("the result of "+action, func() bool {
					results := 0
					for _, e := range h.entries("main") {
						if e.Kind == entry.KindResult {
							results++
							done, _ = entry.Decode[entry.Done](e)
						}
					}
					return strings.Contains(done.Reason, want)
				})
				if done.By != "desk" || done.OK != (strings.Contains(want, "switched") || strings.Contains(want, "red")) {
					t.Errorf("%s: %+v", action, done)
				}
			}
			plays(`lamp.set {"on":true}`, "clerk switched the lamp in the hall: true, 1 times by now")
			plays(`lamp.set {"on":"yes"}`, "")
			plays(`lamp.break`, "the lamp in the hall is broken")
			plays(`lamp.set {"on":false}`, "switched the lamp in the hall: false, 2 times by now")
			plays(`lamp.hang`, "it took too long")
			plays(`lamp.set {"on":false}`, "switched the lamp in the hall: false, 3 times by now")
			plays(`lamp.odd`, "a[31mredb")
		})
	}
}

// TestAPersonHasAHandlerAct: a person asks at the door for what companions play, under the same rules; what comes of it is the
// answer, and no room has it.
func TestAPersonHasAHandlerAct(t *testing.T) {
	h := newHome(t)
	install(t, build(t, "./testdata/lamp", "lamp", ""), filepath.Join(h.dir, "plugins"), "lamp.wasm")
	h.open(handlerRoom + "[handler.desk]\nmodule = \"lamp\"\nsettings = { place = \"hall\" }\n")
	h.until("the lamp is loaded", func() bool {
		_, list := h.ask("GET", "/v1/handlers", "")
		return strings.Contains(list, `"name":"desk","module":"lamp","error":"","companions":[],"actions":[{"name":"lamp.set","description":"Switches the lamp.","schema":{"type":"object"`)
	})
	head := len(h.entries("main"))
	for _, c := range []struct {
		path, parameters string
		status           int
		want             string
	}{
		{"desk/actions/lamp.set", `{"on":true}`, 200, `{"message":"guest switched the lamp in the hall: true, 1 times by now"}`},
		{"desk/actions/lamp.set", `{"on":"yes"}`, 400, `"location":"body.on"`},
		{"desk/actions/lamp.break", ``, 503, "the lamp in the hall is broken"},
		{"desk/actions/lamp.hang", `{}`, 504, "it took too long"},
		{"desk/actions/lamp.set", `{"on":false}`, 200, "false, 2 times by now"},
		{"desk/actions/lamp", `{}`, 404, "there are: lamp.set, lamp.break, lamp.hang, lamp.odd, lamp.slow"},
		{"lamp/actions/lamp.set", `{}`, 404, "there are: desk"},
	} {
		if status, got := h.ask("POST", "/v1/handlers/"+c.path, c.parameters); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.parameters, status, got)
		}
	}
	if n := len(h.entries("main")); n != head {
		t.Errorf("%d entries became %d", head, n)
	}
}

// TestTwoHandlersOfOneName: the first of the configuration has it, and when it leaves the other has.
func TestTwoHandlersOfOneName(t *testing.T) {
	h := newHome(t)
	h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
	plugins := filepath.Join(h.dir, "plugins")
	lamp := build(t, "./testdata/lamp", "lamp", "")
	install(t, lamp, plugins, "lamp.wasm")
	install(t, lamp, plugins, "light.wasm")
	h.open(handlerRoom + "[handler.desk]\nmodule = \"light\"\nsettings = { place = \"hall\" }\n[handler.lamp]\nsettings = { place = \"cellar\" }\n")
	h.say("main", "taro", "good morning")
	switches := func(place string) {
		t.Helper()
		h.until(place, func() bool {
			n := len(h.messages("main"))
			h.say("main", "taro", "clerk, play:lamp.set {\"on\":true}")
			h.until("clerk answers", func() bool { return len(h.messages("main")) == n+2 })
			if !strings.HasPrefix(h.messages("main")[n+1].Text, "played") {
				return false // nobody offers it just now
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(h.messages("main")[n+1].Text, "played "), ",")
			where := ""
			h.until("the result", func() bool {
				for _, e := range h.entries("main") {
					if done, _ := entry.Decode[entry.Done](e); e.Kind == entry.KindResult && done.ID == id {
						where = done.Reason
					}
				}
				return where != ""
			})
			return strings.Contains(where, place)
		})
	}
	switches("hall")
	for range 3 {
		switches("hall")
	}
	if err := os.Remove(filepath.Join(plugins, "light.wasm")); err != nil {
		t.Fatal(err)
	}
	switches("cellar")
}

// TestHandlerEndsBeforeTheRooms: what a handler carries out while the daemon is told to stop has its result, and so has what
// waits behind it.
func TestHandlerEndsBeforeTheRooms(t *testing.T) {
	h := newHome(t)
	h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
	install(t, lampProgram(t), filepath.Join(h.dir, "plugins"), "lamp")
	const settings = handlerRoom + "[handler.lamp]\nsettings = { place = \"hall\" }\n[module.lamp]\nprogram = \"lamp\"\n"
	h.open(settings)
	for range 2 {
		n := len(h.messages("main"))
		h.until("it plays", func() bool {
			n = len(h.messages("main"))
			h.say("main", "taro", "clerk, play:lamp.slow")
			h.until("clerk answers", func() bool { return len(h.messages("main")) == n+2 })
			return strings.HasPrefix(h.messages("main")[n+1].Text, "played")
		})
	}
	h.stop()
	h.open(settings)
	var results []string
	for _, e := range h.entries("main") {
		if e.Kind == entry.KindResult {
			done, _ := entry.Decode[entry.Done](e)
			results = append(results, done.Reason)
		}
	}
	if !slices.Equal(results, []string{"slowly switched", "the handler has left"}) {
		t.Errorf("%q", results)
	}
}

// TestHandlerIsReplaced: a handler whose file changes goes on with the new one, and one whose file is gone offers
// nothing; settings that its schema does not allow are told of, and it acts for nobody.
func TestHandlerIsReplaced(t *testing.T) {
	h := newHome(t)
	var log logtest.Log
	h.log = log.Logger()
	h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
	h.open(handlerRoom + "[handler.lamp]\nsettings = { place = \"hall\" }\ncompanions = [\"clerk\"]\n[handler.bad]\nmodule = \"lamp\"\nsettings = { place = 7 }\n[handler.other]\nmodule = \"clerk\"\n")
	h.say("main", "taro", "good morning")
	offered := func(want int) {
		t.Helper()
		h.until("offers", func() bool {
			n := 0
			for _, e := range h.entries("main") {
				switch b, _ := entry.Decode[entry.Offered](e); e.Kind {
				case entry.KindOffered:
					n += len(b.Actions) - len(b.Withdrawn)
				case entry.KindBody:
					bodies, _ := entry.Decode[entry.Bodies](e)
					for range bodies.Left {
						n = 0
					}
				}
			}
			return n == want
		})
	}
	plugins := filepath.Join(h.dir, "plugins")
	install(t, build(t, "./testdata/lamp", "lamp", ""), plugins, "lamp.wasm")
	offered(5)
	for _, want := range []string{"handler=bad", "settings.place: is a number", "handler=other", "no handler but a character"} {
		h.until(want, func() bool { return strings.Contains(log.String(), want) })
	}
	install(t, build(t, "./testdata/lamp", "lamp-2", "-X main.unused=2"), plugins, "lamp.wasm")
	h.until("the next generation", func() bool { return strings.Contains(log.String(), "companion replaced") })
	offered(5)
	if err := exec.Command("rm", filepath.Join(plugins, "lamp.wasm")).Run(); err != nil {
		t.Fatal(err)
	}
	offered(0)
}

// TestBeacon: a handler is shown what the room shows, has timers, emits what companions perceive, and as a program runs beside
// its other calls; a secret is a setting of its, and nobody is told it.
func TestBeacon(t *testing.T) {
	for _, carrier := range []string{"wasm", "process"} {
		t.Run(carrier, func(t *testing.T) {
			h := newHome(t)
			var log logtest.Log
			h.log = log.Logger()
			h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
			plugins := filepath.Join(h.dir, "plugins")
			settings := handlerRoom + "[handler.tower]\nmodule = \"beacon\"\nsecrets = { password = \"" + filepath.Join(h.dir, "password") + "\" }\n" +
				"[module.beacon]\ngrant = [\"perception.emit\", \"timer.set\", \"action.result\", \"action.emit\"]\n"
			build1 := func(version string) {
				t.Helper()
				if carrier == "wasm" {
					install(t, build(t, "./testdata/beacon", "beacon"+version, "-X main.version="+version), plugins, "beacon.wasm")
					return
				}
				out := filepath.Join(t.TempDir(), "beacon")
				if b, err := exec.Command("go", "build", "-ldflags=-s -w -X main.version="+version, "-o", out, "./testdata/beacon").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, b)
				}
				install(t, out, plugins, "beacon")
			}
			build1("1")
			if carrier == "process" {
				settings += "program = \"beacon\"\n"
			}
			h.open(settings)
			h.say("main", "taro", "good morning")
			h.until("the secret that is not there", func() bool {
				return strings.Contains(log.String(), "handler.tower.secrets.password: open ")
			})
			if err := os.WriteFile(filepath.Join(h.dir, "password"), []byte("hunter22"), 0o600); err != nil {
				t.Fatal(err)
			}
			perceived := func(body string) int {
				n := 0
				for _, e := range h.entries("main") {
					if p, err := entry.Decode[entry.Perceived](e); e.Kind == entry.KindPerceived && err == nil && p.Title == "beacon" && string(p.Body) == body && p.Who == "clerk" {
						n++
						if body == `{"n":7}` && (p.From != "Ann Lee" || p.Key != "tower/tick-1") || body != `{"n":7}` && p.From != "tower" {
							t.Errorf("%+v", p)
						}
					}
				}
				return n
			}
			h.until("the timer", func() bool { return perceived(`{"n":7}`) == 1 })
			runs := 0
			if carrier == "process" {
				runs = 1
			}
			h.until("the run", func() bool { return perceived(`"it runs"`) == runs })
			tells := func(action string) (reason string) {
				t.Helper()
				n := len(h.messages("main"))
				h.say("main", "taro", "clerk, play:"+action)
				h.until("clerk answers", func() bool { return len(h.messages("main")) >= n+2 })
				id, _, _ := strings.Cut(strings.TrimPrefix(h.messages("main")[n+1].Text, "played "), ",")
				h.until("the result", func() bool {
					for _, e := range h.entries("main") {
						if done, _ := entry.Decode[entry.Done](e); e.Kind == entry.KindResult && done.ID == id {
							reason = done.Reason
						}
					}
					return reason != ""
				})
				return reason
			}
			n := len(h.messages("main"))
			h.say("main", "taro", "clerk, how are you?")
			h.until("clerk answers", func() bool { return len(h.messages("main")) == n+2 })
			said := h.messages("main")[n+1].Text
			h.until("it was shown the line", func() bool {
				told := tells("beacon.tell")
				return strings.HasPrefix(told, "8 letters; ") && strings.Contains(told, " Clerk:piece:1:"+said+" Clerk:whole:1:"+said+" Clerk:end:0:"+said)
			})
			if why := tells("beacon.leak"); why != "the password is (secret)" {
				t.Error(why)
			}
			if what := tells("beacon.later"); what != "done later, with (secret)" {
				t.Error(what)
			}
			h.until("a second result is refused", func() bool { return strings.Contains(tells("beacon.tell"), "twice: not_found") })
			if why := tells("beacon.again"); !strings.Contains(why, "beacon.tell") || !strings.Contains(why, "a handler plays actions of the card alone") {
				t.Error(why)
			}
			if what := tells("beacon.say"); what != "it waits for the floor: true" {
				t.Error(what)
			}
			h.until("it is said", func() bool {
				said := h.messages("main")
				return said[len(said)-1].From == "clerk" && said[len(said)-1].Text == "Ahoy from the tower!"
			})
			build1("2")
			h.until("the timer of the next generation", func() bool { return perceived(`{"n":7}`) == 2 })
			h.until("the run of the next generation", func() bool { return perceived(`"it runs"`) == 2*runs })
			if text := log.String(); strings.Contains(text, "hunter22") || carrier == "process" && strings.Contains(text, "begun again") {
				t.Error(text)
			}
		})
	}
}
