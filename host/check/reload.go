package check

import (
	"context"
	"reflect"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// Modules gives the ids whose tables [module.NAME] are others in one configuration than in another, sorted.
func Modules(was, is config.Config) (ids []string) {
	for _, m := range append(slices.Clone(was.Module), is.Module...) {
		if !reflect.DeepEqual(was.ModuleOf(m.Name), is.ModuleOf(m.Name)) {
			ids = append(ids, m.Name)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Reload is [Settings] of those handlers alone that have another table in is, or whose module has one, with warnings of files that
// are not there; and it holds the grants of characters that are loaded to what these need.
// A handler's module that no handler has in is may lose what it needs: whoever takes out a handler takes its table with it.
func Reload(ctx context.Context, was, is config.Config, engines, characters []module.Engine, loaded func(id string) (*module.Companion, bool), fits func(h config.Handler, d abi.Description) error) (problems []config.Problem) {
	others, some := Modules(was, is), is
	some.Handlers = slices.DeleteFunc(slices.Clone(is.Handlers), func(h config.Handler) bool {
		return !slices.Contains(others, h.Module) && slices.ContainsFunc(was.Handlers, func(before config.Handler) bool { return reflect.DeepEqual(before, h) })
	})
	changed := is
	changed.Module = slices.DeleteFunc(slices.Clone(is.Module), func(m config.Module) bool { return !slices.Contains(others, m.Name) })
	problems = append(programs(changed), handlers(some, residents(is, characters), characters)...)
	for _, id := range others {
		m, here := loaded(id)
		if !here || handles(is, id) || !module.IsCharacter(m.Describe()) { // loaded by Settings, or no handler's any more
			continue
		}
		if err := folder.Admit(id, m.Describe(), true, is.GrantOf); err != nil {
			problems = append(problems, is.ProblemAt(config.Error, module.Reason(err), "", []string{"module", id, "grant"}, []string{"module", id}, []string{"modules", "grant"}))
		}
	}
	_, more := Settings(ctx, some, engines, characters, fits) // a card is taken as it is
	return append(problems, more...)
}
