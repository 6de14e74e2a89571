package check

import (
	"context"
	"slices"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// Texts gives the characters whose files are for one engine alone: where there is a file for another, too, the first may be what
// that was made of.
func Texts(c config.Config, engines []module.Engine, name string) []string {
	one := func(e module.Engine) bool { return e.Name() == name }
	others := slices.DeleteFunc(slices.Clone(engines), one)
	ids, _ := folder.IDs(c.Modules.Characters, slices.DeleteFunc(slices.Clone(engines), func(e module.Engine) bool { return !one(e) })...)
	taken, _ := folder.IDs(c.Modules.Characters, others...) // Folders tells what cannot be read
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(taken, id) })
}

// Code loads characters with engines that are open, and gives the mistakes of those that cannot be.
func Code(ctx context.Context, c config.Config, ids []string, engines []module.Engine) (mistakes []string, err error) {
	err = folder.Try(ctx, c.Modules.Characters, c.Wasm.MaxFile, ids, engines, func(id, file string, m module.Module, err error) {
		if err == nil {
			err = folder.Admit(id, m.Describe(), false, c.GrantOf)
		}
		if err != nil {
			mistakes = append(mistakes, file+": "+module.Reason(err))
		}
	})
	return mistakes, err
}
