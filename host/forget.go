package host

import (
	"context"
	"path/filepath"

	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/told"
)

// buildForget makes what erases people's words on their own, and first of all erases what a journal
// that was put in place has of them: nothing runs yet, and no door is open.
func (h *Host) buildForget(ctx context.Context, j forget.Journal) (err error) {
	h.forgets, err = forget.Open(forget.Config{
		Journal: j, Dir: filepath.Dir(h.cfg.Journal.Path), Owner: "companiond/" + newID(),
		Memory: told.Memory{Keeper: h.memory}, Forgotten: h.forgotten, Log: h.log,
	})
	if err != nil {
		return err
	}
	if err = h.forgets.Resume(ctx); ctx.Err() != nil {
		return nil // it was stopped before it was open
	}
	return err
}

// forgotten lets go of what is kept in memory of a room in which words were erased, of all with "".
func (h *Host) forgotten(room string) {
	if h.feed != nil { // the doors are open
		h.feed.Forget(room)
	}
}
