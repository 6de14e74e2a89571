package unit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/cmd/companiond/unit"
)

// TestService: the service of a machine is meant where nothing says otherwise, by the verbs that are about a daemon, and by those that
// name its settings.
func TestService(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "etc", "companiond", "companiond.toml")
	write := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(file)
	checkout, used, empty := t.TempDir(), t.TempDir(), t.TempDir()
	other := write(filepath.Join(checkout, "companiond.toml"))
	write(filepath.Join(used, "state", "companiond.db"))
	alone := t.TempDir() // the settings went, and the unit is there
	write(filepath.Join(alone, "lib", "systemd", "system", "companiond.service"))

	for name, c := range map[string]struct {
		root, verb, config, dir string
		env                     []string
		want                    bool
	}{
		"backup":                    {root, "backup", "", empty, nil, true},
		"say":                       {root, "say", "", empty, []string{"COMPANIOND_TOKEN=x", "PATH=/bin"}, true},
		"the settings are gone":     {alone, "restore", "", empty, nil, true},
		"no such service":           {t.TempDir(), "backup", "", empty, nil, false},
		"no machine":                {"", "backup", "", empty, nil, false},
		"run":                       {root, "run", "", empty, nil, false},
		"run, by its name":          {root, "run", file, empty, nil, false},
		"check":                     {root, "check", "", empty, nil, false},
		"check, by its name":        {root, "check", file, empty, nil, true},
		"in a checkout":             {root, "backup", "", checkout, nil, false},
		"there by its name":         {root, "backup", file, checkout, nil, true},
		"where one has run":         {root, "backup", "", used, nil, false},
		"another file":              {root, "backup", other, empty, nil, false},
		"in a service":              {root, "reload", "", empty, []string{"CONFIGURATION_DIRECTORY=/etc/x"}, false},
		"keys in the environment":   {root, "status", "", empty, []string{"COMPANIOND_JOURNAL_PATH=x"}, false},
		"the same, and by its name": {root, "status", file, empty, []string{"COMPANIOND_WASM_MAX_FILE=1GiB"}, true},
	} {
		got := unit.Machine(c.root).Service(c.verb, c.config, c.dir, c.env)
		if (got != nil) != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if state := filepath.Join(c.root, "var", "lib", "companiond"); got != nil && got["STATE_DIRECTORY"] != state {
			t.Errorf("%s: %v", name, got)
		}
	}
}
