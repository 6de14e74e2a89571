package memory

import (
	"context"
	"strings"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/meaning"
	"github.com/companiond/companiond/host/memory/near"
	"github.com/companiond/companiond/host/module"
)

// This file is the vectors of what is remembered: made beside all else, of whatever has none, a
// batch at a time. Whoever remembers or recalls something waits for none of it.

const (
	// pace is the time between two batches: the rooms ask the same model.
	pace = 2 * time.Second
	// rarest is how long nothing is tried at most after failures.
	rarest = time.Hour
)

// lack says of a companion that some of its facts have no vector.
type lack struct {
	until time.Time     // nothing is tried
	wait  time.Duration // that was waited after the last failure
}

// lackOf notes whether a companion's facts lack vectors; whoever uses its book does.
func (k *Keeper) lackOf(companion string, b *book) {
	if k.cfg.Meaning == nil || b.table == nil || b.table.Len() == 0 {
		return
	}
	model, dims := k.cfg.Meaning.Model(companion)
	if model == "" || dims > 0 && b.near.Count(model, dims) >= b.table.Len() || k.cfg.Settings(companion).Off {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.lacks[companion]; known {
		return
	}
	k.lacks[companion] = lack{}
	select {
	case k.lacking <- struct{}{}:
	default: // it will look
	}
}

// index makes vectors until ctx ends.
func (k *Keeper) index(ctx context.Context) {
	defer func() { k.cfg.Log.Debug("what was looked for by its meaning", "counts", k.cfg.Meaning.Counts()) }()
	for ctx.Err() == nil {
		companion, l, wait := k.nextLack(time.Now())
		if companion == "" {
			select {
			case <-ctx.Done():
			case <-k.lacking:
			case <-time.After(wait):
			}
			continue
		}
		if err := k.indexOf(ctx, companion); err != nil && ctx.Err() == nil {
			l.wait = min(max(again, 2*l.wait), rarest)
			l.until = time.Now().Add(l.wait)
			k.mu.Lock()
			k.lacks[companion] = l
			k.mu.Unlock()
			k.cfg.Log.Debug("what is remembered gets no vectors now; it is tried again", "companion", companion, "in", l.wait, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pace):
		}
	}
}

// nextLack takes a companion whose facts are to get vectors, or gives how long there is none.
func (k *Keeper) nextLack(now time.Time) (companion string, l lack, wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait = rarest
	for id, l := range k.lacks {
		if !l.until.After(now) {
			delete(k.lacks, id)
			return id, l, 0
		}
		wait = min(wait, l.until.Sub(now))
	}
	return "", l, wait
}

// indexOf makes vectors of some of a companion's facts.
func (k *Keeper) indexOf(ctx context.Context, companion string) error {
	if err := k.cfg.Meaning.Ready(ctx, companion); err != nil {
		return err
	}
	model, dims := k.cfg.Meaning.Model(companion)
	var ids, texts []string
	err := k.with(ctx, companion, func(b *book) error {
		ids, texts = b.lacking(model, dims)
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	vectors, err := k.cfg.Meaning.Vectors(ctx, companion, texts)
	if err != nil {
		return err
	}
	return k.with(ctx, companion, func(b *book) error {
		return b.write(ctx, func(w pen) error {
			for i, id := range ids {
				// Meanwhile it may be another text, or nothing.
				if f, ok := b.table.Get(id); ok && f.Text == texts[i] {
					v := entry.Vector{Of: id, Model: model, Dims: dims, Numbers: vectors[i]}
					if err := w.put(fact.Change{Kind: entry.KindVector, Body: v}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// lacking gives a batch of what has no vector of a model.
func (b *book) lacking(model string, dims int) (ids, texts []string) {
	for _, f := range b.table.All() {
		if len(ids) < meaning.Batch && !b.near.Has(f.ID, model, dims) {
			ids, texts = append(ids, f.ID), append(texts, f.Text)
		}
	}
	return ids, texts
}

// meant gives what has to do in meaning with a text that a companion is told: its zero value where there is no
// vector of it, or where nothing could be near.
func (k *Keeper) meant(ctx context.Context, c module.Caller, text string) near.Query {
	if k.cfg.Meaning == nil || strings.TrimSpace(text) == "" {
		return near.Query{}
	}
	model, _ := k.cfg.Meaning.Model(c.Companion)
	if model == "" {
		return near.Query{}
	}
	some := false
	if err := k.with(ctx, c.Companion, func(b *book) error {
		some = b.near.Any(model)
		return nil
	}); err != nil || !some {
		return near.Query{}
	}
	q, _ := k.cfg.Meaning.Query(ctx, c, text)
	return q
}
