package config

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

func TestEnvironment(t *testing.T) {
	const file = "[door]\nlisten = \"127.0.0.1:1\"\n[room.main]\npatience = \"3s\"\n[room.\"Stage-1.左\"]\n" +
		"[model.main]\nmodel = \"m\"\nurl = \"http://a/v1\"\n[model.\"家-2\"]\n"
	c := good(t, file,
		"PATH=/bin", "COMPANIOND=1", "companiond_door_listen=x", "junk", "=",
		"COMPANIOND_DOOR_LISTEN=localhost:0",
		"COMPANIOND_DOOR_HOSTS=aya.example, Studio.example",
		"COMPANIOND_DOOR_ORIGINS=",
		"COMPANIOND_DOOR_MAX_CLIENTS=7",
		"COMPANIOND_JOURNAL_PATH=/data/a=b.db",
		"COMPANIOND_JOURNAL_BALLAST=0",
		"COMPANIOND_MODULES_CHARACTERS=first",
		"COMPANIOND_MODULES_CHARACTERS=people",
		"COMPANIOND_WASM_GUARD=context",
		"COMPANIOND_ROOM_MAIN_PATIENCE=1500ms",
		"COMPANIOND_ROOM_main_MAX_TURNS=0",
		"COMPANIOND_ROOM_MAIN_COMPANIONS=aya,kyoko",
		"COMPANIOND_ROOM_STAGE_1_左_PACE=0s",
		"COMPANIOND_MODULES_GRANT=model.generate",
		"COMPANIOND_MODEL_MAIN_URL=http://127.0.0.1:11434/v1/",
		"COMPANIOND_MODEL_MAIN_TEMPERATURE=0.7",
		"COMPANIOND_MODEL_main_RETRIES=0",
		"COMPANIOND_MODEL_家_2_MODEL=qwen3:8b",
		"COMPANIOND_MODEL_家_2_PRICE_CACHED=1e-1",
	)
	want := defaults()
	want.Door.Listen, want.Door.MaxClients = "localhost:0", 7
	want.Door.Hosts = []string{"aya.example", "studio.example"}
	want.Journal = Journal{Path: "/data/a=b.db"}
	want.Modules.Characters = "people"
	want.Wasm.Guard = "context"
	stage := defaultRoom("Stage-1.左")
	stage.Pace = "0s"
	want.Rooms = []Room{stage, defaultRoom("main")}
	want.Rooms[1].Patience, want.Rooms[1].MaxTurns = 1500*time.Millisecond, 0
	want.Rooms[1].Companions = []string{"aya", "kyoko"}
	want.Modules.Grant = []string{abi.HostModelGenerate}
	want.Models = []Model{defaultModel("main", "m"), defaultModel("家-2", "qwen3:8b")}
	want.Models[0].URL, want.Models[0].Temperature, want.Models[0].Retries = "http://127.0.0.1:11434/v1", 0.7, 0
	want.Models[1].PriceCached = 0.1
	if !sameConfig(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

// TestEnvironmentWithoutRooms reaches the room that is there without a table.
func TestEnvironmentWithoutRooms(t *testing.T) {
	if c := good(t, "", "COMPANIOND_ROOM_MAIN_SILENCE=0s"); c.Rooms[0].Silence != 0 {
		t.Errorf("got %+v", c.Rooms)
	}
}

func TestEnvironmentProblems(t *testing.T) {
	for pair, want := range map[string]string{
		"COMPANIOND_DOR_LISTEN=x":                   `environment: COMPANIOND_DOR_LISTEN: matches no key and is ignored (did you mean COMPANIOND_DOOR_LISTEN?)`,
		"COMPANIOND_ROOM_MAIN_PATIENSE=1s":          `environment: COMPANIOND_ROOM_MAIN_PATIENSE: matches no key and is ignored (did you mean COMPANIOND_ROOM_MAIN_PATIENCE?)`,
		"COMPANIOND_ROOM_MIAN_PACE=1s":              `environment: COMPANIOND_ROOM_MIAN_PACE: matches no key and is ignored (did you mean COMPANIOND_ROOM_MAIN_PACE?)`,
		"COMPANIOND_MODEL_MIAN_URL=http://a/v1":     `environment: COMPANIOND_MODEL_MIAN_URL: matches no key and is ignored`,
		"COMPANIOND_MODULES_GRANT=say,sya":          `environment: COMPANIOND_MODULES_GRANT: "sya" is unknown, have: say, action.emit, model.generate, conversation.start, conversation.end, memory.search, memory.add, http.fetch, perception.emit, perception.retract, sound.emit, blob.put, blob.get, timer.set, action.result (did you mean "say"?)`,
		"COMPANIOND_SERVICE_HOST=10.0.0.1":          `environment: COMPANIOND_SERVICE_HOST: matches no key and is ignored`,
		"COMPANIOND_PORT_3000_TCP=tcp://10.0.0.1:1": `environment: COMPANIOND_PORT_3000_TCP: matches no key and is ignored`,
		"COMPANIOND_DOOR_LISTEN=":                   `environment: COMPANIOND_DOOR_LISTEN: "" is not host:port (try "127.0.0.1:3000")`,
		"COMPANIOND_DOOR_LISTEN=0.0.0.0:1":          `environment: COMPANIOND_DOOR_LISTEN: "0.0.0.0:1" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)`,
		"COMPANIOND_DOOR_INSECURE=1":                `environment: COMPANIOND_DOOR_INSECURE: "1" is not true or false`,
		"COMPANIOND_DOOR_MAX_CLIENTS=1e3":           `environment: COMPANIOND_DOOR_MAX_CLIENTS: "1e3" is not a whole number`,
		"COMPANIOND_DOOR_HOSTS=a,,b":                `environment: COMPANIOND_DOOR_HOSTS: "" is not a host name`,
		"COMPANIOND_WASM_MEMORY=64MB":               `environment: COMPANIOND_WASM_MEMORY: "64MB" is not a size (try "64MiB")`,
		"COMPANIOND_ROOM_MAIN_PATIENCE=5 parsecs":   `environment: COMPANIOND_ROOM_MAIN_PATIENCE: "5 parsecs" is not a duration (try "5s")`,
		"COMPANIOND_ROOM_MAIN_SEED=\xff":            `environment: COMPANIOND_ROOM_MAIN_SEED: "\xff" is not UTF-8`,
		"COMPANIOND_ROOM_MAIN_STALE=drop":           `environment: COMPANIOND_ROOM_MAIN_STALE: "drop" is unknown, have: reask, refuse, accept`,
		"COMPANIOND_LOG_LEVEL=INFO":                 `environment: COMPANIOND_LOG_LEVEL: "INFO" is unknown, have: debug, info, warn, error (did you mean "info"?)`,
		"COMPANIOND_MODULES_CACHE=characters/c":     `environment: COMPANIOND_MODULES_CACHE: "characters/c" lies inside modules.characters: compiled code would be taken for characters (put it beside "characters")`,
	} {
		if got := bad(t, "", pair); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", pair, got, want)
		}
	}
}

// TestStrayVariable holds that a variable that is not ours after all keeps
// nothing from starting.
func TestStrayVariable(t *testing.T) {
	c, problems := Parse("c", nil, []string{"COMPANIOND_PORT=tcp://10.0.0.1:3000"})
	if len(problems) != 1 || problems[0].Severity != Warning || Failed(problems) || !sameConfig(c, defaults()) {
		t.Errorf("%v %+v", problems, c)
	}
	if p := problems[0]; p.File != Environment || p.Key != "COMPANIOND_PORT" || p.Line != 0 || p.Col != 0 {
		t.Errorf("got %+v", p)
	}
}

// TestTwinRooms shows two rooms that a variable cannot tell apart.
func TestTwinRooms(t *testing.T) {
	const file = "[room.a-b]\n[room.A_b]\n"
	good(t, file)
	want := `environment: COMPANIOND_ROOM_A_B_PACE: may mean room.A_b.pace or room.a-b.pace (set it in the file)`
	if got := bad(t, file, "COMPANIOND_ROOM_A_B_PACE=0s"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBothWrong holds that a bad value in the file is said even where a
// variable overrides it.
func TestBothWrong(t *testing.T) {
	got := bad(t, "[log]\nlevel = 1\n", "COMPANIOND_LOG_LEVEL=2")
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "c:2:9: log.level: ") {
		t.Errorf("got %s", got)
	}
	bad(t, "[log]\nlevel = 1\n", "COMPANIOND_LOG_LEVEL=info")
}

// TestEnvName holds that every key has a variable of its own, which a shell can set.
func TestEnvName(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range Keys() {
		if seen[k.Env] || strings.Trim(k.Env, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" || k.Env != strings.ToUpper(k.Env) {
			t.Errorf("%s: %s", k.Name, k.Env)
		}
		seen[k.Env] = true
	}
}
