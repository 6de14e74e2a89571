package memory

import (
	"context"
	"errors"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/hearing"
)

// errAnew says that somebody wished something forgotten while a talk was gone through: what was
// read of it may not be there any more.
var errAnew = errors.New("words were erased meanwhile")

// goThrough has everybody who was there go through a talk, to its end or a part at a time, and
// gives how far it went, and who was there then.
func (k *Keeper) goThrough(ctx context.Context, t talk) (upto uint64, here []string, err error) {
	for {
		h := &hearing.Hearing{Room: t.Room, Here: t.Here}
		err = k.hear(ctx, t, h)
		if !errors.Is(err, errAnew) {
			if err != nil && ctx.Err() == nil {
				k.cfg.Log.Warn("a talk cannot be gone through now for what is worth remembering; it is tried again", "room", t.Room, "err", err)
			}
			return max(h.Upto, t.newest), h.Here, err
		}
	}
}

// hear reads a talk, and has what was said remembered.
func (k *Keeper) hear(ctx context.Context, t talk, h *hearing.Hearing) error {
	erased := k.erased.Load()
	at := func(e entry.Entry) fact.Turn { return fact.Turn{At: e.At.In(k.cfg.Location)} }
	just, err := k.cfg.Journal.Said(ctx, t.Room, journal.Span{Before: t.From, Limit: hearing.Before, Newest: true})
	if err != nil {
		return err
	}
	for _, e := range just {
		if err := h.Take(e, at); err != nil {
			return err
		}
	}
	h.Next()
	for e, err := range journal.AllEntries(ctx, k.cfg.Journal, t.Room, t.From-1) {
		if err == nil {
			err = h.Take(e, at)
		}
		if err == nil && h.People == Turns {
			err = k.remember(ctx, h, erased)
			h.Next()
		}
		if err != nil {
			return err
		}
	}
	return k.remember(ctx, h, erased)
}
