package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// modelRows are the rows of the tables [model.NAME], and of what modules are granted.
func modelRows() []row {
	price := func(key string) row {
		return row{"model.NAME." + key, map[string]any{
			`0`: 0.0, `0.15`: 0.15, `3`: 3.0, `1e6`: 1e6, `1e-9`: 1e-9, `1_0.5`: 10.5,
		}, map[string]string{
			`-0.01`:   `-0.01 is outside 0..1000000`,
			`1000001`: `1000001 is outside 0..1000000`,
			`inf`:     `+Inf is outside 0..1000000`,
			`1e300`:   `1e+300 is outside 0..1000000`,
			`"0.15"`:  `"0.15" is not a number (try 0.15)`,
			`"free"`:  `"free" is not a number`,
			`[]`:      `a list is not a number`,
		}}
	}
	grant := func(key string) row {
		return row{key, map[string]any{
			`[]`: []string{}, `["model.generate"]`: []string{"model.generate"}, `["say", "action.emit"]`: []string{"say", "action.emit"},
		}, map[string]string{
			`["action.emti"]`:  `"action.emti" is unknown, have: say, action.emit, model.generate, conversation.start, conversation.end, memory.search, memory.add, http.fetch, perception.emit, perception.retract, sound.emit, blob.put, blob.get, timer.set, action.result (did you mean "action.emit"?)`,
			`["*"]`:            `"*" is unknown, have: say, action.emit, model.generate, conversation.start, conversation.end, memory.search, memory.add, http.fetch, perception.emit, perception.retract, sound.emit, blob.put, blob.get, timer.set, action.result`,
			`[""]`:             `"" is unknown, have: say, action.emit, model.generate, conversation.start, conversation.end, memory.search, memory.add, http.fetch, perception.emit, perception.retract, sound.emit, blob.put, blob.get, timer.set, action.result`,
			`["kv.get"]`:       `"kv.get" is always granted (leave it out)`,
			`["say", "say"]`:   `"say" is in the list twice`,
			`"model.generate"`: `"model.generate" is not a list (try ["model.generate"])`,
		}}
	}
	return append(modelNumberRows(), []row{
		grant("modules.grant"), grant("module.NAME.grant"),
		{"model.NAME.api", map[string]any{`"openai"`: "openai", `"anthropic"`: "anthropic"}, map[string]string{
			`"ollama"`: `"ollama" is unknown, have: openai, anthropic`,
			`"OpenAI"`: `"OpenAI" is unknown, have: openai, anthropic (did you mean "openai"?)`,
			`true`:     `true is unknown, have: openai, anthropic`,
		}},
		urlRow(),
		{"model.NAME.model", map[string]any{`"qwen3:8b"`: "qwen3:8b", `'あ/b'`: "あ/b"}, map[string]string{
			`""`: `must not be empty (set model.main.model to the model's name at its url, such as "qwen3:8b")`,
			`8`:  `8 is not a text (try "8")`, `"` + strings.Repeat("a", 257) + `"`: `257 bytes, at most 256`,
		}},
		{"model.NAME.embeddings", map[string]any{`""`: "", `"nomic-embed-text"`: "nomic-embed-text"}, map[string]string{
			`true`: `true is not a text (try "true")`, `"` + strings.Repeat("a", 257) + `"`: `257 bytes, at most 256`,
		}},
		{"model.NAME.key", map[string]any{
			`""`: "", `"state/main.key"`: "state/main.key", `"credential:main"`: "credential:main", `"key"`: "key", `"./sk-1"`: "./sk-1",
			`'` + strings.Repeat("a", 31) + `'`: strings.Repeat("a", 31), `'` + strings.Repeat("a", 31) + `.key'`: strings.Repeat("a", 31) + ".key",
			`"credential:` + strings.Repeat("a", 40) + `"`: "credential:" + strings.Repeat("a", 40),
		}, map[string]string{
			`"credential:"`:                     `"credential:" names no credential (try "credential:key")`,
			`"credential:a/b"`:                  `"credential:a/b" names no credential (try "credential:key")`,
			`"a\u0000/b"`:                       `"a\x00/b" is not a path`,
			`"sk-12"`:                           `looks like the key itself (write it into a file, and the file's path here)`,
			`'` + strings.Repeat("a", 32) + `'`: `looks like the key itself (write it into a file, and the file's path here)`,
			`7`:                                 `7 is not a text (try "7")`,
		}},
		{"model.NAME.structured", map[string]any{
			`"auto"`: "auto", `"json_schema"`: "json_schema", `"json_object"`: "json_object", `"prompt"`: "prompt",
		}, map[string]string{
			`"json-schema"`: `"json-schema" is unknown, have: auto, json_schema, json_object, prompt (did you mean "json_schema"?)`,
		}},
		{"model.NAME.effort", map[string]any{
			`""`: "", `"none"`: "none", `"low"`: "low", `"medium"`: "medium", `"high"`: "high",
		}, map[string]string{
			`"hihg"`: `"hihg" is unknown, have: none, low, medium, high (did you mean "high"?)`,
			`"None"`: `"None" is unknown, have: none, low, medium, high (did you mean "none"?)`,
			`false`:  `false is unknown, have: none, low, medium, high`,
		}},
		{"model.NAME.without", map[string]any{
			`[]`: []string{}, `["tools", "max_tokens"]`: []string{"tools", "max_tokens"},
		}, map[string]string{
			`["tool"]`:           `"tool" is unknown, have: tools, tool_choice, tools_while_thinking, temperature, effort, stream_options, max_tokens, cache_key, json_schema, json_object (did you mean "tools"?)`,
			`["tools", "tools"]`: `"tools" is in the list twice`,
			`"tools"`:            `"tools" is not a list (try ["tools"])`,
		}},
		price("price_in"), price("price_out"), price("price_cached"),
	}...)
}

