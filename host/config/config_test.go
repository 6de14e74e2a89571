package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// defaults is the configuration of an empty file, written out by hand.
func defaults() Config {
	return Config{
		Door:     Door{Listen: "127.0.0.1:3000", Hosts: []string{}, Origins: []string{}, MaxClients: 256, MaxRooms: 100, Rate: 200},
		Identity: Identity{Guests: true},
		Journal:  Journal{Path: "state/companiond.db", Ballast: 16 << 20},
		Modules: Modules{
			Characters: "characters", Cache: "state/cache", Plugins: "state/plugins", ProgramMemory: 1 << 30,
			Debounce: 200 * time.Millisecond, Rescan: 10 * time.Second, Grace: 5 * time.Second,
			Faults: 3, FaultWindow: time.Minute, CoolDown: 5 * time.Minute,
			Grant: []string{abi.HostSay, abi.HostActionEmit},
		},
		Wasm:   Wasm{Memory: 64 << 20, CacheSize: 256 << 20, MaxFile: 32 << 20, Guard: "fuel", LogRate: 64 << 10},
		Memory: Memory{Scope: "room", By: "auto"},
		Rooms:  []Room{defaultRoom("main")},

		Conversations: Conversations{Pending: 5 * time.Minute, Idle: 10 * time.Minute, Session: 15 * time.Minute},

		Log: Log{Level: "info", Format: "auto"},
	}
}

// value gives the cell's value as its kind gives values.
func (c cell) value() any {
	switch c.field.Kind() {
	case reflect.Int:
		return c.field.Int()
	case reflect.String:
		return c.field.String()
	}
	return c.field.Interface()
}

func defaultRoom(name string) Room {
	return Room{
		Name: name, Companions: []string{Everyone}, Policy: "vote", Patience: time.Second,
		Floor: 10 * time.Second, Silence: 4 * time.Second, Pace: "auto", Perceived: 12, Interrupt: "sentence", Interrupters: []string{"*"}, Ahead: 30,
		MaxTurns: 24, Stale: entry.StaleReask, Seed: name, Compress: "ask", CompressAt: .7,
		PoolPricing: "strict", PoolSize: 100, PoolRecovery: 5 * time.Second, PoolPrices: []string{"10:5", "50:60", "100:80"},
	}
}

// defaultModel is the model of a table that sets its key "model" alone.
func defaultModel(name, model string) Model {
	return Model{
		Name: name, API: "openai", Model: model, Structured: "auto", Timeout: time.Minute, FirstByte: 20 * time.Second,
		Retries: 2, Parallel: 4, Context: 8000, MaxTokens: 1024, Temperature: -1, Without: []string{}, CallsMinute: 120,
	}
}

// sameConfig compares what other packages see of two configurations.
func sameConfig(a, b Config) bool {
	a.origins, b.origins = nil, nil
	return reflect.DeepEqual(a, b)
}

// good parses a text that must have no problem, not even a warning.
func good(t testing.TB, src string, env ...string) Config {
	t.Helper()
	c, problems := Parse("companiond.toml", []byte(src), env)
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", src, lines(problems))
	}
	return c
}

// bad parses a text and gives what is said about it.
func bad(t testing.TB, src string, env ...string) string {
	t.Helper()
	_, problems := Parse("c", []byte(src), env)
	if len(problems) == 0 {
		t.Fatalf("no problem in\n%s", src)
	}
	return strings.TrimSuffix(lines(problems), "\n")
}

func TestDefaults(t *testing.T) {
	for name, src := range map[string]string{
		"nothing":        "",
		"comments":       "# nothing\n\n# here",
		"empty tables":   "[door]\n[log]\n",
		"no room in it":  "[room]\n",
		"the room named": "[room.main]\n",
		"no model in it": "[model]\n",
		"inline":         "room = { main = {} }\ndoor = {}\n",
		"bom":            "\ufeff[door]\nlisten = \"127.0.0.1:3000\"\n",
		"crlf":           "[door]\r\nlisten = \"127.0.0.1:3000\"\r\n",
		"no last line":   "[door]\nmax_clients = 256",
	} {
		t.Run(name, func(t *testing.T) {
			if got := good(t, src); !sameConfig(got, defaults()) {
				t.Errorf("got  %+v\nwant %+v", got, defaults())
			}
		})
	}
}

func TestRoomsAreSorted(t *testing.T) {
	c := good(t, "[room.b]\nseed = \"dice\"\n[room.'ä.x']\n[room.a]\npace = \"0s\"\n")
	b, a, x := defaultRoom("b"), defaultRoom("a"), defaultRoom("ä.x")
	b.Seed, a.Pace = "dice", "0s"
	if want := []Room{a, b, x}; !reflect.DeepEqual(c.Rooms, want) {
		t.Errorf("got  %+v\nwant %+v", c.Rooms, want)
	}
}

