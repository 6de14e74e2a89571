package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse feeds anything as file and environment: nothing panics, every
// problem has a place that exists, and a Config that is handed out is in range
// and survives being printed.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, "COMPANIOND_ROOM_MAIN_PATIENCE=2s\nCOMPANIOND_DOR_LISTEN=x")
	}
	for _, src := range []string{
		"", Document(), "door = {listen = '127.0.0.1:1', hosts = ['a', 'b']}", "[room.'あ.い']\npace = '0s'\n[room.b]\n",
		"[[room]]\n[[room]]\n", "a.b.c.\"\".d = [[[{a = 1}]]]", "[a]\n\"\" = 1\n[a.\"\"]\n", "x = {}\n[x.y]", "[a.b]\n[a]\nb.c = 1",
		"[model.main]\nurl = 'https://a/v1'\n[model.b]\nmodel = 'm'\ntemperature = 0.1\nprice_in = -0.0\n", "model.'あ'.model = \"\"", "[[model]]\n",
		"[model]\nmain = {model = 'm', key = 'credential:k', temperature = nan}", "[model.main]\nurl = 'http://u:p@h:70000/v1?k#f'\nmodle = 1\n",
		team, "[project.p]\nagents = ['a', 'A', 'you', 'm\u0456ka']\n[agent.a]\nname = 'You'\nstart = ['', 'cmp_']\n[agent.\"\"]\n",
	} {
		f.Add([]byte(src), "COMPANIOND_DOOR_HOSTS=a,b\nCOMPANIOND_WASM_FUEL=1\nCOMPANIOND_ROOM_B_SEED=\xff\nCOMPANIOND_MODEL_MAIN_MODEL=m\nCOMPANIOND_MODEL_B_PRICE_OUT=1e-9")
		f.Add([]byte(src), "COMPANIOND_MODEL_MAIN_URL=http://a\nCOMPANIOND_MODULES_GRANT=")
	}
	f.Fuzz(func(t *testing.T, src []byte, env string) {
		c, problems := Parse("c.toml", src, strings.Split(env, "\n"))
		text := strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
		for _, p := range problems {
			if p.Message == "" || p.File == "" || p.Severity != Error && p.Severity != Warning {
				t.Fatalf("%+v", p)
			}
			if p.File == Environment {
				continue
			}
			if p.Line < 1 || p.Line > len(text) || p.Col < 1 || p.Col > len([]rune(text[p.Line-1]))+1 {
				t.Fatalf("no such place: %s", p)
			}
		}
		if Failed(problems) {
			if !sameConfig(c, Config{}) {
				t.Fatalf("handed out with errors: %+v", c)
			}
			return
		}
		if err := checkRanges(c); err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		again, problems := Parse("again.toml", printed.Bytes(), nil)
		if Failed(problems) || !sameConfig(again, c) {
			t.Fatalf("%s\n%s\ngot  %+v\nwant %+v", printed.Bytes(), lines(problems), again, c)
		}
	})
}
