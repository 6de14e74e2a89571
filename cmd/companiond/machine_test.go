package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/cmd/companiond/unit"
)

// TestVerbsBesideTheService: verbs that somebody types beside a service find its folders, and say so in a line; in a folder with settings of
// its own nothing is said, and it is meant.
func TestVerbsBesideTheService(t *testing.T) {
	root, file := t.TempDir(), ""
	for name, text := range map[string]string{
		"etc/companiond/companiond.toml":             "[door]\nlisten = \"127.0.0.1:1\"\n[identity]\ntokens = \"credential:tokens\"\n",
		"etc/companiond/tokens":                      "",
		"var/lib/companiond/characters/aya.talk.txt": "name: Aya\n",
		"home/companiond.toml":                       "[door]\nlisten = \"127.0.0.1:2\"\n",
	} {
		file = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do := func(dir string, args ...string) (out, err string) {
		t.Helper()
		t.Chdir(dir)
		var o, e bytes.Buffer
		(&term{out: &o, err: &e, machine: unit.Machine(root)}).do(t.Context(), args)
		return o.String(), e.String()
	}
	home, settings, state := filepath.Join(root, "home"), filepath.Join(root, "etc", "companiond", "companiond.toml"), filepath.Join(root, "var", "lib", "companiond")
	note := "taken: " + settings + ", the settings of this machine's service\n"
	for _, c := range []struct {
		args []string
		want string // on either stream
	}{
		{[]string{"backup", "b.tar.gz"}, filepath.Join(state, "companiond.db")},
		{[]string{"doctor"}, filepath.Join(state, "companiond.db")},
		{[]string{"status"}, "no companiond is running there"},
		{[]string{"token", "mika"}, filepath.Join(root, "etc", "companiond", "tokens")},
		{[]string{"say", "hello"}, "127.0.0.1:1"},
		{[]string{"replay"}, filepath.Join(state, "companiond.db")},
	} {
		out, err := do(root, c.args...)
		if strings.Count(err, note) != 1 || !strings.Contains(out+err, c.want) {
			t.Errorf("%q: %s%s", c.args, out, err)
		}
		if out, err := do(home, c.args...); strings.Contains(out+err, root+string(filepath.Separator)+"etc") || strings.Contains(out+err, "taken") {
			t.Errorf("%q, in a folder with settings: %s%s", c.args, out, err)
		}
	}
	if out, err := do(home, "doctor", "-config", settings); strings.Contains(err, "taken") || !strings.Contains(out, filepath.Join(state, "companiond.db")) {
		t.Errorf("by its name: %s%s", out, err)
	}
	if out, err := do(root, "say", "-url", "127.0.0.1:3", "hello"); strings.Contains(out+err, "taken") {
		t.Errorf("-url: %s%s", out, err)
	}
	if out, err := do(root, "say", "-h"); strings.Contains(out+err, "taken") {
		t.Errorf("-h: %s%s", out, err)
	}
}
