package config

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// mistake is one way to get a line wrong, in any table.
type mistake struct {
	line string // with KEY for the name of a key
	said string
}

func mistakesFor(s setting) []mistake {
	all := []mistake{
		{"KEYy = 1", "unknown key"},
		{"KEY.x = 1", "a table"},
		{"'KEY\\' = []", "unknown key"},
		{"KEY = 12:30:00", "a date or time is "},
		{"KEY = [{}]", ""},
		{"KEY = { x = '}' } # {", "a table"},
	}
	switch k := s.kind.(type) {
	case table: // to which a table is none
		all = slices.DeleteFunc(all, func(m mistake) bool { return m.said == "a table" || m.said == "a table is " })
		all = append(all, mistake{"KEY = 'x'", "is not a table"}, mistake{"KEY = [1]", "a list is not a table"})
	case truth:
		all = append(all, mistake{"KEY = 'true'", "is not true or false"}, mistake{"KEY = 0", "is not true or false"})
	case number:
		all = append(all, mistake{"KEY = -2", "is outside"})
		if k.whole {
			all = append(all, mistake{"KEY = '1'", "is not a whole number"}, mistake{"KEY = 1e3", "is not a whole number"})
		} else {
			all = append(all, mistake{"KEY = nan", "NaN is outside"}, mistake{"KEY = '1'", "is not a number"}, mistake{"KEY = 1e7", "is outside"})
		}
	case span:
		all = append(all, mistake{"KEY = '5 parsecs'", "is not a duration"}, mistake{"KEY = \"-1s\"", "is outside"}, mistake{"KEY = 5", "is not a duration"})
	case size:
		all = append(all, mistake{"KEY = '64MB'", "is not a size"}, mistake{"KEY = -1", "is outside"}, mistake{"KEY = '9999GiB'", "is outside"})
	case choice:
		all = append(all, mistake{"KEY = 'that one'", "is unknown, have"}, mistake{"KEY = true", "is unknown, have"})
	case list:
		if !k.repeats {
			all = append(all, mistake{"KEY = ['a b']", ""})
		}
		all = append(all, mistake{"KEY = [7] # ['", "7 is not a text"}, mistake{"KEY = 'x'", "is not a list"})
	case text:
		all = append(all, mistake{"KEY = []", "a list is not a text"}, mistake{"KEY = 7", "7 is not a text"})
	}
	return all
}

// TestEveryMistake writes whole files with some lines got wrong, and counts:
// one problem for each such line, at that line, under that key.
func TestEveryMistake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file []string
		want := make(map[int]string) // line, from 1: what is said
		keys := make(map[int]string)
		table := func(s section, at dotted) {
			file = append(file, "", "["+at.String()+"] # here")
			for _, k := range s.keys {
				must := s.name == sectionModel && k.name == "model" || s.name == sectionProject
				if !must && !rapid.Bool().Draw(t, "write "+k.name) {
					continue
				}
				line := k.name + " = " + literal(k.kind, k.usual)
				switch {
				case s.name == sectionProject:
					line = k.name + " = ['r.0', 'r.1', 'r.2']"
				case must:
					line = k.name + " = 'm'"
				}
				if rapid.IntRange(0, 3).Draw(t, "wrong") == 0 {
					all := mistakesFor(k)
					m := all[rapid.IntRange(0, len(all)-1).Draw(t, "mistake")]
					line = strings.ReplaceAll(m.line, "KEY", k.name)
					want[len(file)+1], keys[len(file)+1] = m.said, at.String()+"."
				}
				file = append(file, line)
			}
		}
		projects := 0
		for _, s := range sections() {
			n := 1
			switch {
			case s.name == sectionAgent && projects == 0: // none could be in one
				n = 0
			case s.named:
				n = rapid.IntRange(0, 3).Draw(t, s.name+"s")
			}
			if s.name == sectionProject {
				projects = n
			}
			for i := range n {
				table(s, tableOf(s, fmt.Sprintf("r.%d", i)))
			}
		}
		_, problems := Parse("c.toml", []byte(strings.Join(file, "\n")), nil)
		if len(problems) != len(want) {
			t.Fatalf("%d problems for %d mistakes:\n%s\n%s", len(problems), len(want), strings.Join(file, "\n"), lines(problems))
		}
		for _, p := range problems {
			said, wrong := want[p.Line]
			if !wrong || !strings.Contains(p.Message, said) || !strings.HasPrefix(p.Key, keys[p.Line]) {
				t.Fatalf("%s\nat %q\nwant %q under %s", p, file[p.Line-1], said, keys[p.Line])
			}
			rest := []rune(file[p.Line-1])[p.Col-1:]
			if len(rest) == 0 || strings.ContainsRune(" \t=", rest[0]) {
				t.Fatalf("%s\npoints at %q", p, string(rest))
			}
		}
		if !slices.IsSortedFunc(problems, func(a, b Problem) int { return a.Line - b.Line }) {
			t.Fatalf("out of order:\n%s", lines(problems))
		}
	})
}

// TestPure holds the package to its word: nothing it imports can reach the
// disk, the network, the clock's wake-ups or the process.
func TestPure(t *testing.T) {
	allowed := []string{
		"bufio", "bytes", "cmp", "embed", "encoding/json", "errors", "fmt", "io", "maps", "math", "net/netip", "net/url", "path", "reflect", "regexp", "slices", "strconv", "strings", "sync",
		"text/tabwriter", "time", "unicode", "unicode/utf8",
		"github.com/BurntSushi/toml", "github.com/companiond/companiond/abi", "github.com/companiond/companiond/abi/plain",
		"github.com/companiond/companiond/host/address", "github.com/companiond/companiond/host/config", "github.com/companiond/companiond/host/config/form", "github.com/companiond/companiond/host/config/source",
		"github.com/companiond/companiond/host/entry", "github.com/companiond/companiond/host/spell", "github.com/companiond/companiond/host/turn",
	}
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// TestAtOnce runs Parse from many goroutines for the race detector: it shares
// nothing.
func TestAtOnce(t *testing.T) {
	want := bad(t, "[dor]\n[log]\nlevel = 1\n")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if _, problems := Parse("c", []byte("[dor]\n[log]\nlevel = 1\n"), nil); lines(problems) != want+"\n" {
					t.Errorf("got %s", lines(problems))
				}
			}
		})
	}
	group.Wait()
}
