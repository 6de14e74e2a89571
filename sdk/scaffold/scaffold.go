// Package scaffold writes the folder of a new character or handler: a small one that
// works, its test, and a copy of the SDK, so that the folder builds by itself
// and without the network. One in TypeScript has what an editor wants to know, and is not built; one in C, Rust or AssemblyScript is one file
// and what it is asked. One that is to be a program is built with the source of companiond instead, which lies on the
// same machine.
//
// It never touches a folder that is already there, and it builds nothing.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/js"
)

//go:embed template/*
var templates embed.FS

// Import paths in the house, replaced by those in the maker's module.
const (
	house    = "github.com/companiond/companiond"
	houseSDK = house + "/sdk/go"
	houseABI = house + "/abi"
	module   = "example.com/" // followed by the name
)

// Kind is what is made.
type Kind string

// A character, or a handler by what it does.
const (
	Character  Kind = "character"
	Act        Kind = "act"        // carries out actions that companions play
	Perception Kind = "perception" // looks at what companions are to perceive
	Line       Kind = "line"       // looks at what companions are to say
	Source     Kind = "source"     // has companions perceive something
)

// Handlers are the kinds of handlers.
func Handlers() []Kind { return []Kind{Act, Perception, Line, Source} }

// Folder is one to write.
type Folder struct {
	Name    string // a companion's or module's id, and the last element of a Go module's path
	Kind    Kind
	Program bool   // it is a program of its own, and not WebAssembly
	House   string // of a program: the folder of companiond's source; see [FindHouse]
	Lang    Lang   // of a character in WebAssembly, or [TypeScript], in which handlers are, too; "" is Go
}

// Write writes the folder dir/NAME and gives the files it wrote, as paths
// below dir. It refuses a folder that exists and a name that cannot be a
// companion's id or a Go module's; errors are [*abi.Error] for the latter.
func (f Folder) Write(dir string) ([]string, error) {
	if err := checkName(f.Name, f.Lang); err != nil {
		return nil, err
	}
	root := filepath.Join(dir, f.Name)
	files, err := f.contents(root)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, abi.Errorf(abi.CodeConflict, "%s is already there; nothing was written", root)
		}
		return nil, fmt.Errorf("make folder: %w", err)
	}
	var written []string
	for _, one := range files {
		at := filepath.Join(root, filepath.FromSlash(one.name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return written, fmt.Errorf("make folder: %w", err)
		}
		if err := os.WriteFile(at, one.data, 0o644); err != nil {
			return written, fmt.Errorf("write file: %w", err)
		}
		written = append(written, path.Join(f.Name, one.name))
	}
	return written, nil
}

// File is the name of the file that Build makes.
func (f Folder) File() string {
	if f.Program {
		return f.Name
	}
	return f.Name + ".wasm"
}

// Build is the line that makes the module, in its folder.
func (f Folder) Build() string {
	switch of, ok := tongues[f.Lang]; {
	case ok:
		return strings.ReplaceAll(of.build, "NAME", f.Name)
	case f.Program:
		return "go build -o " + f.Name + " ."
	}
	return "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o " + f.Name + ".wasm ."
}

// TOML is what has to stand in companiond.toml; empty for a character in WebAssembly, which needs nothing there.
func (f Folder) TOML() string {
	var b strings.Builder
	if sample := samples[f.Kind]; sample != "" {
		fmt.Fprintf(&b, "[handler.%s]\nsettings = %s\n", f.tomlName(), sample)
	}
	if f.Program || f.Kind == Source {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[module.%s]\n", f.tomlName())
	}
	if f.Program {
		fmt.Fprintf(&b, "program = %q\n", f.Name)
	}
	switch {
	case f.Kind == Source && f.Program:
		b.WriteString("grant = [\"perception.emit\"]\n")
	case f.Kind == Source:
		b.WriteString("grant = [\"perception.emit\", \"timer.set\"]\n")
	}
	return b.String()
}

// samples are settings of handlers.
var samples = map[Kind]string{
	Act:        `{ most = 100 }`,
	Perception: `{ words = ["buy now"] }`,
	Line:       `{ words = ["ヤス"] }`,
	Source:     `{ perception = "news", text = "hello", minutes = 10 }`,
}

