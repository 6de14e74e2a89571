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

// CheckSettings loads the modules that handlers name, programs among them, and holds the handlers' settings to what these
// say of themselves. It has a cache of machine code of its own, for it may run beside the daemon, and as another user.
func CheckSettings(ctx context.Context, o Options) (problems []config.Problem, err error) {
	c := o.Config
	if len(c.Handlers) == 0 {
		return nil, nil
	}
	h, err := forCheck(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.closeEngines()) }()
	if h.plugins, err = h.openPlugins(c, "", nil); err != nil {
		return nil, err
	}
	stage := handler.New(handler.Config{Handlers: c.Handlers, SecretFile: h.secrets})
	return check.Settings(ctx, c, append(h.engines, h.plugins), closedEngines(), stage.Check), nil
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

// CheckCode loads the characters in JavaScript and TypeScript, and gives what is wrong with those that the daemon would refuse.
func CheckCode(ctx context.Context, o Options) (mistakes []string, err error) {
	ids := check.Texts(o.Config, closedEngines(), (&js.Engine{}).Name())
	if len(ids) == 0 {
		return nil, nil
	}
	h, err := forCheck(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.closeEngines()) }()
	return check.Code(ctx, o.Config, ids, h.engines[1:])
}