func modelNumberRows() []row {
	span := func(key string) row {
		return row{"model.NAME." + key, map[string]any{`"100ms"`: 100 * time.Millisecond, `"1h"`: time.Hour}, map[string]string{
			`"99ms"`: `"99ms" is outside 100ms..1h`,
			`"61m"`:  `"61m" is outside 100ms..1h`,
			`60`:     `60 is not a duration (try "60s")`,
		}}
	}
	return []row{
		span("timeout"), span("first_byte"),
		{"model.NAME.retries", map[string]any{`0`: int64(0), `10`: int64(10)}, map[string]string{
			`-1`: `-1 is outside 0..10`, `11`: `11 is outside 0..10`, `1.5`: `1.5 is not a whole number`,
		}},
		{"model.NAME.parallel", map[string]any{`1`: int64(1), `256`: int64(256)}, map[string]string{
			`0`: `0 is outside 1..256`, `257`: `257 is outside 1..256`,
		}},
		{"model.NAME.vote_with_line", map[string]any{`true`: true, `false`: false}, map[string]string{
			`"true"`: `"true" is not true or false (try true)`, `1`: `1 is not true or false`,
		}},
		{"model.NAME.votes_together", map[string]any{`true`: true, `false`: false}, map[string]string{
			`"true"`: `"true" is not true or false (try true)`, `1`: `1 is not true or false`,
		}},
		{"model.NAME.context", map[string]any{`2000`: int64(2000), `2_000_000`: int64(2_000_000)}, map[string]string{
			`999`: `999 is outside 1000..2000000`, `"8k"`: `"8k" is not a whole number`,
		}},
		{"model.NAME.calls_minute", map[string]any{`0`: int64(0), `60`: int64(60)}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"model.NAME.calls_day", map[string]any{`5000`: int64(5000)}, map[string]string{`1.5`: `1.5 is not a whole number`}},
		{"model.NAME.cost_day", map[string]any{`0.5`: 0.5}, map[string]string{`-1`: `-1 is outside 0..1000000`}},
		{"model.NAME.max_tokens", map[string]any{`16`: int64(16), `100000`: int64(100_000)}, map[string]string{
			`15`: `15 is outside 16..100000`, `"1024"`: `"1024" is not a whole number (try 1024)`,
		}},
		{"model.NAME.temperature", map[string]any{
			`0`: 0.0, `0.0`: 0.0, `0.7`: 0.7, `2`: 2.0, `-1`: -1.0, `-1.0`: -1.0, `1e-3`: 0.001,
		}, map[string]string{
			`2.5`:   `2.5 is outside 0..2 and is not -1`,
			`-2`:    `-2 is outside 0..2 and is not -1`,
			`-0.5`:  `-0.5 is outside 0..2 and is not -1`,
			`nan`:   `NaN is outside 0..2 and is not -1`,
			`-inf`:  `-Inf is outside 0..2 and is not -1`,
			`"0.7"`: `"0.7" is not a number (try 0.7)`,
			`"7"`:   `"7" is not a number`,
			`"hot"`: `"hot" is not a number`,
			`true`:  `true is not a number`,
		}},
	}
}

