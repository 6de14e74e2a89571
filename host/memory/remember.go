package memory

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/lineage"
)

// maxKnown is how many facts of those who speak are looked at beside what they say now.
const maxKnown = 100

// listener is a companion that heard a part of a talk, with what it knows of those who spoke.
type listener struct {
	id       string
	settings Settings
	turns    []fact.Turn
	known    []fact.Fact
	asks     *question // nil: rules find what is worth it
}

// remember has everybody who heard a part of a talk remember what is worth it.
func (k *Keeper) remember(ctx context.Context, h *hearing, erased uint64) error {
	if h.people == 0 {
		return nil
	}
	all, err := k.listeners(ctx, h)
	if err != nil {
		return err
	}
	for _, l := range all {
		if err := k.rememberAs(ctx, l, h, erased); err != nil {
			return err
		}
	}
	return nil
}

// listeners gives those who have something of it to go through, with what is to be asked for them.
func (k *Keeper) listeners(ctx context.Context, h *hearing) (all []listener, err error) {
	questions := map[string]*question{}
	for _, id := range h.companions() {
		l, people := listener{id: id, settings: k.cfg.Settings(id)}, false
		if l.settings.Off {
			continue
		}
		err := k.with(ctx, id, func(b *book) error {
			if l.turns, people = h.of(id, b.table.Read(h.room)); !people {
				return nil
			}
			past, err := b.past(ctx, h.room)
			if err == nil {
				l.known = knownOf(b.table, past, h.room, l.turns)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if !people {
			continue
		}
		if l.settings.Model && k.cfg.Model != nil {
			l.asks = l.question(questions)
		}
		all = append(all, l)
	}
	return all, nil
}

// rememberAs has one companion do so, once: how far it has come is written down together with what it
// remembers.
func (k *Keeper) rememberAs(ctx context.Context, l listener, h *hearing, erased uint64) error {
	id, s, turns := l.id, l.settings, l.turns
	found, err := k.find(ctx, l, h.room)
	if err != nil {
		return err
	}
	sources := map[uint64]string{}
	for _, t := range turns {
		sources[t.Seq] = t.Text
	}
	return k.with(ctx, id, func(b *book) error {
		if b.table.Read(h.room) >= h.upto {
			return nil // it was done meanwhile
		}
		past, err := b.past(ctx, h.room)
		if err != nil {
			return err
		}
		return b.write(ctx, func(w pen) error {
			if k.erased.Load() != erased {
				return errAnew
			}
			for _, n := range found {
				n.Upto, n.Past = h.upto, past
				if err := k.add(w, n, s, sources); err != nil {
					return err
				}
			}
			return w.put(fact.Change{Kind: entry.KindRead, Body: entry.Read{Room: h.room, Upto: h.upto}})
		})
	})
}

// add takes in one thing that was found. What does not stand up to its source is left out.
func (k *Keeper) add(w pen, n fact.New, s Settings, sources map[uint64]string) error {
	n.Visibility = s.Visibility
	source := ""
	if len(n.Turns) > 0 {
		source = sources[n.Turns[0]]
	}
	_, changes, err := w.book.table.Add(n, source, k.cfg.NewID(), w.at)
	if err != nil {
		k.cfg.Log.Debug("something that was found in a talk is not remembered", "room", n.Room, "how", n.How, "err", err)
		return nil
	}
	return w.put(changes...)
}

// knownOf gives what is known of the people who speak, as far as it may be told in the room.
func knownOf(t *fact.Table, past *lineage.Past, room string, turns []fact.Turn) (known []fact.Fact) {
	present := people(turns)
	for _, who := range present {
		for _, f := range t.Of(past, who) {
			if len(known) < maxKnown && f.ValidTo.IsZero() && f.Visible(past, room, present) {
				known = append(known, f)
			}
		}
	}
	return known
}

// people gives the humans among those who spoke, each once.
func people(turns []fact.Turn) (ids []string) {
	seen := map[string]bool{}
	for _, t := range turns {
		if t.By == abi.KindHuman && !seen[t.From] {
			seen[t.From] = true
			ids = append(ids, t.From)
		}
	}
	return ids
}

// find finds what is worth remembering: by the companion's model where that is wished, and by
// rules where it is not, or the model cannot.
func (k *Keeper) find(ctx context.Context, l listener, room string) (found []fact.New, err error) {
	if l.asks != nil {
		found, err = k.asked(ctx, l, room)
		if ctx.Err() != nil {
			return nil, ctx.Err() // the daemon stops; it is done again
		}
	}
	if l.asks == nil || err != nil {
		found = extract.Facts(l.turns, l.known)
	}
	for _, n := range found {
		if n.Kind == abi.MemoryEpisode {
			return found, nil
		}
	}
	if e, ok := extract.Episode(l.turns, k.cfg.Names(ctx, room)); ok {
		found = append(found, e)
	}
	return found, nil
}

// Used writes down what a model was asked for.
func (k *Keeper) Used(ctx context.Context, u entry.Usage) {
	err := k.with(ctx, u.Who, func(b *book) error {
		return b.write(ctx, func(w pen) error { return w.put(fact.Change{Kind: entry.KindUsage, Body: u}) })
	})
	if err != nil {
		k.cfg.Log.Warn("what a model was asked for cannot be written down", "companion", u.Who, "err", err)
	}
}
