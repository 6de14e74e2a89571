package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/spell"
)

// handles says whether a module is a handler's.
func handles(c config.Config, id string) bool {
	return slices.ContainsFunc(c.Handlers, func(h config.Handler) bool { return h.Module == id })
}

// handlers compares the handlers of a configuration with the folder of their modules; characters are the ids that have files among
// those. All it finds is worth a warning only, for files may come later.
func handlers(c config.Config, characters []string, engines []module.Engine) (problems []config.Problem) {
	if len(c.Handlers) == 0 {
		return nil
	}
	files, err := folder.IDs(c.Modules.Plugins, engines...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []config.Problem{c.ProblemAt(config.Warning, form.Show(c.Modules.Plugins)+" cannot be read: "+err.Error(), "", []string{"modules", "plugins"})}
	}
	for _, m := range c.Module {
		if m.Program != "" { // whose file is looked at elsewhere
			files = append(files, m.Name)
		}
	}
	for _, h := range c.Handlers {
		if slices.Contains(files, h.Module) {
			continue
		}
		key := []string{"handler", h.Name, "module"}
		problems = append(problems, c.ProblemAt(config.Warning, form.Show(h.Module)+" has no file in "+form.Show(c.Modules.Plugins), missing(c, h, files, characters), key, key[:2]))
	}
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return a.Line - b.Line })
	return problems
}

// missing says what may be meant by a handler's module that has no file.
func missing(c config.Config, h config.Handler, files, characters []string) string {
	if info, err := os.Stat(filepath.Join(c.Modules.Plugins, h.Module)); err == nil && info.Mode().IsRegular() {
		return fmt.Sprintf("a program of that name is there, which is run with [module.%s] program = %q", h.Module, h.Module)
	}
	if slices.Contains(characters, h.Module) {
		return "it has one in " + form.Show(c.Modules.Characters) + ", where only characters can be: move it"
	}
	if near := form.Meant(spell.Near(h.Module, files)); near != "" {
		return near
	}
	return "make plugins makes those of companiond, and companiond new handler NAME one of your own"
}

// Programs gives the modules that are programs.
func Programs(c config.Config) (all []process.Program) {
	for _, m := range c.Module {
		if m.Program != "" {
			all = append(all, process.Program{Module: m.Name, File: m.Program, Checksum: m.Checksum})
		}
	}
	return all
}

// programs looks at the files of programs.
func programs(c config.Config) (problems []config.Problem) {
	for _, p := range Programs(c) {
		if why := p.Check(c.Modules.Plugins, c.Wasm.MaxFile); why != "" {
			problems = append(problems, c.ProblemAt(config.Warning, why, "", []string{"module", p.Module, "program"}, []string{"modules", "plugins"}))
		}
	}
	return problems
}
