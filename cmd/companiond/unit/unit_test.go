package unit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/cmd/companiond/unit"
	"github.com/companiond/companiond/host/config"
)

// TestWithin: the folders of a service manager stand in for defaults, and for nothing that was written.
func TestWithin(t *testing.T) {
	join := filepath.Join
	for name, c := range map[string]struct {
		src, state, cache               string
		journal, code, characters, prog string
	}{
		"by hand":         {"", "", "", "state/companiond.db", "state/cache", "characters", "state/plugins"},
		"a service":       {"", "/s", "/c", join("/s", "companiond.db"), join("/c", "code"), join("/s", "characters"), join("/s", "plugins")},
		"state alone":     {"", "/s:/t", "", join("/s", "companiond.db"), join("/s", "cache"), join("/s", "characters"), join("/s", "plugins")},
		"a journal":       {"journal.path = '/j/x.db'", "", "", "/j/x.db", join("/j", "cache"), "characters", "state/plugins"},
		"both":            {"journal.path = '/j/x.db'\nmodules.characters = 'here'", "/s", "/c", "/j/x.db", join("/c", "code"), "here", join("/s", "plugins")},
		"all are written": {"journal.path = 'a'\n[modules]\ncache = 'b'\ncharacters = 'c'\nplugins = 'd'", "/s", "/c", "a", "b", "c", "d"},
	} {
		cfg, problems := config.Parse("x.toml", []byte(c.src), nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		unit.Within(&cfg, env(c.state, c.cache))
		if m := cfg.Modules; cfg.Journal.Path != c.journal || m.Cache != c.code || m.Characters != c.characters || m.Plugins != c.prog {
			t.Errorf("%s: %s %s %s %s", name, cfg.Journal.Path, m.Cache, m.Characters, m.Plugins)
		}
	}
	cfg, _ := config.Parse("x.toml", nil, nil)
	unit.Within(&cfg, env("/s", ""))
	var b strings.Builder
	if err := cfg.Print(&b); err != nil || !strings.Contains(b.String(), "STATE_DIRECTORY") {
		t.Errorf("it does not say where from: %v", err)
	}
	unit.Within(&config.Config{}, env("/s", "/c")) // of a file with mistakes
}

func env(state, cache string) func(string) string {
	return func(name string) string {
		return map[string]string{"STATE_DIRECTORY": state, "CACHE_DIRECTORY": cache}[name]
	}
}
