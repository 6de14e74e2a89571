package folder

import (
	"context"

	"github.com/fsnotify/fsnotify"

	"github.com/companiond/companiond/host/module"
)

// Eyes is a lookout of the test's own.
type Eyes struct {
	Events  chan fsnotify.Event
	OnWatch func(folder string) error // may be nil
}

// RunWith is Run with a lookout of the test's own; nil is none.
func (f *Folder) RunWith(ctx context.Context, eyes *Eyes) {
	own := blind()
	if eyes != nil {
		own.events = eyes.Events
		if eyes.OnWatch != nil {
			own.watch = eyes.OnWatch
		}
	}
	newLoader(f, own).run(ctx)
}

// Sources gives what finder finds, as "id: source source", sorted by id by the
// caller, and what pick chooses.
func Sources(dir string, engines []module.Engine, id, before string) (shown []string, chosen, trouble string) {
	found, err := finder{dir: dir, engines: engines}.find(id, visitor{})
	if err != nil {
		return nil, "", err.Error()
	}
	if len(found[id]) == 0 {
		return nil, "", ""
	}
	for _, s := range found[id] {
		shown = append(shown, s.show)
	}
	src, trouble := pick(id, found[id], before)
	if src != nil {
		chosen = src.show
	}
	return shown, chosen, trouble
}