// does says what handlers do, for people.
var does = map[Kind]string{
	Act:        "a companion plays its action, and it carries that out",
	Perception: "it is asked about what companions are to perceive, and lets it pass, changes or refuses it",
	Line:       "it is asked about what companions are to say, and lets it pass, changes or refuses it",
	Source:     "it has companions perceive something",
}

// tomlName is the name as a key: one with a dot is quoted.
func (f Folder) tomlName() string {
	if strings.Contains(f.Name, ".") {
		return `"` + f.Name + `"`
	}
	return f.Name
}

// file is one file to write, its name below the folder.
type file struct {
	name string
	data []byte
}

// script makes the files of a character or a handler in TypeScript.
func (w words) script() (files []file, err error) {
	from := map[string]string{"README.md": "script/README.md", "main.ts": "script/main.ts", "tsconfig.json": "script/tsconfig.json"}
	if w.Kind != Character {
		from["README.md"], from["main.ts"] = "script/handler.md", "script/"+string(w.Kind)+".ts"
	}
	files, err = w.own(from)
	return append(files, file{"companion.d.ts", js.Types}), err
}

// contents makes all files in memory, so that a fault leaves nothing behind.
func (f Folder) contents(root string) (files []file, err error) {
	of := words{Folder: f, Module: module + f.Name, Go: "1.26.0", Title: title(f.Name), Does: does[f.Kind], Talk: "companion/talk"}
	if f.Lang == TypeScript {
		return of.script()
	}
	if tongue, ok := tongues[f.Lang]; ok {
		return of.foreign(tongue)
	}
	if f.Program {
		if files, err = of.build(root); err != nil {
			return nil, err
		}
	} else if files, err = copies(of.Module); err != nil {
		return nil, err
	}
	own := map[string]string{"go.mod": "folder/go.mod", ".gitignore": "folder/gitignore"}
	from := "handler/"
	switch {
	case f.Kind == Character:
		from = "character/"
		own["main.go"], own["main_test.go"] = "character/main.go", "character/main_test.go"
	case f.Kind == Source && f.Program:
		own["main.go"], own["main_test.go"] = "handler/run.go", "handler/run_test.go"
	default:
		own["main.go"], own["main_test.go"] = "handler/"+string(f.Kind)+".go", "handler/"+string(f.Kind)+"_test.go"
	}
	own["README.md"] = from + "README.md"
	filled, err := of.own(own)
	files = append(files, filled...)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// own makes files of templates.
func (w words) own(from map[string]string) (files []file, err error) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		data, err := w.fill(from[name])
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data})
	}
	return files, nil
}

// words are what templates say of a folder.
type words struct {
	Folder
	Module, Go, Title, Does string
	Talk                    string   // where scripts are explained
	Origin                  string   // of what a program is built with
	Requires                []string // of go.mod, for a program
	Replace                 string   // the source of companiond, as go.mod has it
}

// fill makes a file of a template.
func (w words) fill(name string) ([]byte, error) {
	text, err := templates.ReadFile("template/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := template.New(name).Delims("<<", ">>").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, w); err != nil {
		return nil, fmt.Errorf("fill template: %w", err)
	}
	if w.Program {
		return b.Bytes(), nil
	}
	return []byte(rewrite(b.String(), w.Module)), nil
}

// copies are those of the SDK and of the words of the border.
func copies(mod string) (files []file, err error) {
	for _, part := range []struct {
		from embed.FS
		to   string
	}{{companion.Source, "companion"}, {abi.Source, "abi"}} {
		copied, err := sources(part.from, part.to, mod)
		if err != nil {
			return nil, err
		}
		files = append(files, copied...)
	}
	return files, nil
}

// sources copies Go files with their imports rewritten. Tests stay at home, and
// so does source.go, which is there only for this.
func sources(from embed.FS, to, mod string) (files []file, err error) {
	err = fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") || name == "source.go" {
			return err
		}
		b, err := from.ReadFile(name)
		if err != nil {
			return err
		}
		files = append(files, file{path.Join(to, name), []byte(rewrite(string(b), mod))})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the SDK: %w", err)
	}
	return files, nil
}

// rewrite points imports of the house into the maker's module.
func rewrite(text, mod string) string {
	return strings.NewReplacer(houseSDK, mod+"/companion", houseABI, mod+"/abi").Replace(text)
}

// title is the name people see: the first letter in upper case.
func title(name string) string {
	_, n := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:n]) + name[n:]
}
