//go:build unix

package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module/js/npm"
	"github.com/companiond/companiond/sdk/scaffold"

	"github.com/companiond/companiond/host/waittest"
)

// TestNewHandlers: what companiond new handler writes is loaded with the lines that it says, as WebAssembly, as a
// program and in TypeScript, and what acts is offered.
func TestNewHandlers(t *testing.T) {
	waittest.WithoutRaces(t)
	h := newHome(t)
	toml := handlerRoom
	folders := map[string]scaffold.Folder{
		"count": {Kind: scaffold.Act}, "counter": {Kind: scaffold.Act, Program: true},
		"senses": {Kind: scaffold.Perception}, "lines": {Kind: scaffold.Line},
		"ticks": {Kind: scaffold.Source}, "runs": {Kind: scaffold.Source, Program: true},
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	if npm.QuickJS() != nil {
		for _, kind := range scaffold.Handlers() {
			folders["ts-"+string(kind)] = scaffold.Folder{Kind: kind, Lang: scaffold.TypeScript}
		}
	}
	for name, f := range folders {
		f.Name, f.House = name, ".."
		toml += f.TOML()
		if f.Lang == scaffold.TypeScript {
			if _, err := f.Write(filepath.Join(h.dir, "plugins")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		dir := t.TempDir()
		if _, err := f.Write(dir); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", f.Build())
		cmd.Dir = filepath.Join(dir, name)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		install(t, filepath.Join(dir, name, f.File()), filepath.Join(h.dir, "plugins"), f.File())
	}
	var log logtest.Log
	h.log = log.Logger()
	h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
	h.open(toml)
	h.say("main", "taro", "good morning")
	h.until("all are loaded", func() bool {
		var list []web.Companion
		h.get("/v1/companions", &list)
		if refused := log.Warnings("refused"); len(refused) > 0 {
			t.Fatal(refused)
		}
		return len(list) == len(folders)+1
	})
	acting := []string{"count", "counter"}
	if npm.QuickJS() != nil {
		acting = append(acting, "ts-act")
	}
	for _, by := range acting {
		h.until(by, func() bool {
			return slices.ContainsFunc(h.entries("main"), func(e entry.Entry) bool {
				b, err := entry.Decode[entry.Offered](e)
				return e.Kind == entry.KindOffered && err == nil && b.By == by && b.Actions[0].Name == by+".count"
			})
		})
	}
	if wrong := log.String(); strings.Contains(wrong, "settings.") {
		t.Error(wrong)
	}
}