func urlRow() row {
	const (
		noAddress  = `is not an http:// or https:// address (try "http://127.0.0.1:11434/v1")`
		noPassword = `must not hold a user or a password (the key goes into a file, and the file's path into key)`
		noQuery    = `must end with its path, before the ? or # (the key goes into a file, and the file's path into key)`
	)
	return row{"model.NAME.url", map[string]any{
		`""`:                             "",
		`"http://127.0.0.1:11434/v1"`:    "http://127.0.0.1:11434/v1",
		`"http://127.0.0.1:11434/v1//"`:  "http://127.0.0.1:11434/v1",
		`"https://openrouter.ai/api/v1"`: "https://openrouter.ai/api/v1",
		`"https://api.anthropic.com/"`:   "https://api.anthropic.com",
		`"HTTP://[::1]:65535"`:           "HTTP://[::1]:65535",
		`"http://家.example/messages/v1"`: "http://家.example/messages/v1",
	}, map[string]string{
		`"127.0.0.1:11434/v1"`:                      noAddress,
		`"localhost:11434/v1"`:                      noAddress,
		`"localhost"`:                               noAddress,
		`"ftp://a"`:                                 noAddress,
		`"http://"`:                                 noAddress,
		`"http:///v1"`:                              noAddress,
		`"http://:80/v1"`:                           noAddress,
		`"http:a/v1"`:                               noAddress,
		`"http://a:b/v1"`:                           noAddress,
		`"http://a/%zz"`:                            noAddress,
		`" http://a/v1"`:                            noAddress,
		`"http://a/v1 "`:                            noAddress,
		`"http://a/v1\n"`:                           noAddress,
		`"https://me:secret@a/v1"`:                  noPassword,
		`"https://secret@a/v1"`:                     noPassword,
		`"https://me:se#cret@a/v1"`:                 noAddress,
		`"https://a/v1?key=secret"`:                 noQuery,
		`"https://a/v1?"`:                           noQuery,
		`"https://a/v1#secret"`:                     noQuery,
		`"https://a/v1#"`:                           noQuery,
		`"http://a:0/v1"`:                           `port 0 is outside 1..65535`,
		`"http://a:65536"`:                          `port 65536 is outside 1..65535`,
		`"http://a/v1/chat/completions/"`:           `must be the base of the API (leave out /chat/completions)`,
		`"http://a/v1/completions"`:                 `must be the base of the API (leave out /completions)`,
		`"https://api.anthropic.com/v1/%6dessages"`: `must be the base of the API (leave out /messages)`,
		`"http://a/v1/responses"`:                   `must be the base of the API (leave out /responses)`,
		`11434`:                                     `11434 is not a text (try "11434")`,
	}}
}

