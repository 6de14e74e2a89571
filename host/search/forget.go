package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/sqlite/words"
)

// Forget takes the words of entries out of the index's file for good, by room and seq: what the journal has left
// of them is found from then on. The journal has lost them before; so an index that is made again has them no more.
//
// An index that cannot be used is deleted.
func (k *Keeper) Forget(ctx context.Context, gone map[string][]uint64) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.cfg.ReadOnly {
		return fmt.Errorf("%w: the index is only read", journal.ErrUnavailable)
	}
	err := k.open()
	if err == nil && k.index == nil {
		err = fmt.Errorf("%w: the index is closed", journal.ErrUnavailable)
	}
	if errors.Is(err, store.ErrRefused) { // it is another program's, and has nothing of ours
		return nil
	}
	if err == nil {
		err = k.takeOut(ctx, gone)
	}
	if err == nil {
		err = k.clean(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	k.cfg.Log.Warn("words cannot be taken out of the index of what was said; it is deleted and made again", "err", err)
	k.drop()
	return words.Delete(k.cfg.Path)
}

// takeOut has the index know of entries what the journal has of them now.
func (k *Keeper) takeOut(ctx context.Context, gone map[string][]uint64) error {
	for room, seqs := range gone {
		var left []words.Entry
		for _, seq := range seqs {
			if seq == 0 {
				continue
			}
			now, err := k.cfg.Journal.Said(ctx, room, journal.Span{After: seq - 1, Before: seq + 1, Limit: 1})
			if err != nil {
				return err
			}
			w := words.Entry{Seq: seq}
			if len(now) > 0 {
				w = indexed(room, now[0])
			}
			left = append(left, w)
		}
		if err := k.index.Replace(room, left); err != nil {
			return err
		}
	}
	return nil
}

// clean has the file lose what was taken out.
func (k *Keeper) clean(ctx context.Context) error {
	dirty, err := k.index.Dirty(ctx)
	if err != nil || !dirty {
		return err
	}
	k.files.Lock() // nobody may read meanwhile
	defer k.files.Unlock()
	return k.index.Clean()
}

// tidy has the file lose what was taken out before the daemon was killed, or was trimmed.
func (k *Keeper) tidy(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.index == nil {
		return nil
	}
	return k.clean(ctx)
}
