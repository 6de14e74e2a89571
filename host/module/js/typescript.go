package js

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/drive"
)

//go:embed strip.js
var stripSource string

// absent stands for what sucrase imports and does not need for this: maps of sources, and checks of its own options.
var absent = map[string]string{
	"@jridgewell/gen-mapping": "export const GenMapping = null, maybeAddSegment = null, toEncodedMap = null",
	"lines-and-columns":       "export default null",
	"ts-interface-checker": "const any = () => ({}); export { any as array, any as iface, any as lit, any as opt, any as union };\n" +
		"export const createCheckers = () => ({ Options: { strictCheck() {} } })",
}

// stripper takes the types out of TypeScript: sucrase, in an instance of QuickJS that is there while it is used.
type stripper struct {
	mu     sync.Mutex
	loaded module.Module
}

// strip gives a file of TypeScript as JavaScript. Lines stay where they are.
//
// # Errors
//
// CodeInvalid names the file and the place where it is no TypeScript, or says that it is too much for it; CodeTimeout that ctx ended
// first; others are of the engine.
func (e *Engine) strip(ctx context.Context, file, text string) (string, error) {
	m, err := e.stripper.get(ctx, e)
	if err != nil {
		return "", unread(ctx, file, err)
	}
	data, err := json.Marshal(struct {
		Text string `json:"text"`
	}{text})
	if err != nil {
		return "", err
	}
	reply, err := m.Call(ctx, abi.Request{Op: abi.OpEvent, ID: "strip-" + file, Data: data})
	if err != nil {
		return "", unread(ctx, file, err)
	}
	var out struct {
		Code, Wrong  string
		Line, Column int
	}
	if err := json.Unmarshal(reply, &out); err != nil {
		return "", err
	}
	if out.Wrong != "" && out.Line == 0 {
		return "", abi.Errorf(abi.CodeInvalid, "%s cannot be read as TypeScript: %s", file, out.Wrong)
	}
	if out.Wrong != "" {
		return "", abi.Errorf(abi.CodeInvalid, "SyntaxError: %s (%s:%d:%d)", out.Wrong, file, out.Line, out.Column)
	}
	return out.Code, nil
}

// unread is why a file was not read.
func unread(ctx context.Context, file string, err error) error {
	var fault *module.Fault
	is := errors.As(err, &fault)
	switch {
	case ctx.Err() != nil || is && fault.Kind == module.FaultTimeout:
		return abi.Errorf(abi.CodeTimeout, "there was no time to read %s as TypeScript: %w", file, err)
	case is:
		return abi.Errorf(abi.CodeInvalid, "%s is too much to be read as TypeScript: %w", file, err)
	}
	return fmt.Errorf("read TypeScript: %s: %w", file, err)
}

// get gives the module that does it, which is loaded once.
func (s *stripper) get(ctx context.Context, e *Engine) (module.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded != nil {
		return s.loaded, nil
	}
	script := script{id: "typescript", main: "strip.js", files: map[string]string{"strip.js": stripSource}, limit: e.guests.MemoryLimit(), resolve: resolveSucrase}
	for name, text := range absent {
		script.files[name] = text
	}
	err := fs.WalkDir(e.sucrase, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" {
			return err
		}
		b, err := fs.ReadFile(e.sucrase, name)
		script.files[name] = string(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.loaded, err = e.guests.Interpret(ctx, module.Source{ID: script.id, Name: script.main, Generation: 1}, func() drive.Driver { return &vm{script: script} })
	return s.loaded, err
}

// resolveSucrase finds what one of sucrase's files imports, as bundlers do: without its extension, or a folder's index.
func resolveSucrase(files map[string]string, base, name string) string {
	if _, ok := absent[name]; ok || !strings.HasPrefix(name, ".") {
		return name
	}
	at := path.Join(path.Dir(base), name)
	for _, file := range []string{at + ".js", path.Join(at, "index.js")} {
		if _, ok := files[file]; ok {
			return file
		}
	}
	return at
}
