package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShippedFile holds that companiond.toml at the top is the document, byte for
// byte. Run with -update after a change to the document.
func TestShippedFile(t *testing.T) {
	const shipped = "../../companiond.toml"
	if *update {
		if err := os.WriteFile(shipped, []byte(Document()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Document() {
		t.Error("companiond.toml is not host/config/companiond.toml; run go test ./host/config -update")
	}
}

func TestDocumentIsTheDefaults(t *testing.T) {
	if c := good(t, Document()); !sameConfig(c, defaults()) {
		t.Errorf("got %+v", c)
	}
}

// TestDocumentUncommented takes the # away from every key and header: the values
// written there are the defaults too, and each key is in its table.
func TestDocumentUncommented(t *testing.T) {
	src := regexp.MustCompile(`(?m)^#(\w+ = |\[)`).ReplaceAllString(Document(), "$1")
	// A key that has no default, because nobody's model is everybody's.
	src = strings.Replace(src, "\nmodel = \"\"\n", "\nmodel = \"m\"\n", 1)
	// Nor have the agents of a project.
	src = strings.Replace(src, "\nagents = []\n", "\nagents = [\"worker\", \"nikoni\"]\n", 1)
	want := defaults()
	want.Handlers = []Handler{{Name: "lamp", Module: "lamp", Companions: []string{Everyone}, Settings: json.RawMessage("{}"), Secrets: json.RawMessage("{}"), On: []string{}, Fail: "skip"}}
	want.Models = []Model{defaultModel("main", "m")}
	want.Companions = []Companion{{Name: "nikoni"}}
	want.Module = []Module{{Name: "nikoni", Grant: want.Modules.Grant, Hosts: []string{}}}
	want.Projects = []Project{{Name: "main", Agents: []string{"worker", "nikoni"}}}
	want.Agents = []Agent{{Name: "worker", Type: TypeAI, Title: "worker", Start: []string{}}}
	c := good(t, src)
	if !sameConfig(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	for _, cell := range c.cells() {
		if c.origins[cell.key().String()].line == 0 {
			t.Errorf("%s is not in the document", cell.key())
		}
	}
}

// TestDocumentOffersAModel holds that the file as it is shipped has no model,
// and that one is there once its header and its key "model" are.
func TestDocumentOffersAModel(t *testing.T) {
	text := Document()
	const head, key = "\n#[model.main]\n", "\n#model = \"\"\n"
	if strings.Count(text, head) != 1 || strings.Count(text, key) != 1 || strings.Contains(text, "\n[model") {
		t.Fatalf("the model is not offered:\n%s", text)
	}
	text = strings.Replace(text, head, "\n[model.main]\n", 1)
	if got, want := bad(t, text), ": model.main.model: must not be empty ("; !strings.Contains(got, want) || strings.Contains(got, "\n") {
		t.Errorf("the header alone: %s", got)
	}
	c := good(t, strings.Replace(text, key, "\nmodel = \"qwen3:8b\"\n", 1))
	if want := []Model{defaultModel("main", "qwen3:8b")}; !reflect.DeepEqual(c.Models, want) {
		t.Errorf("got %+v", c.Models)
	}
}

func TestDocumentReads(t *testing.T) {
	text := Document()
	for i, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > 80 || strings.TrimRight(line, " \t") != line {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	for _, k := range Keys() {
		words := strings.Join(strings.Fields(strings.ReplaceAll(text, "\n# ", " ")), " ")
		if want := k.Doc + " #" + k.Name[strings.LastIndexByte(k.Name, '.')+1:] + " = " + k.Default; !strings.Contains(words, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestPrint(t *testing.T) {
	c, problems := Parse("etc/companiond.toml", []byte("log.level = \"warn\"\n[door]\nhosts = [\n  \"aya.example\",\n]\n"+
		"[room.\"居間\"]\nseed = \"a\\tb\"\n[room.side]\npace = \"0s\"\n"+
		"[model.\"家.x\"]\nmodel = \"a\"\ntemperature = 1\n[model.b]\nmodel = \"b\"\nprice_in = 1e-7\n"),
		[]string{"COMPANIOND_MODEL_B_KEY=credential:b", "COMPANIOND_MODEL_B_PRICE_OUT=15.25", "COMPANIOND_ROOM_SIDE_PACE=60s", "COMPANIOND_WASM_FUEL=5", "COMPANIOND_ROOM_SIDE_FLOOR=90s"})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	var b bytes.Buffer
	if err := c.Print(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"[door]\nlisten = \"127.0.0.1:3000\"  # default\n",
		"\nhosts = [\"aya.example\"]    # etc/companiond.toml:3\n",
		"\nlevel = \"warn\"   # etc/companiond.toml:1\n",
		"\nfuel = 5               # environment COMPANIOND_WASM_FUEL\n",
		"\n\n[room.side]\n", "\n\n[room.\"居間\"]\n",
		"\npace = \"1m\"                                # environment COMPANIOND_ROOM_SIDE_PACE\n",
		"\nfloor = \"1m30s\"                            # environment COMPANIOND_ROOM_SIDE_FLOOR\n",
		"\nseed = \"side\"                              # default\n",
		"\nseed = \"a\\tb\"                              # etc/companiond.toml:7\n",
		"\n\n[model.b]\n", "\n\n[model.\"家.x\"]\n", "\n\n[log]\n",
		"\ntemperature = 1         # etc/companiond.toml:12\n",
		"\nprice_in = 0.0000001    # etc/companiond.toml:15\n",
		"\nprice_out = 15.25       # environment COMPANIOND_MODEL_B_PRICE_OUT\n",
		"\nkey = \"credential:b\"    # environment COMPANIOND_MODEL_B_KEY\n",
		"\ntimeout = \"1m\"          # default\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, got)
		}
	}
	if again := good(t, got); !sameConfig(again, c) {
		t.Errorf("printed and read again: %+v", again)
	}
}

// deaf refuses to be written to.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("deaf") }

func TestWriteErrors(t *testing.T) {
	if good(t, "").Print(deaf{}) == nil {
		t.Error("an error of the writer was lost")
	}
}
