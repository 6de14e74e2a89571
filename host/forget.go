package host

import (
	"context"
	"path/filepath"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/told"
	"github.com/companiond/companiond/host/module"
)

// buildForget makes what erases people's words on their own, and first of all erases what a journal
// that was put in place has of them: nothing runs yet, and no door is open.
func (h *Host) buildForget(ctx context.Context, j forget.Journal) (err error) {
	h.forgets, err = forget.Open(forget.Config{
		Journal: j, Dir: filepath.Dir(h.cfg.Journal.Path), Owner: "companiond/" + newID(),
		Memory: told.Memory{Keeper: h.memory}, Words: h.search, Forgotten: h.forgotten, Resident: h.livesHere, Log: h.log,
	})
	if err != nil {
		return err
	}
	if err = h.forgets.Resume(ctx); ctx.Err() != nil {
		return nil // it was stopped before it was open
	}
	return err
}

// livesHere says which companion, be it loaded or not, or agent of the configuration has a name that reads or looks like
// one.
func (h *Host) livesHere(name string) (who string, lives bool) {
	if h.house == nil { // no door is open
		return "", false
	}
	if id, lives := h.house.Resident(name); lives {
		return id, true
	}
	for _, a := range h.cfg.Agents {
		if address.Same(a.Name, name) || address.Skeleton(a.Name) == address.Skeleton(name) {
			return a.Name, true
		}
	}
	return "", false
}

// forgotten lets go of what is kept in memory of a room in which words were erased, of all with "".
func (h *Host) forgotten(room string) {
	h.blobs.Clear() // a voice may have said them
	if room == "" {
		for _, e := range h.engines {
			if f, ok := e.(module.Forgetter); ok {
				f.Forget()
			}
		}
	}
	if h.feed != nil { // the doors are open
		h.feed.Forget(room)
	}
}
