package check_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
)

// loads is an engine of which nobody is to load anything.
type loads struct{ t *testing.T }

func (l loads) Name() string { return "fake" }

func (l loads) Match(file string) (id string, ok bool) { return strings.CutSuffix(file, ".fake") }

func (l loads) Load(_ context.Context, s module.Source) (module.Module, error) {
	l.t.Errorf("%s is loaded", s.Name)
	return nil, os.ErrInvalid
}

// TestReloadOfOtherThings: where no handler and no table of a module is another, no module is loaded, whatever lies in the folder.
func TestReloadOfOtherThings(t *testing.T) {
	c, problems := config.Parse("x.toml", []byte("[handler.clock]\n[room.main]\n"), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	c.Modules.Plugins = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.Modules.Plugins, "clock.fake"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := func(string) (*module.Companion, bool) { return nil, false }
	if got := check.Reload(t.Context(), c, c, []module.Engine{loads{t}}, nil, nobody, nil); len(got) > 0 {
		t.Error(got)
	}
}
