package host

import (
	"context"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/door/ops"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/observed"
)

// buildOps makes the door of whoever watches over the daemon, where the configuration has one, and has the journal seen. What
// the door asks is not there yet.
func (h *Host) buildOps() {
	if v := h.version; h.cfg.Door.Ops != "" {
		h.ops = ops.New(ops.Config{
			Build: ops.Build{Version: v.Version, Revision: v.Revision, Go: v.Go}, Engine: howWasmRuns(), Log: h.log,
			Configured: func(room string) bool { return h.rooms.Configured(room) },
			Rooms:      func() map[string]int { return h.rooms.Inboxes() },
			Doors: func() map[string]int {
				return map[string]int{"http": h.ops.Connected(), "socket": h.feed.Clients(), "mcp": h.agents.Sessions()}
			},
			Health: h.journal.Health, Named: h.modulesNamed,
			Modules: func() []module.Status { return h.folder.Status() }, Loaded: func() <-chan struct{} { return h.folder.Ready() },
			Answers:  func(ctx context.Context) error { return h.rooms.Answers(ctx) },
			Stopping: func() bool { return h.waiting.Err() != nil },
		})
	}
	if h.ops != nil {
		h.journal = &observed.Journal{Journal: h.journal, Appended: h.ops.Appended}
	}
	h.seen = observed.New(observed.Config{Turn: h.ops.Turn, Log: h.log, Companion: func(id string) bool {
		_, ok := h.folder.Companion(id)
		return ok
	}})
}

// modulesNamed gives the modules that the configuration names: programs, and those of handlers.
func (h *Host) modulesNamed() (ids []string) {
	is := h.inForce.Load()
	for _, p := range check.Programs(*is) {
		ids = append(ids, p.Module)
	}
	for _, one := range is.Handlers {
		ids = append(ids, one.Module)
	}
	return ids
}

// changed has the calls of who came seen, and tells the rooms.
func (h *Host) changed(c folder.Change) {
	h.ops.Loaded(string(c.Kind))
	if c.Kind == folder.Refused {
		return
	}
	if c.Kind == folder.Joined && h.ops != nil {
		c.Companion.Observe(h.ops.Calls(c.Companion.ID()))
	}
	h.tellCast(context.Background())
}
