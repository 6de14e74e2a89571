package check

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// ofSecret says whether what is wrong with settings is said of one that is a secret: its place is where that is written.
func ofSecret(h config.Handler, why string) bool {
	var secrets map[string]any
	_ = json.Unmarshal(h.Secrets, &secrets) // the configuration was read
	for name := range secrets {
		if strings.HasPrefix(why, "settings."+name+":") {
			return true
		}
	}
	return false
}

// unfit says what is wrong with settings, each thing at its own place.
func unfit(c config.Config, h config.Handler, message string) (problems []config.Problem) {
	key := []string{"handler", h.Name}
	const root = "settings."
	for i, why := range strings.Split(message, "; "+root) {
		if i > 0 {
			why = root + why
		}
		at := [][]string{slices.Concat(key, []string{"settings"}), slices.Concat(key, []string{"secrets"}), key}
		if ofSecret(h, why) {
			at[0], at[1] = at[1], at[0]
		}
		p := c.ProblemAt(config.Error, why, "", at...)
		if path, _, ok := strings.Cut(why, ": "); ok && strings.HasPrefix(path, root) {
			parts := strings.FieldsFunc(strings.TrimPrefix(path, root), func(r rune) bool { return r == '.' || r == '[' })
			var deep [][]string
			for n := len(parts); n > 0; n-- {
				deep = append(deep, slices.Concat(at[0], parts[:n]))
			}
			place := c.ProblemAt(config.Error, why, "", append(deep, at...)...)
			p.Line, p.Col = place.Line, place.Col
		}
		problems = append(problems, p)
	}
	return problems
}

// Settings loads the modules that handlers name, with engines that are open, and gives what is wrong with them and with
// the handlers' settings: fits holds those to what a module says of itself, and its errors are [*abi.Error] but where
// a secret cannot be read, which the daemon may do as another user. mistakes are those of cards that a handler reads, a line each.
// characters are the engines that take files of companions.
func Settings(ctx context.Context, c config.Config, engines, characters []module.Engine, fits func(h config.Handler, d abi.Description) error) (mistakes []string, problems []config.Problem) {
	if len(c.Handlers) == 0 {
		return nil, nil // with nobody wanted, all would be loaded
	}
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
		return nil, nil
	}
	residents := residents(c, characters)
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
			problems = append(problems, unfit(c, h, known.Message)...)
		case err != nil:
			problems = append(problems, c.ProblemAt(config.Warning, err.Error(), "", slices.Concat(key, []string{"secrets"}), key))
		default:
			problems = append(problems, meaning(c, h, d.Settings, residents)...)
		}
		mistakes = append(mistakes, voices(c, h, d.Settings, characters)...)
	}
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return a.Line - b.Line })
	slices.Sort(mistakes)
	return slices.Compact(mistakes), problems
}
