//go:build unix

package check

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/wasm"
)

var engines = []module.Engine{&wasm.Engine{}, &prompt.Engine{}}

// house is a folder with folders of characters and of handlers.
type house struct {
	t   *testing.T
	dir string
}

func newHouse(t *testing.T, files ...string) house {
	t.Helper()
	h := house{t, t.TempDir()}
	for _, f := range append(files, "characters/.keep") {
		h.write(f, 0o755)
	}
	return h
}

// write saves a file with some bytes.
func (h house) write(file string, mode os.FileMode) {
	h.t.Helper()
	at := filepath.Join(h.dir, file)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("x"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chmod(at, mode); err != nil {
		h.t.Fatal(err)
	}
}

// parse reads a configuration, whose first three lines say where the folders are.
func (h house) parse(toml string) config.Config {
	h.t.Helper()
	c, problems := config.Parse("c.toml", fmt.Appendf(nil, "[modules]\ncharacters = %q\nplugins = %q\n%s", filepath.Join(h.dir, "characters"), filepath.Join(h.dir, "plugins"), toml), nil)
	if len(problems) > 0 {
		h.t.Fatal(problems)
	}
	return c
}

// lines writes problems one a line, without the house's folder.
func (h house) lines(problems []config.Problem) string {
	h.t.Helper()
	var b strings.Builder
	for _, p := range problems {
		if p.Severity != config.Warning {
			h.t.Errorf("%s is no warning", p)
		}
		b.WriteString(strings.ReplaceAll(p.String(), h.dir+"/", "") + "\n")
	}
	return b.String()
}

// TestHandlers: a handler without a module, and one for somebody who is not there, are told of with their place.
func TestHandlers(t *testing.T) {
	h := newHouse(t, "characters/aya.wasm", "characters/lost.wasm", "plugins/lamp.wasm", "plugins/obs", "plugins/whole/main.wasm")
	for toml, want := range map[string]string{
		"":                                    "",
		"[handler.lamp]\n":                    "",
		"[handler.whole]\n":                   "",
		"[handler.desk]\nmodule = \"lamp\"\n": "",
		"[handler.lamp]\ncompanions = [\"aya\"]\n[module.lamp]\ngrant = [\"timer.set\"]\n": "",
		"[handler.obs]\n[module.obs]\nprogram = \"obs\"\n":                                 "",
		"[handler.clock]\n":                   `c.toml:4:10: handler.clock.module: "clock" has no file in "plugins" (make plugins makes those of companiond, and companiond new handler NAME one of your own)` + "\n",
		"[handler.desk]\nmodule = \"lmap\"\n": `c.toml:5:10: handler.desk.module: "lmap" has no file in "plugins" (did you mean "lamp"?)` + "\n",
		"[handler.obs]\n":                     `c.toml:4:10: handler.obs.module: "obs" has no file in "plugins" (a program of that name is there, which is run with [module.obs] program = "obs")` + "\n",
		"[handler.lost]\n":                    `c.toml:4:10: handler.lost.module: "lost" has no file in "plugins" (it has one in "characters", where only characters can be: move it)` + "\n",
		"[handler.z]\n[handler.a]\n": `c.toml:4:10: handler.z.module: "z" has no file in "plugins" (make plugins makes those of companiond, and companiond new handler NAME one of your own)` + "\n" +
			`c.toml:5:10: handler.a.module: "a" has no file in "plugins" (make plugins makes those of companiond, and companiond new handler NAME one of your own)` + "\n",
		"[handler.lamp]\ncompanions = [\"ayo\"]\n":                                                                           `c.toml:5:14: handler.lamp.companions: "ayo" has no file in "characters" (did you mean "aya"?)` + "\n",
		"[handler.lamp]\ncompanions = [\"lamp\"]\n":                                                                          `c.toml:5:14: handler.lamp.companions: "lamp" has no file in "characters"` + "\n",
		"[handler.lamp]\n[room.main]\ncompanions = [\"lamp\"]\n":                                                             `c.toml:6:14: room.main.companions: "lamp" has no file in "characters"` + "\n",
		"[handler.obs]\ncompanions = [\"obs\", \"eve\"]\n[module.obs]\nprogram = \"obs\"\n[module.eve]\nprogram = \"eve\"\n": `c.toml:5:14: handler.obs.companions: "obs" has no file in "characters"` + "\n",
		"[module.lamp]\ngrant = []\n":                                                                                        `c.toml:5:9: module.lamp.grant: "lamp" has no file in "characters"` + "\n",
	} {
		if got := h.lines(Folders(h.parse(toml), engines)); got != want {
			t.Errorf("%s\nsays %swant %s", toml, got, want)
		}
	}
}

// TestHandlersWithoutFolders: handlers are looked at where one of the folders is not there, or none.
func TestHandlersWithoutFolders(t *testing.T) {
	h := newHouse(t)
	c := h.parse("[handler.lamp]\n")
	const none = `c.toml:4:10: handler.lamp.module: "lamp" has no file in "plugins"`
	if got := h.lines(Folders(c, engines)); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, none) {
		t.Error(got)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "characters")); err != nil {
		t.Fatal(err)
	}
	if got := h.lines(Folders(c, engines)); strings.Count(got, "\n") != 2 || !strings.Contains(got, "\n"+none) || !strings.Contains(got, `"characters" is not there`) {
		t.Error(got)
	}
	h.write("plugins", 0o644) // which is no folder
	if got := h.lines(Folders(c, engines)); !strings.Contains(got, `c.toml:3:11: modules.plugins: "plugins" cannot be read: `) || strings.Contains(got, none) {
		t.Error(got)
	}
	if got := Folders(h.parse(""), engines); len(got) != 1 {
		t.Errorf("nobody asked for handlers: %v", got)
	}
}

// TestPrograms: one that cannot be run as it is, is told of with its place.
func TestPrograms(t *testing.T) {
	h := newHouse(t, "plugins/obs", "plugins/folder/x")
	h.write("plugins/plain", 0o644)
	h.write("plugins/open", 0o757)
	is, other := fmt.Sprintf("%x", sha256.Sum256([]byte("x"))), strings.Repeat("ab", 32)
	for toml, want := range map[string]string{
		"program = \"obs\"\n": "",
		"program = \"obs\"\nchecksum = \"" + strings.ToUpper(is) + "\"\n": "",
		"program = \"none\"\n":   `c.toml:5:11: module.m.program: "plugins/none" is not there`,
		"program = \"folder\"\n": `c.toml:5:11: module.m.program: "plugins/folder" is no file`,
		"program = \"plain\"\n":  `c.toml:5:11: module.m.program: the file is not executable, so it is not run: chmod +x plugins/plain`,
		"program = \"open\"\n":   `c.toml:5:11: module.m.program: the file may be written by everybody on this machine, so it is not run: chmod o-w plugins/open`,
		"checksum = \"" + other + "\"\nprogram = \"obs\"\n": `c.toml:6:11: module.m.program: its SHA-256 is ` + is + `, and [module.m] wants ` + other +
			`: if the new file is yours, write checksum = "` + is + `"`,
	} {
		if got := h.lines(Files(h.parse("[module.m]\n" + toml))); strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%s\nsays %swant %s", toml, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(h.dir, "plugins/obs"), make([]byte, 2000), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := h.lines(Files(h.parse("[module.m]\nprogram = \"obs\"\n[wasm]\nmax_file = \"1KiB\"\n"))); !strings.Contains(got, `"plugins/obs" has 2000 bytes, at most 1024 are loaded (wasm.max_file)`) {
		t.Error(got)
	}
}
