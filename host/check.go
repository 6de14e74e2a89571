package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/js"
)

// CheckFolder compares a configuration with its folders of characters and of handlers, as they are
// on the disk now, and gives what is worth a warning.
func CheckFolder(c config.Config) []config.Problem { return check.Folders(c, closedEngines()) }

// CheckFiles looks at the files that a configuration names, for the doors and of programs, and gives what is
// wrong with them.
func CheckFiles(c config.Config) []config.Problem { return check.Files(c) }

// CheckCards looks through the cards in the folder of characters. mistakes are
// those for which a card would be refused, a line each with its file and place;
// waits says which companions would have no language model, and which models no companion would have.
func CheckCards(ctx context.Context, c config.Config) (mistakes, waits []string) {
	return check.Cards(ctx, c, closedEngines())
}

// CheckModules loads what a daemon would, programs among it, and compares it with what the configuration says: mistakes are of
// characters in JavaScript and TypeScript that would be refused and of voices in cards, problems of handlers, whose settings are held to what their modules
// say of themselves. Engines are opened once, and only where something is for them.
func CheckModules(ctx context.Context, o Options) (mistakes []string, problems []config.Problem, err error) {
	c := o.Config
	ids := check.Texts(c, closedEngines(), (&js.Engine{}).Name())
	if len(ids)+len(c.Handlers) == 0 {
		return nil, nil, nil
	}
	h, err := forCheck(o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, h.closeEngines()) }()
	if len(ids) > 0 {
		if mistakes, err = check.Code(ctx, c, ids, h.engines[1:]); err != nil {
			return nil, nil, err
		}
	}
	if len(c.Handlers) == 0 {
		return mistakes, nil, nil
	}
	if h.plugins, err = h.openPlugins(c, "", nil); err != nil {
		return nil, nil, err
	}
	stage := handler.New(handler.Config{Handlers: c.Handlers, SecretFile: h.secrets})
	more, problems := check.Settings(ctx, c, append(h.engines, h.plugins), closedEngines(), stage.Check)
	return append(mistakes, more...), problems, nil
}

// forCheck opens the engines of files, with a cache of machine code of their own: a check may run beside the daemon, and as
// another user.
func forCheck(o Options) (*Host, error) {
	o.Config.Modules.Cache = ""
	if dir, err := os.UserCacheDir(); err == nil {
		o.Config.Modules.Cache = filepath.Join(dir, "companiond", "check")
	}
	o.Log = slog.New(slog.DiscardHandler)
	h := New(o)
	guests, err := openWasm(h, nil)
	if err != nil {
		return nil, err
	}
	h.engines = []module.Engine{guests}
	scripts, _ := openJS(h, nil) // it has no errors
	h.engines = append(h.engines, scripts)
	return h, nil
}
