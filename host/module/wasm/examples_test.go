package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/sdk/scaffold"
)

const examples = "../../../sdk/examples"

// TestExamples builds the characters that makers without an SDK begin with, as their own
// comments and ABI.md say, and asks each what the vectors say.
func TestExamples(t *testing.T) {
	steps := moduletest.Vectors(t, filepath.Join(examples, "vectors.json"))
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
			moduletest.Asks(t, m, steps, language)
		})
	}
}

// TestNewCharacters builds what companiond new writes in languages without an SDK, by the line that it prints, and asks that, too.
func TestNewCharacters(t *testing.T) {
	steps := moduletest.Vectors(t, filepath.Join(examples, "vectors.json"))
	packages, err := filepath.Abs(filepath.Join(examples, "assemblyscript/node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	for language, lang := range map[string]scaffold.Lang{"C": scaffold.C, "Rust": scaffold.Rust, "AssemblyScript": scaffold.AssemblyScript} {
		t.Run(language, func(t *testing.T) {
			f, dir := scaffold.Folder{Name: "pip", Kind: scaffold.Character, Lang: lang}, t.TempDir()
			if _, err := f.Write(dir); err != nil {
				t.Fatal(err)
			}
			line := f.Build()
			if rest, ok := strings.CutPrefix(line, "npm install && "); ok { // without a network
				line = rest
				if _, err := os.Stat(packages); err != nil {
					t.Skipf("AssemblyScript is not installed: %v", err)
				}
				if err := os.Symlink(packages, filepath.Join(dir, "pip", "node_modules")); err != nil {
					t.Fatal(err)
				}
			}
			build(t, filepath.Join(dir, "pip"), strings.Fields(line))
			data, err := os.ReadFile(filepath.Join(dir, "pip", f.File()))
			if err != nil {
				t.Fatal(err)
			}
			moduletest.Asks(t, load(t, newTestEngine(t, nil), module.Source{ID: "pip", Name: f.File(), Data: data, Generation: 1}), steps, language)
		})
	}
}

// buildExample builds one, or skips the test where its compiler is not installed.
func buildExample(t *testing.T, dir string, line []string) module.Source {
	t.Helper()
	out := filepath.Join(t.TempDir(), "pip.wasm")
	build(t, filepath.Join(examples, dir), append(line, "-o", out))
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module.Source{ID: "pip", Name: "pip.wasm", Data: data, Generation: 1}
}

// build runs a compiler in a folder, or skips the test where it is not installed.
func build(t *testing.T, dir string, build []string) {
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
	cmd := exec.Command(tool, build[1:]...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		if missing := strings.Contains(string(said), "wasm-ld") || strings.Contains(string(said), "may not be installed"); missing {
			t.Skipf("%s cannot build for WebAssembly here: %s", build[0], said)
		}
		t.Fatalf("%v: %s", err, said)
	}
}
