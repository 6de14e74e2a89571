package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
)

func TestReadRoom(t *testing.T) {
	r, problems := ReadRoom("お茶", []byte(`{"policy":"pool","companions":["aya","kyoko"],"patience":"3s","max_turns":7,"stale":"refuse","pool_size":200,"pool_prices":["10:5"]}`))
	if len(problems) > 0 || r.Name != "お茶" || r.Seed != "お茶" || r.Policy != "pool" || !reflect.DeepEqual(r.Companions, []string{"aya", "kyoko"}) ||
		r.Patience != 3*time.Second || r.MaxTurns != 7 || r.Stale != entry.StaleRefuse || r.PoolSize != 200 || r.Floor != 10*time.Second {
		t.Errorf("%+v %v", r, problems)
	}
	same, problems := Parse("x", []byte("[room.main]\n"), nil)
	if r, more := ReadRoom("main", []byte(`{}`)); len(problems)+len(more) > 0 || !reflect.DeepEqual(r, same.Rooms[0]) {
		t.Errorf("the defaults of a file and of an object differ: %+v %+v", r, same.Rooms[0])
	}
}

func TestReadRoomNamesTheKey(t *testing.T) {
	for object, want := range map[string][2]string{
		`{"polcy":"pool"}`:                            {"polcy", `did you mean "policy"?`},
		`{"policy":"dice"}`:                           {"policy", "vote, pool"},
		`{"patience":"5 parsecs"}`:                    {"patience", "is not a duration"},
		`{"patience":5}`:                              {"patience", "5"},
		`{"max_turns":"7"}`:                           {"max_turns", "try 7"},
		`{"max_turns":null}`:                          {"max_turns", "null"},
		`{"max_turns":1e30}`:                          {"max_turns", ""},
		`{"companions":"aya"}`:                        {"companions", ""},
		`{"companions":["a b"]}`:                      {"companions", "a b"},
		`{"companions":[{"id":"aya"}]}`:               {"companions", "a table"},
		`{"policy":"pool","pool_size":10}`:            {"pool_", ""},
		`{"seed":"` + strings.Repeat("x", 300) + `"}`: {"seed", "at most"},
		`[1]`:              {"", "no JSON object"},
		`{"policy":"pool"`: {"", "no JSON object"},
		`{"room.main.policy":"pool","listen":"x"}`: {`"room.main.policy"`, "unknown key"},
	} {
		r, problems := ReadRoom("main", []byte(object))
		if !Failed(problems) || !reflect.DeepEqual(r, Room{}) {
			t.Errorf("%s is a room: %+v", object, problems)
			continue
		}
		p := problems[0]
		if !strings.HasPrefix(p.Key, want[0]) || strings.HasPrefix(p.Key, "room.") || !strings.Contains(p.Message+p.Hint, want[1]) {
			t.Errorf("%s: %q %s (%s)", object, p.Key, p.Message, p.Hint)
		}
	}
}

func TestHomes(t *testing.T) {
	const rooms = "[room.main]\ncompanions = [\"aya\"]\n[room.stage]\n"
	c, problems := Parse("x", []byte(rooms+"[companion.aya]\nhome = \"stage\"\n[companion.ben]\n"), nil)
	if len(problems) > 0 || len(c.Companions) != 2 || c.Companions[0] != (Companion{Name: "aya", Home: "stage"}) || c.Companions[1] != (Companion{Name: "ben"}) {
		t.Errorf("%+v %v", c.Companions, problems)
	}
	for toml, want := range map[string]string{
		"[companion.ben]\nhome = \"main\"":    "add it to room.main.companions",
		"[companion.ben]\nhome = \"kitchen\"": "write [room.kitchen] too",
		"[companion.ben]\nhome = \"a b\"":     "may not contain",
		"[companion]\nhome = \"main\"":        "write [companion.NAME] above it",
	} {
		_, problems := Parse("x", []byte(rooms+toml), nil)
		if len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s: %v, want %q", toml, problems, want)
		}
	}
}

func TestTheCompanionOfARoom(t *testing.T) {
	for toml, want := range map[string]string{
		"[room.main]\ncompanion = \"kyoko\"\n":                                            "",
		"[room.main]\ncompanions = [\"aya\", \"kyoko\"]\ncompanion = \"kyoko\"\n":         "",
		"[room.main]\ncompanions = [\"aya\"]\ncompanion = \"\"\n":                         "",
		"[room.main]\ncompanions = [\"aya\"]\npolicy = \"pool\"\ncompanion = \"kyoko\"\n": `x:4:13: room.main.companion: kyoko does not live in "main" (add it to room.main.companions)`,
		"[room.main]\n[room.stage]\ncompanions = []\ncompanion = \"kyoko\"\n":             `x:4:13: room.stage.companion: kyoko does not live in "stage" (add it to room.stage.companions)`,
		"[room.main]\ncompanions = [\"a b\"]\ncompanion = \"kyoko\"\n":                    `x:2:15: room.main.companions`,
		"[room.main]\ncompanion = \"*\"\n":                                                `x:2:13: room.main.companion: "*" `,
	} {
		_, problems := Parse("x", []byte(toml), nil)
		if want == "" && len(problems) == 0 || len(problems) == 1 && want != "" && strings.HasPrefix(problems[0].String(), want) {
			continue
		}
		t.Errorf("%s: %v, want %q", toml, problems, want)
	}
	c, _ := Parse("x", []byte("[room.main]\ncompanion = \"kyoko\"\n"), nil)
	if got := c.CheckFolder([]string{"aya", "kyokoo"}, ""); len(got) != 1 || got[0].Severity != Warning || !strings.Contains(got[0].String(), `room.main.companion: "kyoko" has no file`) {
		t.Errorf("%v", got)
	}
}

// TestTablesOfNobody: a table of a companion that has no file is worth a warning, whatever is in it.
func TestTablesOfNobody(t *testing.T) {
	c, problems := Parse("x", []byte("[companion.aya]\ncalls_minute = 3\n[companion.ayaa]\n"), nil)
	got := lines(c.CheckFolder([]string{"aya"}, ""))
	if len(problems) > 0 || strings.TrimSpace(got) != `x:3:12: companion.ayaa: "ayaa" has no file in "characters" (did you mean "aya"?)` {
		t.Errorf("%v %s", problems, got)
	}
}

// TestApprovedInAdvance: nothing is, unless it is said what stays.
func TestApprovedInAdvance(t *testing.T) {
	const want = `room.main.compress_policy: must say what stays: compress = "auto" approves what is verified by it (write compress_policy = "`
	for policy, at := range map[string]string{"": "c:2:12: ", "compress_policy = \"\"\n": "c:3:19: "} {
		if got := bad(t, "[room.main]\ncompress = \"auto\"\n"+policy); !strings.HasPrefix(got, at+want) || strings.Contains(got, "\n") {
			t.Errorf("%q: %s", policy, got)
		}
	}
	if got := bad(t, "[room.main]\ncompress = \"atuo\"\ncompress_policy = \" \"\n"); strings.Count(got, "\n") != 1 {
		t.Errorf("two mistakes are %s", got)
	}
	c := good(t, "[room.main]\ncompress_by = \"scribe\"\ncompress_verify = \"model\"\n")
	if got := c.CheckFolder([]string{"aya", "scribbe"}, ""); len(got) != 1 || got[0].Severity != Warning || !strings.Contains(got[0].String(), `room.main.compress_by: "scribe" has no file`) {
		t.Errorf("%v", got)
	}
}
