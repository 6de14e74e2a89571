package scaffold

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// all are the folders that can be made.
func all() (list []Folder) {
	for _, k := range append(Handlers(), Character) {
		list = append(list, Folder{Name: "momo", Kind: k}, Folder{Name: "momo", Kind: k, Program: true, House: "../.."})
	}
	return list
}

func (f Folder) String() string {
	if f.Program {
		return string(f.Kind) + "-program"
	}
	return string(f.Kind)
}

// The folder is complete by itself: it has no test of ours, no import of ours but of a program's,
// and it builds, passes its test and becomes a module with the network off.
func TestFolders(t *testing.T) {
	for _, f := range all() {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			written, err := f.Write(dir)
			if err != nil {
				t.Fatal(err)
			}
			wants := []string{"momo/main.go", "momo/main_test.go", "momo/go.mod", "momo/README.md", "momo/.gitignore"}
			if f.Program {
				wants = append(wants, "momo/go.sum")
			} else {
				wants = append(wants, "momo/companion/guest_wasip1.go", "momo/companion/talk/doc.go", "momo/abi/abi.go")
			}
			for _, want := range wants {
				if !slices.Contains(written, want) {
					t.Errorf("%s is missing in %v", want, written)
				}
			}
			if f.Program && len(written) != len(wants) {
				t.Errorf("a program needs no copy: %v", written)
			}
			for _, name := range written {
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				text := string(b)
				if name != "momo/main_test.go" && strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/source.go") {
					t.Errorf("%s was copied", name)
				}
				if !f.Program && strings.Contains(text, "github.com/companiond") || strings.Contains(text, "<<") && strings.Count(name, "/") == 1 || strings.Contains(text, "TITLE") {
					t.Errorf("%s has a word of the template or the house", name)
				}
				if tidy, err := format.Source(b); strings.HasSuffix(name, ".go") && (err != nil || string(tidy) != text) {
					t.Errorf("%s is not as gofmt has it: %v", name, err)
				}
			}
			f.builds(t, filepath.Join(dir, "momo"))
		})
	}
}

// TestForeign: a character in a language without an SDK is the one of sdk/examples under its own name, with what it is asked; its README says
// how it is built. That it can be is for host/module/wasm to test.
func TestForeign(t *testing.T) {
	for lang, example := range map[Lang]string{C: "c/pip.c", Rust: "rust/pip.rs", AssemblyScript: "assemblyscript/pip.ts"} {
		dir := t.TempDir()
		f := Folder{Name: "pip", Kind: Character, Lang: lang}
		if _, err := f.Write(dir); err != nil {
			t.Fatal(err)
		}
		read := func(name string) string {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			return string(b)
		}
		at := filepath.Join(dir, "pip")
		if got := read(filepath.Join(at, f.Tongue().Main)); got == "" || got != read("../examples/"+example) {
			t.Errorf("%s is not the example:\n%s", f.Tongue().Main, got)
		}
		if readme := read(filepath.Join(at, "README.md")); !strings.Contains(readme, "\n    "+f.Build()+"\n") || strings.Count(readme, "\n") > 12 || strings.Contains(readme, "<<") {
			t.Errorf("%s:\n%s", lang, readme)
		}
		if read(filepath.Join(at, "ABI.md")) != read("../../abi/ABI.md") || !strings.Contains(read(filepath.Join(at, ".gitignore")), "*.wasm") {
			t.Errorf("%s: what is asked is not said", lang)
		}
		if _, err := f.Write(dir); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("%s: %v", lang, err)
		}
	}
}

// builds holds a folder to what it promises.
func (f Folder) builds(t *testing.T, root string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds are slow")
	}
	run(t, root, nil, "test", "-vet=all", ".")
	env, args := f.command(t)
	run(t, root, env, args...)
	info, err := os.Stat(filepath.Join(root, f.File()))
	if f.Program {
		if err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%v %v", info, err)
		}
		return
	}
	b, err := os.ReadFile(filepath.Join(root, f.File()))
	if err != nil || !strings.HasPrefix(string(b), "\x00asm") || !strings.Contains(string(b), abi.Export) {
		t.Errorf("%s: %d bytes, %v", f.File(), len(b), err)
	}
}

// command is the line that Build gives, as a shell would run it.
func (f Folder) command(t *testing.T) (env, args []string) {
	words := strings.Fields(f.Build())
	for strings.Contains(words[0], "=") {
		env, words = append(env, words[0]), words[1:]
	}
	if words[0] != "go" {
		t.Fatal(f.Build())
	}
	return env, words[1:]
}

