package wasm

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

const examples = "../../../sdk/examples"

// TestExamples builds the characters that makers without an SDK begin with, as their own
// comments and ABI.md say, and asks each what the vectors say.
func TestExamples(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(examples, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []struct {
		Op    string
		Data  json.RawMessage
		Reply map[string]any
		Error abi.Code
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		t.Fatal(err)
	}
	asc, _ := filepath.Abs(filepath.Join(examples, "assemblyscript/node_modules/.bin/asc"))
	for language, c := range map[string]struct {
		dir   string
		build []string
	}{
		"C":              {"c", []string{"clang", "--target=wasm32", "-Os", "-nostdlib", "-Wl,--no-entry", "pip.c"}},
		"Rust":           {"rust", []string{"rustc", "--target", "wasm32-unknown-unknown", "--edition", "2021", "-O", "-C", "strip=debuginfo", "--crate-type", "cdylib", "pip.rs"}},
		"AssemblyScript": {"assemblyscript", []string{asc, "pip.ts", "-O", "--exportStart", "_initialize"}},
		"WAT":            {"wat", []string{"wat2wasm", "pip.wat"}},
	} {
		t.Run(language, func(t *testing.T) {
			m := load(t, newTestEngine(t, nil), buildExample(t, c.dir, c.build))
			if d := m.Describe(); d.Name != "Pip" {
				t.Errorf("it describes itself as %+v", d)
			}
			for _, s := range steps {
				got, err := m.Call(t.Context(), abi.Request{Op: s.Op, ID: "x", Data: s.Data})
				if s.Error != "" || err != nil {
					if abi.CodeOf(err) != s.Error {
						t.Errorf("%s %s: %s, %v", s.Op, s.Data, got, err)
					}
					continue
				}
				want, _ := json.Marshal(s.Reply)
				var is map[string]any
				if err := json.Unmarshal(got, &is); err != nil {
					t.Fatal(err)
				}
				have, _ := json.Marshal(is)
				if string(have) != strings.Replace(string(want), "LANGUAGE", language, 1) {
					t.Errorf("%s %s: %s, want %s", s.Op, s.Data, have, want)
				}
			}
		})
	}
}

// buildExample builds one, or skips the test where its compiler is not installed.
func buildExample(t *testing.T, dir string, build []string) module.Source {
	t.Helper()
	tool, err := exec.LookPath(build[0])
	if debian := "/usr/bin/" + build[0]; err == nil && !filepath.IsAbs(build[0]) {
		if _, err := os.Stat(debian); err == nil {
			tool = debian // beside a rustup that knows this machine alone
		}
	}
	if err != nil {
		t.Skipf("%s is not installed", filepath.Base(build[0]))
	}
	out := filepath.Join(t.TempDir(), "pip.wasm")
	cmd := exec.Command(tool, append(build[1:], "-o", out)...)
	cmd.Dir = filepath.Join(examples, dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		if missing := strings.Contains(string(said), "wasm-ld") || strings.Contains(string(said), "may not be installed"); missing {
			t.Skipf("%s cannot build for WebAssembly here: %s", build[0], said)
		}
		t.Fatalf("%v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module.Source{ID: "pip", Name: "pip.wasm", Data: data, Generation: 1}
}