// TestSpellings shows that one setting means the same in every way TOML has of
// writing it.
func TestSpellings(t *testing.T) {
	want := defaults()
	want.Rooms[0].Companions = []string{"aya", "kyoko"}
	for _, src := range []string{
		"[room.main]\ncompanions = ['aya', \"kyoko\"]",
		"[room]\nmain.companions = [\n\t'aya', # she\n\t\"\"\"kyoko\"\"\",\n]",
		"room.main.companions = [\"\\u0061ya\", '''kyoko''']",
		"[room.\"main\"]\n\"companions\" = [\"aya\",\"kyoko\"]",
		"room = {main = {companions = [\"aya\", \"kyoko\"]}}",
	} {
		if got := good(t, src); !sameConfig(got, want) {
			t.Errorf("%s\ngot %+v", src, got)
		}
	}
}

func TestSyntax(t *testing.T) {
	for src, want := range map[string]string{
		"[door\n":                               "c:1:6: expected '.' or ']' to end table name, but got '\\n' instead",
		"[door]\nlisten = \n":                   "c:2:10: expected value but found '\\n' instead",
		"[door]\nlisten = \"x\n":                "c:2:12: strings cannot contain newlines",
		"a = 1\na = 2\n":                        "c:2:1: Key 'a' has already been defined",
		"[log]\n[door]\n[log]\n":                "c:3:2: Key 'log' has already been defined",
		"[log]\n  level = \"x\"\n  level = 1":   "c:3:3: Key 'log.level' has already been defined",
		"# あや\n\"あ\" = \"や\" x\n":               "c:2:11: expected a top-level item to end with a newline, comment, or EOF, but got 'x' instead",
		"a = \"\xff\"":                          "c:1:5: invalid UTF-8 byte: 0xff",
		"\"靈":                                   "c:1:2: unexpected EOF; expected '\"'",
		"=":                                     "c:1:1: unexpected '=': key name appears blank",
		"\xff\xfe[door]\n":                      "c:1:1: the file is UTF-16; TOML files must be UTF-8",
		"\xfe\xff[door]\n":                      "c:1:1: the file is UTF-16; TOML files must be UTF-8",
		"\x00":                                  "c:1:1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8",
		"a = 99999999999999999999":              "c:1:5: 99999999999999999999 is out of range for int64",
		"a = 1\n[room.main]\npatience = 5s\n":   "c:3:13: expected a top-level item to end with a newline, comment, or EOF, but got 's' instead",
		"[room.main]\npatience = \"1s\" \"2s\"": "c:2:17: expected a top-level item to end with a newline, comment, or EOF, but got '\"' instead",
	} {
		if got := bad(t, src); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", src, got, want)
		}
	}
}

// TestOnlySyntax shows that nothing is said about a file beyond the place where
// it stops being TOML, and nothing about variables that it might have matched.
func TestOnlySyntax(t *testing.T) {
	got := bad(t, "[dor]\nlisten = \"\"\n[room.main\n", "COMPANIOND_ROOM_SIDE_PACE=0s", "COMPANIOND_DOOR_LISTEN=x")
	if strings.Count(got, "\n") != 0 || !strings.HasPrefix(got, "c:3:11: ") {
		t.Errorf("got %s", got)
	}
}