// run runs go. With -trimpath what is the same in all folders is compiled once.
func run(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS=-mod=readonly -trimpath", "GOPROXY=off", "GOWORK=off")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// A program in a folder of companiond's source finds it by ".."; elsewhere by the whole path. Without it nothing is written.
func TestProgramFindsTheHouse(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	house := filepath.Join(base, "the house")
	for _, dir := range []string{filepath.Join(house, "plugins"), filepath.Join(base, "elsewhere")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := Folder{Name: "momo", Kind: Act, Program: true}
	refuses := func(want string) {
		t.Helper()
		if _, err := f.Write(filepath.Join(base, "elsewhere")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if left, _ := os.ReadDir(filepath.Join(base, "elsewhere")); len(left) != 0 {
			t.Errorf("something was written: %v", left)
		}
	}
	refuses("no folder was given")
	f.House = house
	refuses("is no source of companiond")
	mod := "module github.com/companiond/companiond\r\n\r\ngo 1.27.1\r\n\r\nrequire example.com/a v1.2.3 // why\r\n\r\nrequire (\r\n\texample.com/b/v2 v2.0.0 // indirect\r\n)\r\n"
	if err := os.WriteFile(filepath.Join(house, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("go.sum")
	if err := os.WriteFile(filepath.Join(house, "go.sum"), []byte("sums\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, replace := range map[string]string{filepath.Join(house, "plugins"): "../..", filepath.Join(base, "elsewhere"): `"` + house + `"`} {
		if _, err := f.Write(dir); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "momo/go.mod"))
		want := "module example.com/momo\n\ngo 1.27.1\n\nrequire (\n\tgithub.com/companiond/companiond v0.0.0\n\texample.com/a v1.2.3 // indirect\n\texample.com/b/v2 v2.0.0 // indirect\n)\n\n" +
			"replace github.com/companiond/companiond => " + replace + "\n"
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	if got := FindHouse(filepath.Join(base, "elsewhere"), filepath.Join(house, "plugins", "momo")); got != house {
		t.Errorf("found %q", got)
	}
	if got := FindHouse(base); got != "" {
		t.Errorf("found %q", got)
	}
}

// What a maker has to write into companiond.toml.
func TestTOML(t *testing.T) {
	for want, f := range map[string]Folder{
		"":                                    {Name: "momo", Kind: Character},
		"[module.momo]\nprogram = \"momo\"\n": {Name: "momo", Kind: Character, Program: true},
		"[handler.momo]\nsettings = { most = 100 }\n":                                                                                                                {Name: "momo", Kind: Act},
		"[handler.\"mo.mo\"]\nsettings = { most = 100 }\n\n[module.\"mo.mo\"]\nprogram = \"mo.mo\"\n":                                                                {Name: "mo.mo", Kind: Act, Program: true},
		"[handler.momo]\nsettings = { perception = \"news\", text = \"hello\", minutes = 10 }\n\n[module.momo]\ngrant = [\"perception.emit\", \"timer.set\"]\n":      {Name: "momo", Kind: Source},
		"[handler.momo]\nsettings = { perception = \"news\", text = \"hello\", minutes = 10 }\n\n[module.momo]\nprogram = \"momo\"\ngrant = [\"perception.emit\"]\n": {Name: "momo", Kind: Source, Program: true},
	} {
		if got := f.TOML(); got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", f, got, want)
		}
	}
}

// A folder that is there stays as it is.
func TestExisting(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "momo"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range all() {
		if _, err := f.Write(dir); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("%s: %v", f, err)
		}
		if _, err := f.Write(filepath.Join(dir, "nowhere")); err == nil {
			t.Errorf("%s: a folder in no folder", f)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "momo"))
	if err != nil || len(left) != 0 {
		t.Errorf("written into it: %v, %v", left, err)
	}
}

// Bad names are refused with a way out, and nothing is written.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"": "empty", "../up": "may not contain", "a/b": "may not contain", "with space": "may not contain", "-x": "may not contain", ".hidden": "may not contain",
		"もも": `try "momo"`, "キョウコ": `try "kyouko"`, "桃": "Latin letters", "しゅっぱ": `try "shuppa"`, "nikoニ": "Latin letters",
		"vendor": "choose another", "ABI": "choose another", "momo.": "dot", strings.Repeat("m", 65): "at most",
	} {
		for _, k := range []Kind{Character, Act} {
			if _, err := (Folder{Name: name, Kind: k}).Write(dir); abi.CodeOf(err) == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", name, err, want)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("something was written: %v", left)
	}
	if _, err := (Folder{Name: "ミオ", Kind: Character, Lang: TypeScript}).Write(dir); err != nil { // it is no Go module
		t.Error(err)
	} else if main, err := os.ReadFile(filepath.Join(dir, "ミオ", "main.ts")); err != nil || !strings.Contains(string(main), `"ミオ"`) {
		t.Errorf("%v: %s", err, main)
	}
	if _, err := (Folder{Name: "../up", Kind: Character, Lang: TypeScript}).Write(dir); err == nil {
		t.Error("a name that is none was written")
	}
}

// TestTypeScript: a folder in TypeScript is four files, the README of which is short, and editors know as much of the language as
// what runs it: host/module/js has it from ECMAScript 2025, and tsc calls that esnext in whatever version it is.
func TestTypeScript(t *testing.T) {
	for _, kind := range append(Handlers(), Character) {
		dir := t.TempDir()
		written, err := Folder{Name: "momo", Kind: kind, Lang: TypeScript}.Write(dir)
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(written)), []string{"momo/README.md", "momo/companion.d.ts", "momo/main.ts", "momo/tsconfig.json"}) {
			t.Fatalf("%s: %v, %v", kind, written, err)
		}
		for _, name := range written {
			b, err := os.ReadFile(filepath.Join(dir, name))
			text := string(b)
			if err != nil || strings.Contains(text, "<<") || text == "" {
				t.Errorf("%s: %s: %v\n%s", kind, name, err, text)
			}
			if strings.HasSuffix(name, "README.md") && strings.Count(text, "\n") > 20 {
				t.Errorf("%s: the README has %d lines", kind, strings.Count(text, "\n"))
			}
			if strings.HasSuffix(name, "tsconfig.json") && !strings.Contains(text, `"lib": ["esnext"]`) {
				t.Error(text)
			}
		}
	}
}
