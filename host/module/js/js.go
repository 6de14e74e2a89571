// Package js is the engine for modules that are text: NAME.js or NAME.ts, or a folder with main.js or main.ts and what it imports. Each instance is a
// QuickJS of its own, which is WebAssembly and runs in the engine for that, under the same bounds.
//
// A file's exports are the ops that it answers, functions that take and give what ABI.md says. It finds the globals host, kv,
// say and console (prelude.js), and nothing of a browser or of Node: no timers, no network but what is granted.
//
// The package runs nothing outside of WebAssembly, and keeps no state of a module across its instances; the engine of WebAssembly
// does, of one that sleeps.
package js

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/drive"
	sdkjs "github.com/companiond/companiond/sdk/js"
)

// Interpreter gives a file of QuickJS as the engine of WebAssembly takes it, nil of nil.
func Interpreter(image []byte) *drive.Interpreter {
	if image == nil {
		return nil
	}
	return &drive.Interpreter{Name: name, Image: image, Imports: imports(), Globals: []string{"__stack_pointer"}}
}

// Engine loads JavaScript and TypeScript. The zero value takes files, and loads none: it stands for a build without them.
type Engine struct {
	guests   *wasm.Engine
	sucrase  fs.FS
	stripper stripper
}

var (
	_ module.Engine       = (*Engine)(nil)
	_ module.FolderEngine = (*Engine)(nil)
	_ module.Yielder      = (*Engine)(nil)
)

// New makes an engine on one that has an Interpreter, and that closes its modules. sucrase is that package's modules; with nil
// it loads no TypeScript.
func New(guests *wasm.Engine, sucrase fs.FS) *Engine {
	return &Engine{guests: guests, sucrase: sucrase}
}

// Name is "js".
func (e *Engine) Name() string { return name }

const name = "js"

// Yields implements [module.Yielder]: AssemblyScript is written in files of TypeScript, too, and programs are made of JavaScript.
func (e *Engine) Yields(to string) bool { return to == "wasm" || to == "process" }

// extensions are those of files that are loaded. Files of types alone are for editors.
var extensions = []string{".js", ".ts"}

const typesOnly = ".d.ts"

// Match takes what ends in ".js" or ".ts", but no files of types alone.
func (e *Engine) Match(file string) (name string, ok bool) {
	if strings.HasSuffix(file, typesOnly) {
		return "", false
	}
	for _, ext := range extensions {
		if name, ok := strings.CutSuffix(file, ext); ok {
			return name, true
		}
	}
	return "", false
}

// MatchFolder takes a folder with a main.js or a main.ts.
func (e *Engine) MatchFolder(files []string) bool { return mainOf(files) != "" }

// mainOf gives the file that a folder is run by.
func mainOf(files []string) string {
	for _, ext := range extensions {
		if slices.Contains(files, "main"+ext) {
			return "main" + ext
		}
	}
	return ""
}

// Load makes a module of a file or a folder.
//
// # Errors
//
// As [wasm.Engine.Load]; CodeInvalid names the file and the place of what is wrong with it.
func (e *Engine) Load(ctx context.Context, s module.Source) (module.Module, error) {
	if e.guests == nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "this companiond was built without JavaScript: make build builds it with it, where npm is installed, and every release has it")
	}
	script := script{id: s.ID, main: s.Name, files: map[string]string{helpersFile: sdkjs.Helpers}, limit: e.guests.MemoryLimit()}
	files := map[string][]byte{s.Name: s.Data}
	if s.Siblings != nil {
		files = map[string][]byte{}
		for name, b := range s.Siblings {
			files[path.Join(s.ID, name)] = b
		}
		script.main = path.Join(s.ID, mainOf(slices.Collect(maps.Keys(s.Siblings))))
	}
	for name, b := range files {
		text, err := e.read(ctx, name, b)
		if err != nil {
			return nil, err
		}
		script.files[name] = text
	}
	if strings.TrimSpace(string(files[script.main])) == "" {
		return nil, abi.Errorf(abi.CodeInvalid, "%s is empty: not yet written?", script.main)
	}
	return e.guests.Interpret(ctx, s, func() drive.Driver { return &vm{script: script} })
}

// read gives a file as JavaScript, "" of one that is none.
func (e *Engine) read(ctx context.Context, name string, b []byte) (string, error) {
	if _, ok := e.Match(name); !ok {
		return "", nil
	}
	if !utf8.Valid(b) {
		return "", abi.Errorf(abi.CodeInvalid, "%s is no UTF-8", name)
	}
	if path.Ext(name) != ".ts" {
		return string(b), nil
	}
	return e.strip(ctx, name, string(b))
}
