package memory

import (
	"context"
	"errors"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/ask"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// Op is what a model is asked for by the keeper: no op of a module.
const Op = "remember"

// maxKnown is how many facts of those who speak are looked at beside what they say now.
const maxKnown = 100

// remember has everybody who heard a part of a talk remember what is worth it.
func (k *Keeper) remember(ctx context.Context, h *hearing, erased uint64) error {
	if h.people == 0 {
		return nil
	}
	for _, id := range h.companions() {
		if s := k.cfg.Settings(id); !s.Off {
			if err := k.rememberAs(ctx, id, s, h, erased); err != nil {
				return err
			}
		}
	}
	return nil
}

// rememberAs has one companion do so, once: how far it has come is written down together with what it
// remembers.
func (k *Keeper) rememberAs(ctx context.Context, id string, s Settings, h *hearing, erased uint64) error {
	var turns []fact.Turn
	var known []fact.Fact
	people := false
	err := k.with(ctx, id, func(b *book) error {
		if turns, people = h.of(id, b.table.Read(h.room)); people {
			known = knownOf(b.table, h.room, turns)
		}
		return nil
	})
	if err != nil || !people {
		return err
	}
	found, err := k.find(ctx, id, s, h.room, known, turns)
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
		return b.write(ctx, func(w pen) error {
			if k.erased.Load() != erased {
				return errAnew
			}
			for _, n := range found {
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
func knownOf(t *fact.Table, room string, turns []fact.Turn) (known []fact.Fact) {
	present := people(turns)
	for _, who := range present {
		for _, f := range t.Of(who) {
			if len(known) < maxKnown && f.ValidTo.IsZero() && f.Visible(room, present) {
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
func (k *Keeper) find(ctx context.Context, id string, s Settings, room string, known []fact.Fact, turns []fact.Turn) (found []fact.New, err error) {
	if s.Model && k.cfg.Model != nil {
		found, err = k.asked(ctx, id, room, known, turns)
		if ctx.Err() != nil {
			return nil, ctx.Err() // the daemon stops; it is done again
		}
	}
	if !s.Model || k.cfg.Model == nil || err != nil {
		found = extract.Facts(turns, known)
	}
	for _, n := range found {
		if n.Kind == abi.MemoryEpisode {
			return found, nil
		}
	}
	if e, ok := extract.Episode(turns, k.cfg.Names(ctx, room)); ok {
		found = append(found, e)
	}
	return found, nil
}

var errNothingHolds = errors.New("nothing of the answer stands up to what was said")

// asked asks the model.
func (k *Keeper) asked(ctx context.Context, id, room string, known []fact.Fact, turns []fact.Turn) ([]fact.New, error) {
	p := ask.For(known, turns)
	a, err := k.cfg.Model(ctx, module.Caller{Companion: id, Room: room, Call: k.cfg.NewID(), Op: Op}, model.Request{
		System: p.System, Schema: p.Schema, SchemaName: Op, Messages: []model.Message{{Role: model.RoleUser, Text: p.User}},
	})
	if err != nil {
		k.cfg.Log.Debug("a model could not go through a talk; rules do", "companion", id, "room", room, "err", err)
		return nil, err
	}
	answer := string(a.JSON)
	if answer == "" {
		answer = a.Text
	}
	found, rejected := ask.Read(answer, known, turns)
	for _, why := range rejected {
		k.cfg.Log.Debug("something that a model found in a talk is not remembered", "companion", id, "room", room, "why", why)
	}
	if len(found) == 0 && len(rejected) > 0 {
		return nil, errNothingHolds
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
