package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

var update = flag.Bool("update", false, "write testdata/refused.txt anew")

// suiteEnv may name the tests folder of a checkout of the JSON Schema Test Suite.
// Otherwise the cases are read that come with the module google/jsonschema-go, which
// the MCP door needs and go.sum pins: the required ones of February 2025, less those
// of content, format and vocabulary.
const suiteEnv = "COMPANIOND_SCHEMA_SUITE"

type group struct {
	name        string
	draft       draft
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// suite reads the required cases of both drafts.
func suite(t *testing.T) []group {
	t.Helper()
	dir := os.Getenv(suiteEnv)
	if dir == "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
		if err != nil {
			t.Fatalf("where is the module with the suite: %v", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	}
	var all []group
	for folder, d := range map[string]draft{"draft2020-12": draft2020, "draft7": draft7} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
		if err != nil || len(files) < 36 {
			t.Fatalf("%s: %d files of %s, %v", dir, len(files), folder, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var groups []group
			if err := json.Unmarshal(data, &groups); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				g.name, g.draft = folder+"/"+filepath.Base(file)+": "+g.Description, d
				all = append(all, g)
			}
		}
	}
	slices.SortFunc(all, func(a, b group) int { return strings.Compare(a.name, b.name) })
	return all
}

// source gives a group's schema with the draft in it that its folder says.
func (g group) source() []byte {
	var named struct {
		Version string `json:"$schema"`
	}
	if json.Unmarshal(g.Schema, &named); g.draft == draft7 && named.Version == "" && g.Schema[0] == '{' {
		rest := bytes.TrimSpace(g.Schema[1:])
		comma := ","
		if rest[0] == '}' {
			comma = ""
		}
		return slices.Concat([]byte(`{"$schema": "http://json-schema.org/draft-07/schema#"`+comma), rest)
	}
	return g.Schema
}

// compiled gives a group's schema, or why it is refused.
func (g group) compiled(t *testing.T) (*Schema, tree.Faults) {
	t.Helper()
	var why tree.Faults
	n := tree.Read(g.source(), "schema", &why)
	if n == nil || len(why) > 0 {
		t.Fatalf("%s: %v", g.name, why)
	}
	s := new(Compiler).Compile(n, "schema", &why)
	if (s == nil) != (len(why) > 0) {
		t.Fatalf("%s: %v %v", g.name, s, why)
	}
	return s, why
}

// TestSuite holds every required case of the suite: it is judged as the suite
// does, or its schema is refused, and that stands in testdata/refused.txt. What is
// refused of a value is said of a place in the value, and in words that are ours.
func TestSuite(t *testing.T) {
	var refused []string
	cases, vague := 0, 0
	for _, g := range suite(t) {
		s, why := g.compiled(t)
		if s == nil {
			refused = append(refused, fmt.Sprintf("%s\n\t%s: %s", g.name, why[0].Path, why[0].Text))
			continue
		}
		for _, c := range g.Tests {
			cases++
			var none tree.Faults
			n := tree.Read(c.Data, "value", &none)
			if n == nil || len(none) > 0 {
				t.Fatalf("%s: %s: %v", g.name, c.Description, none)
			}
			why, code := s.Check(n, "value")
			if (len(why) == 0) != c.Valid || (code == abi.CodeInvalid) == c.Valid {
				t.Errorf("%s: %s: valid: %v, got %q %v\n%s\n%s", g.name, c.Description, c.Valid, code, why, g.Schema, c.Data)
			}
			for _, f := range why {
				if !strings.HasPrefix(f.Path, "value") || f.Text == "" {
					t.Errorf("%s: %s: %+v", g.name, c.Description, f)
				}
				if strings.Contains(f.Text, "as a whole") {
					vague++
					if !bytes.Contains(g.Schema, []byte("unevaluated")) {
						t.Errorf("%s: %s: unexplained: %+v", g.name, c.Description, f)
					}
				}
			}
		}
	}
	t.Logf("%d cases judged, %d groups refused, %d refusals without an explanation", cases, len(refused), vague)
	if os.Getenv(suiteEnv) == "" {
		compare(t, "testdata/refused.txt", strings.Join(refused, "\n")+"\n")
	}
}

// compare holds that a file has what it should have, or writes it.
func compare(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) == want {
		return
	}
	old, now := strings.SplitAfter(string(have), "\n"), strings.SplitAfter(want, "\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			t.Errorf("%s is stale: %s", file, line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			t.Errorf("%s lacks: %s", file, line)
		}
	}
	t.Errorf("%s is not what is refused; -update writes it", file)
}