// TestModels holds the order of models, and that one table leaves the others alone.
func TestModels(t *testing.T) {
	c := good(t, "[model.b]\nmodel = \"m\"\nretries = 0\n[model.'ä.x']\nmodel = \"x\"\nkey = \"credential:k\"\n[model.a]\napi = \"anthropic\"\nmodel = \"m\"\n")
	a, b, x := defaultModel("a", "m"), defaultModel("b", "m"), defaultModel("ä.x", "x")
	a.API, b.Retries, x.Key = "anthropic", 0, "credential:k"
	if want := []Model{a, b, x}; !reflect.DeepEqual(c.Models, want) {
		t.Errorf("got  %+v\nwant %+v", c.Models, want)
	}
	if want := []Room{defaultRoom("main")}; !reflect.DeepEqual(c.Rooms, want) {
		t.Errorf("got %+v", c.Rooms)
	}
}

// TestModelAndRoomOfOneName shows that the two have nothing to do with each other.
func TestModelAndRoomOfOneName(t *testing.T) {
	c := good(t, "[model.main]\nmodel = \"m\"\n[room.main]\n", "COMPANIOND_MODEL_MAIN_TIMEOUT=5s", "COMPANIOND_ROOM_MAIN_PATIENCE=2s")
	want := defaults()
	want.Models = []Model{defaultModel("main", "m")}
	want.Models[0].Timeout, want.Rooms[0].Patience = 5*time.Second, 2*time.Second
	if !sameConfig(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

// TestSecretsAreNotShown holds that what may hold a password or a key is not
// repeated, wherever it was written.
func TestSecretsAreNotShown(t *testing.T) {
	for key, values := range map[string][]string{
		"url": {
			"https://me:secret@host/v1", "https://secret@host/v1", "https://host/v1?key=secret", "https://host/v1#secret",
			"https://me:se/secret@host", "https://me:#secret@host", "ftp://me:secret@host", "https://me:secret@host:x", "secret", "https://a/secret/messages",
		},
		"key": {"sk-secret", "sk-ant-secret_1", "secret" + strings.Repeat("x", 40)},
	} {
		for _, value := range values {
			inFile := bad(t, "[model.main]\nmodel = \"m\"\n"+key+" = "+literal(text{}, value)+"\n")
			inEnv := bad(t, "[model.main]\nmodel = \"m\"\n", "COMPANIOND_MODEL_MAIN_"+strings.ToUpper(key)+"="+value)
			for _, got := range []string{inFile, inEnv} {
				if strings.Contains(got, "secret") || strings.Contains(got, "\n") {
					t.Errorf("%s: %s", value, got)
				}
			}
		}
	}
}

// TestEnvironmentWithoutModels makes the model main of variables alone, and only
// of those that set one of its keys.
func TestEnvironmentWithoutModels(t *testing.T) {
	for _, src := range []string{"", "[model]\n"} {
		c := good(t, src, "COMPANIOND_MODEL_MAIN_URL=http://127.0.0.1:11434/v1", "COMPANIOND_model_main_MODEL=qwen3:8b")
		want := defaults()
		want.Models = []Model{defaultModel("main", "qwen3:8b")}
		want.Models[0].URL = "http://127.0.0.1:11434/v1"
		if !sameConfig(c, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", src, c, want)
		}
	}
	for env, want := range map[string]string{
		// The variable that is missing is the one that is named.
		"COMPANIOND_MODEL_MAIN_URL=http://a/v1": `environment: COMPANIOND_MODEL_MAIN_MODEL: must not be empty (set model.main.model to the model's name at its url, such as "qwen3:8b")`,
		"COMPANIOND_MODEL_MAIN_MODEL=":          `environment: COMPANIOND_MODEL_MAIN_MODEL: must not be empty (set model.main.model to the model's name at its url, such as "qwen3:8b")`,
		"COMPANIOND_MODEL_MAIN_MODEL=\xff":      `environment: COMPANIOND_MODEL_MAIN_MODEL: "\xff" is not UTF-8`,
		// What Kubernetes sets for a service named companiond-model-main.
		"COMPANIOND_MODEL_MAIN_SERVICE_HOST=10.0.0.1": `environment: COMPANIOND_MODEL_MAIN_SERVICE_HOST: matches no key and is ignored`,
		"COMPANIOND_MODEL_SIDE_MODEL=m":               `environment: COMPANIOND_MODEL_SIDE_MODEL: matches no key and is ignored`,
	} {
		if got := bad(t, "", env); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", env, got, want)
		}
	}
	if c, _ := Parse("c", nil, []string{"COMPANIOND_MODEL_MAIN_SERVICE_HOST=10.0.0.1", "COMPANIOND_MODEL_SIDE_MODEL=m"}); !sameConfig(c, defaults()) {
		t.Errorf("got %+v", c)
	}
	if c := good(t, "", "COMPANIOND_model_main_MODEL=m"); len(c.Models) != 1 || c.Models[0].Model != "m" {
		t.Errorf("in small letters: %+v", c.Models)
	}
	// Of a table that is none it is not said too that it lacks a key.
	for _, src := range []string{"model = \"m\"\n", "[model]\nmain = \"m\"\n", "[[model]]\n", "[[model.main]]\n"} {
		if got := bad(t, src, "COMPANIOND_MODEL_MAIN_URL=http://a/v1"); strings.Contains(got, "\n") || !strings.HasPrefix(got, "c:") {
			t.Errorf("%s\ngot %s", src, got)
		}
	}
	// A file that has a model has no main beside it.
	want := `environment: COMPANIOND_MODEL_MAIN_URL: matches no key and is ignored (did you mean COMPANIOND_MODEL_MINE_URL?)`
	if got := bad(t, "[model.mine]\nmodel = \"m\"\n", "COMPANIOND_MODEL_MAIN_URL=http://a/v1"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestModelEnvironmentProblems(t *testing.T) {
	for pair, want := range map[string]string{
		"COMPANIOND_MODEL_MAIN_URL=https://u:p@a/v1": `environment: COMPANIOND_MODEL_MAIN_URL: must not hold a user or a password (the key goes into a file, and the file's path into key)`,
		"COMPANIOND_MODEL_MAIN_URL=https://a/v1?k=p": `environment: COMPANIOND_MODEL_MAIN_URL: must end with its path, before the ? or # (the key goes into a file, and the file's path into key)`,
		"COMPANIOND_MODEL_MAIN_URI=http://a/v1":      `environment: COMPANIOND_MODEL_MAIN_URI: matches no key and is ignored (did you mean COMPANIOND_MODEL_MAIN_URL?)`,
		"COMPANIOND_MODEL_MIAN_URL=http://a/v1":      `environment: COMPANIOND_MODEL_MIAN_URL: matches no key and is ignored (did you mean COMPANIOND_MODEL_MAIN_URL?)`,
		"COMPANIOND_MODEL_MAIN_MODEL=":               `environment: COMPANIOND_MODEL_MAIN_MODEL: must not be empty (set model.main.model to the model's name at its url, such as "qwen3:8b")`,
		"COMPANIOND_MODEL_MAIN_TEMPERATURE=0,7":      `environment: COMPANIOND_MODEL_MAIN_TEMPERATURE: "0,7" is not a number`,
		"COMPANIOND_MODEL_MAIN_TEMPERATURE=nan":      `environment: COMPANIOND_MODEL_MAIN_TEMPERATURE: NaN is outside 0..2 and is not -1`,
		"COMPANIOND_MODEL_MAIN_PRICE_IN=1e999":       `environment: COMPANIOND_MODEL_MAIN_PRICE_IN: "1e999" is not a number`,
		"COMPANIOND_MODEL_MAIN_KEY=sk-1":             `environment: COMPANIOND_MODEL_MAIN_KEY: looks like the key itself (write it into a file, and the file's path here)`,
	} {
		if got := bad(t, "[model.main]\nmodel = \"m\"\n", pair); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", pair, got, want)
		}
	}
}

// TestTwinModels shows two models that a variable cannot tell apart.
func TestTwinModels(t *testing.T) {
	const file = "[model.a-b]\nmodel = \"m\"\n[model.A_b]\nmodel = \"m\"\n"
	good(t, file)
	want := `environment: COMPANIOND_MODEL_A_B_URL: may mean model.A_b.url or model.a-b.url (set it in the file)`
	if got := bad(t, file, "COMPANIOND_MODEL_A_B_URL=http://a/v1"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
