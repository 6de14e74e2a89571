package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// TestGolden holds every line that is said about each file in testdata.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, problems := Parse("companiond.toml", src, nil)
			got := lines(problems)
			golden := strings.TrimSuffix(file, ".toml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestTenMistakes counts: one line for each mistake, each with its place, and
// at that place the words in fault.
func TestTenMistakes(t *testing.T) {
	src, err := os.ReadFile("testdata/ten.toml")
	if err != nil {
		t.Fatal(err)
	}
	config, problems := Parse("companiond.toml", src, nil)
	if len(problems) != 10 {
		t.Fatalf("%d problems:\n%s", len(problems), lines(problems))
	}
	if !sameConfig(config, Config{}) {
		t.Errorf("a config with errors was handed out: %+v", config)
	}
	at := []string{
		`"127.0.0.1:99999"`, `jornal]`, `"characters/.cache"`, `"3"`,
		`"64MB"`, `"feul"`, `"5 parsecs"`, `flor =`, `-1`, `"stage left"]`,
	}
	text := strings.Split(string(src), "\n")
	for i, p := range problems {
		if p.Line == 0 || p.Col == 0 || p.Severity != Error {
			t.Errorf("%s: no place, or %s", p, p.Severity)
			continue
		}
		if rest := string([]rune(text[p.Line-1])[p.Col-1:]); !strings.HasPrefix(rest, at[i]) {
			t.Errorf("%s: points at %q, want %q", p, rest, at[i])
		}
	}
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}
