package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module/js/npm"
)

// TestCheckCode: a check says of characters in JavaScript what the daemon would, and nothing of sources that another file is
// made of.
func TestCheckCode(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, text := range map[string]string{
		"good.ts": "export function vote() { return { state: 'listen', importance: 0 } }\nexport function speak() { return 'x' }\n",
		"half.ts": "export function vote( {\n", "mute.js": "1\n", "made.ts": "not TypeScript at all\n", "made.wasm": "\x00asm",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Parse("c.toml", []byte("modules.characters = '"+dir+"'\n"), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	got, _, err := host.CheckModules(t.Context(), host.Options{Config: c})
	slices.Sort(got)
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "half.ts: SyntaxError") || !strings.Contains(got[0], "(half.ts:") || !strings.HasPrefix(got[1], "mute.js: ") {
		t.Errorf("%q %v", got, err)
	}
}
