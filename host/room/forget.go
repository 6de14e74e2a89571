package room

import (
	"context"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/speech"
)

// Forget has the room go on from what is left of its entries after words were taken out of
// them, and writes down that they were. anew takes out of the entries up to head what is still to go, gives
// the state that they fold to, and what is to be written down. The loop waits for it, so that
// nearly all is to be done before.
func (r *Room) Forget(ctx context.Context, anew func(ctx context.Context, head uint64) (*fold.State, entry.Forgotten, error)) error {
	select {
	case <-r.Loaded():
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := loop.Await(ctx, r.loop, loop.Late, func(q loop.Request[struct{}]) {
		loop.Handle(r.loop, q, func() (none struct{}, err error) {
			var body entry.Forgotten
			err = r.loop.Refold(ctx, func(ctx context.Context, head uint64) (st *fold.State, err error) {
				st, body, err = anew(ctx, head)
				return st, err
			}, func(st *fold.State) error { return r.refolded(ctx, st) })
			if err == nil {
				r.loop.Use()
				r.loop.Input(entry.KindForgotten, body)
			}
			return none, err
		})
	})
	return err
}

// refolded lets go of what is kept in memory of the entries as they were.
func (r *Room) refolded(ctx context.Context, st *fold.State) error {
	recent, err := reader.Said(ctx, r.cfg.Journal, r.Name(), journal.Span{Limit: reader.TailSize, Newest: true})
	if err != nil {
		return err
	}
	if err := r.lay(ctx, st); err != nil {
		return err
	}
	r.tail.Set(recent, st.Head)
	r.members, r.lately = nil, speech.Lately{}
	return nil
}