func TestTooLarge(t *testing.T) {
	src := strings.Repeat("#", maxFile)
	good(t, src)
	if got, want := bad(t, src+"\n"), "c: the file has 262145B, at most 256KiB"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPlaces(t *testing.T) {
	for src, want := range map[string]string{
		// A value, however it is quoted and wherever it stands.
		"[log]\nlevel=\"x\"":                    "c:2:7: ",
		"[log]\n\tlevel\t=\t'x'":                "c:2:10: ",
		"[log]\nlevel = \"\"\"x\"\"\"":          "c:2:9: ",
		"[log]\nlevel = \"\"\"\n\nx\"\"\"":      "c:2:9: ",
		"[log]\nlevel = '''\nx\n'''\n":          "c:2:9: ",
		"[log]\nlevel = \"\"":                   "c:2:9: ",
		"log.level = []":                        "c:1:13: ",
		"log . \"level\" = {}":                  "c:1:17: ",
		"log.\"level\" = 1979-05-27T07:32:00Z":  "c:1:15: ",
		"log = {level = 'x'}":                   "c:1:16: ",
		"log = { format = 'auto', level=\"x\"}": "c:1:32: ",
		"log = {\n  level = 'x',\n}":            "c:2:11: ",
		// An item of a list.
		"[room.main]\ncompanions = ['é', 'あ', ' ']":      "c:2:25: ",
		"[room.main]\ncompanions = [\n# ' \"\n'a',\n3 ]": "c:5:1: ",
		"[room.main]\ncompanions = ['\\', \"\\\"\"]":     "c:2:15: ",
		// A name, and of a dotted one the part in fault.
		"[log]\n  \"le vel\" = 1":  "c:2:3: ",
		"log.'x' . y = 1":          "c:1:5: ",
		"[ log . x ]":              "c:1:9: ",
		"[[log.x]]\n":              "c:1:7: ",
		"lg.level.x = 1":           "c:1:1: ",
		"log = { x.y = 1 }":        "c:1:9: ",
		"room = {main={x = 1}}":    "c:1:15: ",
		"[room]\nmain.x.y.z = 1":   "c:2:6: ",
		"[room.main.x.y]\nz = 1":   "c:1:12: ",
		"[model]\nb = {url = ''}":  "c:2:1: ",
		" [ model . 'b' ]":         "c:1:12: ",
		"model.b.url = ''":         "c:1:7: ",
		"[room.\"a b\"]":           "c:1:7: ",
		"room.\"a b\".pace = '0s'": "c:1:6: ",
		// The byte order mark takes no column.
		"\ufeffx = 1":           "c:1:1: ",
		"\ufefflog.level = 'x'": "c:1:13: ",
	} {
		if got, _, _ := strings.Cut(bad(t, src), "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("%q\ngot  %s\nwant %s", src, got, want)
		}
	}
}

// TestNothingIsSaidTwice holds that one mistake is one line, also where it
// could be seen from several sides.
func TestNothingIsSaidTwice(t *testing.T) {
	for _, src := range []string{
		"[dor]\na = 1\nb = 2\n[dor.c]\nd = 3",
		"[door]\nlisten = \"0.0.0.0:3000\"",
		"[door]\nlisten = \"0.0.0.0:3000\"\ninsecure = \"yes\"",
		"[modules]\ncache = \"\"",
		"[modules]\ncharacters = \"a\"\ncache = \"a/b\"",
		"[modules]\ncharacters = 7\ncache = \"characters/b\"",
		"[wasm]\nfuel = 1\nguard = \"x\"",
		"[[room]]\npatience = 1\n[[room]]\npatience = 2",
		"[room.\"a b\"]",
		"[room.main]\ncompanions = [\"*\", \"a b\"]",
		"[model.main]",
		"[model.main]\nmodel = ''",
		"[model.main]\nmodel = 7",
		"[model.main]\nmodle = \"m\"",
		"model = \"m\"",
		"[[model]]\nmodel = \"m\"",
		"[[model.main]]\nmodel = \"m\"",
		"[model]\nmodel = \"m\"",
		"[modles.main]\nmodel = 7",
		"[project.p]",
		"[project.p]\nagent = [\"a\", \"b\"]",
		"[project.p]\nagents = [\"a\", \"b c\"]",
		"[project.p]\nagents = 7\n[agent.x]",
		"[project.p]\nagents = [\"a b\", \"c\"]\n[agent.x]",
		"[agent.\"a b\"]",
		"[project.p]\nagents = [\"x\", \"b\"]\n[agent.x]\nstart = 7\ntype = \"human\"",
		"[door]\nlisten = \":1\"\ninsecur = true",
		"[modules]\ncharacters = \"a\"\ncach = \"b\"\ncache = \"a/b\"",
	} {
		if got := bad(t, src); strings.Contains(got, "\n") {
			t.Errorf("%s\ngot:\n%s", src, got)
		}
	}
}

func TestSuggestions(t *testing.T) {
	for src, want := range map[string]string{
		"[room.main]\npatiense = \"1s\"": `c:2:1: room.main.patiense: unknown key "patiense" (did you mean "patience"?)`,
		"[room.main]\nMaxTurns = 1":      `c:2:1: room.main.MaxTurns: unknown key "MaxTurns" (did you mean "max_turns"?)`,
		"[room.main]\nmax-turns = 1":     `c:2:1: room.main.max-turns: unknown key "max-turns" (did you mean "max_turns"?)`,
		"[door]\npatience = \"1s\"":      `c:2:1: door.patience: unknown key "patience" (did you mean "room.NAME.patience"?)`,
		"listen = 1":                     `c:1:1: listen: unknown key "listen" (did you mean "door.listen"?)`,
		"[rooms.main]":                   `c:1:2: rooms: unknown table "rooms" (did you mean "room"?)`,
		"[modul]":                        `c:1:2: modul: unknown table "modul" (did you mean "module"?)`,
		"[module]\ncache = 'x'":          `c:2:1: module.cache: unknown key "cache" (did you mean "modules.cache"?)`,
		"[module]\ngrant = []":           `c:2:1: module.grant: belongs to one module, not to all (write [module.NAME] above it)`,
		"[[modles]]":                     `c:1:3: modles: unknown table "modles" (did you mean "modules"?)`,
		"[models.main]":                  `c:1:2: models: unknown table "models" (did you mean "model"?)`,
		"[room.main]\nmodel = \"m\"":     `c:2:1: room.main.model: unknown key "model" (did you mean "model.NAME.model"?)`,
		"temperature = 1":                `c:1:1: temperature: unknown key "temperature" (did you mean "model.NAME.temperature"?)`,
		"[quux]":                         `c:1:2: quux: unknown table "quux"`,
		"[door]\nquux = 1":               `c:2:1: door.quux: unknown key "quux"`,
		"[door]\n\"\" = 1":               `c:2:1: door."": unknown key ""`,
		"[log]\nlevel = \"warning\"":     `c:2:9: log.level: "warning" is unknown, have: debug, info, warn, error (did you mean "warn"?)`,
		"[log]\nlevel = \"inof\"":        `c:2:9: log.level: "inof" is unknown, have: debug, info, warn, error (did you mean "info"?)`,
		"[log]\nlevel = \"Info\"":        `c:2:9: log.level: "Info" is unknown, have: debug, info, warn, error (did you mean "info"?)`,
		"[door]\n" + strings.Repeat("x", 99) + " = 1": "c:2:1: door." + strings.Repeat("x", 99) +
			": unknown key \"" + strings.Repeat("x", 60) + "…\"",
	} {
		if got := bad(t, src); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", src, got, want)
		}
	}
}

