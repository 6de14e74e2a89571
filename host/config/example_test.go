package config_test

import (
	"fmt"
	"strings"

	"github.com/companiond/companiond/host/config"
)

// All mistakes are told at once, each where it stands.
func ExampleParse() {
	const file = `[door]
listen = "0.0.0.0:3000"

[room.main]
patience = "5 parsecs"
max-turns = 24
`
	env := []string{"COMPANIOND_DOR_LISTEN=127.0.0.1:3000"}
	_, problems := config.Parse("companiond.toml", []byte(file), env)
	for _, p := range problems {
		fmt.Printf("%s: %s\n", p.Severity, p)
	}
	// Output:
	// warning: environment: COMPANIOND_DOR_LISTEN: matches no key and is ignored (did you mean COMPANIOND_DOOR_LISTEN?)
	// error: companiond.toml:2:10: door.listen: "0.0.0.0:3000" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)
	// error: companiond.toml:5:12: room.main.patience: "5 parsecs" is not a duration (try "5s")
	// error: companiond.toml:6:1: room.main.max-turns: unknown key "max-turns" (did you mean "max_turns"?)
}

// Without a file and an environment there is still a room to talk in.
func ExampleParse_defaults() {
	c, problems := config.Parse("", nil, nil)
	fmt.Println(len(problems), c.Door.Listen, c.Rooms[0].Name, c.Rooms[0].Patience)
	// Output: 0 127.0.0.1:3000 main 1s
}

// A model has to be named; all else has a default.
func ExampleParse_models() {
	const file = `[model.main]
url = "http://127.0.0.1:11434/v1/"
temperature = 0.7

[model.cloud]
api = "anthropic"
model = "claude"
key = "credential:cloud"
`
	_, problems := config.Parse("companiond.toml", []byte(file), nil)
	fmt.Println(problems)
	c, _ := config.Parse("companiond.toml", []byte(file), []string{"COMPANIOND_MODEL_MAIN_MODEL=qwen3:8b"})
	for _, m := range c.Models {
		fmt.Printf("%s: %s %s %q %q %v %v\n", m.Name, m.API, m.Model, m.URL, m.Key, m.Temperature, m.Timeout)
	}
	// Output:
	// [companiond.toml:1:8: model.main.model: must not be empty (set model.main.model to the model's name at its url, such as "qwen3:8b")]
	// cloud: anthropic claude "" "credential:cloud" -1 1m0s
	// main: openai qwen3:8b "http://127.0.0.1:11434/v1" "" 0.7 1m0s
}

func ExampleConfig_Print() {
	c, _ := config.Parse("companiond.toml", []byte("[room.\"居間\"]\npace = \"1s\"\n"), []string{"COMPANIOND_LOG_LEVEL=warn"})
	var b strings.Builder
	if err := c.Print(&b); err != nil {
		fmt.Println(err)
	}
	text := b.String()
	fmt.Print(text[strings.Index(text, "[room"):])
	// Output:
	// [room."居間"]
	// companions = ["*"]                         # default
	// companion = ""                             # default
	// policy = "vote"                            # default
	// patience = "1s"                            # default
	// floor = "10s"                              # default
	// max_turns = 24                             # default
	// silence = "4s"                             # default
	// stale = "reask"                            # default
	// pace = "1s"                                # companiond.toml:2
	// interrupt = "sentence"                     # default
	// interrupters = ["*"]                       # default
	// ahead = 30                                 # default
	// perceived = 12                             # default
	// seed = "居間"                                # default
	// pool_pricing = "strict"                    # default
	// pool_prices = ["10:5", "50:60", "100:80"]  # default
	// pool_size = 100                            # default
	// pool_recovery = "5s"                       # default
	// pool_reserve = 0                           # default
	// pool_share = 0                             # default
	// calls_minute = 0                           # default
	// calls_day = 0                              # default
	// cost_day = 0                               # default
	// compress = "ask"                           # default
	// compress_policy = ""                       # default
	// compress_at = 0.7                          # default
	// compress_by = ""                           # default
	// compress_verify = ""                       # default
	//
	// [conversations]
	// pending = "5m"   # default
	// idle = "10m"     # default
	// session = "15m"  # default
	//
	// [log]
	// level = "warn"   # environment COMPANIOND_LOG_LEVEL
	// format = "auto"  # default
}

func ExampleKeys() {
	for _, k := range config.Keys()[:5] {
		fmt.Printf("%s = %s (%s)\n", k.Name, k.Default, k.Env)
	}
	// Output:
	// door.listen = "127.0.0.1:3000" (COMPANIOND_DOOR_LISTEN)
	// door.insecure = false (COMPANIOND_DOOR_INSECURE)
	// door.hosts = [] (COMPANIOND_DOOR_HOSTS)
	// door.origins = [] (COMPANIOND_DOOR_ORIGINS)
	// door.rate = 200 (COMPANIOND_DOOR_RATE)
}

func ExampleDocument() {
	text := config.Document()
	from := strings.Index(text, "# Who may connect")
	fmt.Print(text[from : from+strings.Index(text[from:], "\n\n# Allow")])
	// Output:
	// # Who may connect, and where.
	// [door]
	//
	// # Address and port of the front door. Port 0 takes any free one. An address
	// # that other machines can reach needs identity.tokens.
	// #listen = "127.0.0.1:3000"
}
