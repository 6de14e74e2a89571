package config

import (
	"strings"
	"testing"
)

func TestIsInside(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"a", "a", true}, {"a/", "a", true}, {"./a", "a/.", true}, {"a/b/c", "a", true}, {"b/../a/c", "a", true},
		{"ab", "a", false}, {"b", "a", false}, {"a/../b", "a", false}, {"../a", "a", false}, {"a", "a/b", false},
		{"a", ".", true}, {".", ".", true}, {"..", ".", false}, {"../a", ".", false}, {"..a", ".", true}, {"/a", ".", false}, {"/", ".", false},
		{"/a/b", "/a", true}, {"/a", "/", true}, {"/", "/a", false}, {"/a", "a", false}, {"a", "/", false},
	} {
		if got := isInside(c.path, c.dir); got != c.want {
			t.Errorf("isInside(%q, %q) = %v", c.path, c.dir, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:1": true, "127.1.2.3:1": true, "[::1]:1": true, "localhost:1": true, "LocalHost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "192.168.0.1:1": false, "127.1:1": false,
		"localhost.evil.example:1": false, "127.0.0.1.evil.example:1": false, "[fe80::1%lo]:1": false, "nonsense": false,
	} {
		if got := (Door{Listen: listen}).Loopback(); got != want {
			t.Errorf("Loopback of %q = %v", listen, got)
		}
	}
}

// TestBetweenKeys takes the checks that compare keys through both sides.
func TestBetweenKeys(t *testing.T) {
	for src, want := range map[string]string{
		"[door]\nlisten = \"0.0.0.0:1\"\ninsecure = true":                        "",
		"[door]\nlisten = \":1\"\ninsecure = true":                               "",
		"[door]\ninsecure = true":                                                "",
		"door.listen = \":1\"\nidentity.tokens = \"t\"":                          "",
		"[door]\ninsecure = false\nlisten = \"0.0.0.0:1\"":                       `c:3:10: door.listen: "0.0.0.0:1" can be reached from other machines, and there are no tokens (set identity.tokens, or listen on 127.0.0.1)`,
		"[modules]\ncharacters = \"state\"\ncache = \"c\"":                       `c:2:14: journal.path: "state/companiond.db" lies inside modules.characters: every message would look like a changed character (put it beside "state")`,
		"[modules]\ncharacters = \"a\"\ncache = \"characters\"":                  "",
		"[modules]\ncharacters = \"/a\"\ncache = \"a/b\"":                        "",
		"[wasm]\nfuel = 0\nguard = \"context\"":                                  "",
		"[model.a]\nmodel = \"b\"\nvote_with_line = true\nvotes_together = true": `c:4:18: model.a.votes_together: does nothing, because vote_with_line is true: each character writes its own line behind its own vote (take one of the two out)`,
		"[model.a]\nmodel = \"m\"\napi = \"anthropic\"\nembeddings = \"e\"":      `c:4:14: model.a.embeddings: Anthropic's API makes no embeddings (leave it out)`,
		"[wasm]\nfuel = 9\nguard = \"fuel\"":                                     "",
		"[wasm]\nfuel = 9\nguard = \"context\"":                                  `c:2:8: wasm.fuel: does nothing, because wasm.guard is "context" (set wasm.guard = "fuel")`,
		"[model.a]\nmodel = \"m\"\ncost_day = 2":                                 `c:3:12: model.a.cost_day: bounds nothing: model.a has no prices, so that all calls cost 0 (set price_in and price_out of model.a, or bound calls_day)`,
		"[model.a]\nmodel = \"m\"\ncost_day = 2\nprice_out = 1":                  "",
		"[room.a]\ncost_day = 2":                                                 "",
		"[room.a]\ncost_day = 2\n[model.a]\nmodel = \"m\"":                       `c:2:12: room.a.cost_day: bounds nothing: model.a has no prices, so that all calls cost 0 (set price_in and price_out of model.a, or bound calls_day)`,
		"[companion.a]\ncost_day = 2\n[model.a]\nmodel = \"m\"":                  `c:2:12: companion.a.cost_day: bounds nothing: model.a has no prices, so that all calls cost 0 (set price_in and price_out of model.a, or bound calls_day)`,
		"[model.a]\nmodel = \"m\"\nmax_tokens = 8000":                            `c:3:14: model.a.max_tokens: is as much as context, 8000 tokens, or more: an answer is a small part of what it answers (companions say a few sentences at once; 1024 is usual)`,
		"[room.a]\ncompanions = [\"*\"]":                                         "",
		"[model.a]\nmodel = \"m\"":                                               "",
		"[model.a]":                                                              `c:1:8: model.a.model: must not be empty (set model.a.model to the model's name at its url, such as "qwen3:8b")`,
		"[model.a]\n\nmodel = \"\"":                                              `c:3:9: model.a.model: must not be empty (set model.a.model to the model's name at its url, such as "qwen3:8b")`,
		"[model.b]\nmodel = \"m\"\n[model.\"a.b\"]\nmodels = 1":                  `c:4:1: model."a.b".models: unknown key "models" (did you mean "model"?)`,
		"[model]\n\"a.b\".url = \"\"":                                            `c:2:1: model."a.b".model: must not be empty (set model."a.b".model to the model's name at its url, such as "qwen3:8b")`,
		"[room.\"a.b\"]\ncompanions = [\"aya\", \"*\"]":                          `c:2:14: room."a.b".companions: names companions beside "*", which already stands for all of them`,
		"[room.a]\nsilence = \"1ms\"\npace = \"1m\"":                             "",
		"[room.a]\ncompanions = [\"aya\"]\n[room.b]\nseed = ''":                  "",
	} {
		if want == "" {
			good(t, src)
		} else if got := bad(t, src); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", src, got, want)
		}
	}
}

// TestWarningsDoNotRefuse holds that a doubtful file is still used.
func TestWarningsDoNotRefuse(t *testing.T) {
	c, problems := Parse("c", []byte("[wasm]\nfuel = 9\nguard = \"context\"\n[room.a]\ncompanions = [\"aya\", \"*\"]"), nil)
	if len(problems) != 2 || Failed(problems) || c.Wasm.Fuel != 9 || len(c.Rooms) != 1 || len(c.Rooms[0].Companions) != 2 {
		t.Errorf("%v %+v", problems, c)
	}
}

// TestAContextOfBefore: until there were budgets, 1000 was enough for context. Such a file goes on working, with the
// least that does, and is told what to write.
func TestAContextOfBefore(t *testing.T) {
	for of, want := range map[string]string{
		"context = 1000": "1000", "context = 1999\nmax_tokens = 1999": "1999", "context = 2000": "", "context = 2001": "",
	} {
		c, problems := Parse("c", []byte("[model.a]\nmodel = \"m\"\n"+of), nil)
		if want != "" {
			want = "c:3:11: model.a.context: " + want + " is too little for the rules and what was said, 2000 is used (write context = 2000, or more)\n"
		}
		if got := lines(problems); got != want || Failed(problems) || len(c.Models) != 1 || c.Models[0].Context < 2000 || c.Models[0].Context > 2001 {
			t.Errorf("%s: %q, want %q; %+v", of, got, want, c.Models)
		}
	}
	c, problems := Parse("c", []byte("[model.a]\nmodel = \"m\""), []string{"COMPANIOND_MODEL_A_CONTEXT=1500"})
	if got := lines(problems); !strings.Contains(got, "COMPANIOND_MODEL_A_CONTEXT") || Failed(problems) || c.Models[0].Context != 2000 {
		t.Errorf("%q %+v", got, c.Models)
	}
}