func TestProblemString(t *testing.T) {
	for want, p := range map[string]Problem{
		`companiond.toml:14:12: room.main.patience: "5 parsecs" is not a duration (try "5s")`: {
			File: "companiond.toml", Line: 14, Col: 12, Key: "room.main.patience",
			Message: `"5 parsecs" is not a duration`, Hint: `try "5s"`},
		`environment: COMPANIOND_DOR_LISTEN: matches no key`: {
			File: Environment, Key: "COMPANIOND_DOR_LISTEN", Message: "matches no key", Severity: Warning},
		`a.toml:1:2: not TOML`: {File: "a.toml", Line: 1, Col: 2, Message: "not TOML"},
		`a.toml: too long`:     {File: "a.toml", Message: "too long"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFailed(t *testing.T) {
	if Failed(nil) || Failed([]Problem{{Severity: Warning}}) || !Failed([]Problem{{Severity: Warning}, {Severity: Error}}) {
		t.Error("an error fails, a warning does not")
	}
}

// TestOrder holds that problems come sorted whatever the order of Go's maps.
func TestOrder(t *testing.T) {
	src := "x = 1\n[room.b]\ny = 1\nz = 1\npace = 1\n[room.a]\npace = [1]\n[door]\nhosts = ['-', '+']\n"
	first := bad(t, src, "COMPANIOND_B=1", "COMPANIOND_A=1")
	if !strings.HasPrefix(first, "environment: COMPANIOND_A: ") {
		t.Errorf("got %s", first)
	}
	// What is found last, between two keys, still stands in its place.
	if got := bad(t, "", "COMPANIOND_DOOR_LISTEN=:1", "COMPANIOND_LOG_LEVEL="); !strings.HasPrefix(got, "environment: COMPANIOND_DOOR_LISTEN: ") {
		t.Errorf("got %s", got)
	}
	for range 50 {
		if again := bad(t, src, "COMPANIOND_B=1", "COMPANIOND_A=1"); again != first {
			t.Fatalf("then\n%s\nnow\n%s", first, again)
		}
	}
}

// TestTooDeep: what the library would need gigabytes for is refused with its place.
func TestTooDeep(t *testing.T) {
	for name, src := range map[string]string{
		"a key":    "# a file\n" + strings.Repeat("a.", 20_000) + "b = 1\n",
		"a header": "# a file\n[" + strings.Repeat("a.", 20_000) + "b]\n",
		"tables":   "# a file\nx=" + strings.Repeat("{a=", 10_000),
	} {
		_, problems := Parse("c", []byte(src), nil)
		if got := lines(problems); strings.TrimSpace(got) != "c:2:1: more than 500 names or tables within each other" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
