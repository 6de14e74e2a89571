package config

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func document(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := Document(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestShippedFile holds that companiond.toml at the top is Document's, byte for
// byte. Run with -update after a change to the table.
func TestShippedFile(t *testing.T) {
	const shipped = "../../companiond.toml"
	if *update {
		if err := os.WriteFile(shipped, []byte(document(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != document(t) {
		t.Error("companiond.toml is not what Document writes; run go test ./host/config -update")
	}
}

func TestDocumentIsTheDefaults(t *testing.T) {
	if c := good(t, document(t)); !sameConfig(c, defaults()) {
		t.Errorf("got %+v", c)
	}
}

// TestDocumentUncommented takes the # away from every key: the values written
// there are the defaults too, and each key is in its table.
func TestDocumentUncommented(t *testing.T) {
	src := regexp.MustCompile(`(?m)^#(\w+ = )`).ReplaceAllString(document(t), "$1")
	c := good(t, src)
	if !sameConfig(c, defaults()) {
		t.Errorf("got %+v", c)
	}
	if got, want := len(c.origins), len(settings()); got != want {
		t.Errorf("%d keys in the file, %d in the table", got, want)
	}
}

func TestDocumentReads(t *testing.T) {
	text := document(t)
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
		"[room.\"居間\"]\nseed = \"a\\tb\"\n[room.side]\npace = \"0s\"\n"),
		[]string{"COMPANIOND_ROOM_SIDE_PACE=60s", "COMPANIOND_WASM_FUEL=5", "COMPANIOND_ROOM_SIDE_FLOOR=90s"})
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
		"\nfuel = 5            # environment COMPANIOND_WASM_FUEL\n",
		"\n\n[room.side]\n", "\n\n[room.\"居間\"]\n",
		"\npace = \"1m\"                                # environment COMPANIOND_ROOM_SIDE_PACE\n",
		"\nfloor = \"1m30s\"                            # environment COMPANIOND_ROOM_SIDE_FLOOR\n",
		"\nseed = \"side\"                              # default\n",
		"\nseed = \"a\\tb\"                              # etc/companiond.toml:7\n",
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
	if Document(deaf{}) == nil || good(t, "").Print(deaf{}) == nil {
		t.Error("an error of the writer was lost")
	}
}
