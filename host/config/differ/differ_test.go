package differ_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/config/differ"
)

func parse(t *testing.T, src string) config.Config {
	t.Helper()
	c, problems := config.Parse("x.toml", []byte(src), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	return c
}

func TestKeys(t *testing.T) {
	before := parse(t, "[room.main]\npatience = '1s'\n[room.old]\n[handler.h]\nmodule = 'h'\ncompanions = ['*']\n[handler.h.settings]\na = 1\n[companion.aya]\n[model.main]\nmodel = 'm'\n")
	after := parse(t, "[door]\noverlay_css = 'x.css'\n[log]\nlevel = 'debug'\n[room.main]\npatience = '2s'\nmax_turns = 3\ncalls_day = 5\n[room.new]\n[handler.h]\nmodule = 'h'\ncompanions = ['*']\n[handler.h.settings]\na = 2\n[companion.aya]\ncost_day = 2\nhome = 'main'\n[companion.ben]\n[model.main]\nmodel = 'n'\n[model.new]\nmodel = 'm'\n")
	got := differ.Keys(before, after)
	want := []string{"companion.aya.cost_day", "companion.aya.home", "companion.ben", "door.overlay_css", "handler.h.settings", "log.level", "model.main.model", "model.new", "room.main.calls_day", "room.main.max_turns", "room.main.patience", "room.new", "room.old"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var live []string
	for _, key := range got {
		if differ.Live(key, after) {
			live = append(live, key)
		}
	}
	if want := []string{"companion.aya.cost_day", "handler.h.settings", "log.level", "model.main.model", "model.new", "room.main.calls_day", "room.main.max_turns", "room.main.patience", "room.new"}; !slices.Equal(live, want) {
		t.Errorf("%q", live)
	}
	if got := differ.Keys(after, after); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Every key of companiond.toml is called the same here.
func TestNames(t *testing.T) {
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Name] = true
	}
	// Each value of a configuration with nothing in it differs from some value of another.
	zero := config.Config{Rooms: []config.Room{{Name: "NAME"}}, Companions: []config.Companion{{Name: "NAME"}}, Module: []config.Module{{Name: "NAME"}}, Handlers: []config.Handler{{Name: "NAME"}}, Models: []config.Model{{Name: "NAME"}}, Projects: []config.Project{{Name: "NAME"}}, Agents: []config.Agent{{Name: "NAME"}}}
	full := parse(t, "[room.NAME]\n[companion.NAME]\n[module.NAME]\n[handler.NAME]\nmodule = 'h'\ncompanions = ['*']\n[model.NAME]\nmodel = 'm'\n")
	for _, key := range differ.Keys(zero, full) {
		if len(strings.Split(key, ".")) == 2 && !known[key] && strings.HasSuffix(key, ".NAME") || known[key] {
			continue
		}
		t.Errorf("there is no key %s", key)
	}
}
