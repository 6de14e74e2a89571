package check

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// Settings loads the modules that handlers name, with engines that are open, and gives what is wrong with them and with
// the handlers' settings: fits holds those to what a module says of itself, and its errors are [*abi.Error] but where
// a secret cannot be read, which the daemon may do as another user.
func Settings(ctx context.Context, c config.Config, engines []module.Engine, fits func(h config.Handler, d abi.Description) error) (problems []config.Problem) {
	var wanted []string
	for _, h := range c.Handlers {
		wanted = append(wanted, h.Module)
	}
	said := map[string]abi.Description{}
	wrong := map[string]string{}
	err := folder.Try(ctx, c.Modules.Plugins, c.Wasm.MaxFile, wanted, engines, func(id, file string, m module.Module, err error) {
		if err == nil {
			said[id] = m.Describe()
			err = folder.Admit(id, said[id], true, c.GrantOf)
		}
		if err != nil {
			wrong[id] = file + ": " + module.Reason(err)
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // Folders tells both
		return nil
	}
	for _, h := range c.Handlers {
		key := []string{"handler", h.Name}
		if why := wrong[h.Module]; why != "" {
			problems = append(problems, c.ProblemAt(config.Error, why, "", slices.Concat(key, []string{"module"}), key))
			continue
		}
		d, there := said[h.Module]
		if !there {
			continue
		}
		if module.IsCharacter(d) {
			problems = append(problems, c.ProblemAt(config.Error, h.Module+" is a character, and no handler", "move its file to modules.characters", slices.Concat(key, []string{"module"}), key))
			continue
		}
		err := fits(h, d)
		var known *abi.Error
		switch {
		case errors.As(err, &known):
			problems = append(problems, c.ProblemAt(config.Error, known.Message, "", slices.Concat(key, []string{"settings"}), slices.Concat(key, []string{"secrets"}), key))
		case err != nil:
			problems = append(problems, c.ProblemAt(config.Warning, err.Error(), "", slices.Concat(key, []string{"secrets"}), key))
		}
	}
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return a.Line - b.Line })
	return problems
}
