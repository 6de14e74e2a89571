package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/hearing"
	"github.com/companiond/companiond/host/memory/lineage"
	"github.com/companiond/companiond/host/model"
)

// maxKnown is how many facts of those who speak are looked at beside what they say now.
const maxKnown = 100

// listener is a companion that heard a part of a talk, with what is left of that.
type listener struct {
	id       string
	settings Settings
	heard    hearing.Heard
	turns    []fact.Turn // that it has not gone through yet
	rules    *[]fact.New // what rules find in them and in those before; nil: they were not asked

	// What it goes through next: so many of the turns, up to an entry, with what it knows of those who speak.
	part  int
	upto  uint64
	known []fact.Fact
	asks  *question // nil: rules find what is worth it
}

// remember has everybody who heard a part of a talk remember what is worth it, as much at once as its model takes.
func (k *Keeper) remember(ctx context.Context, h *hearing.Hearing, erased uint64) error {
	if h.People == 0 {
		return nil
	}
	left, err := k.listeners(ctx, h)
	for err == nil && len(left) > 0 {
		left, err = k.goOn(ctx, left, h, erased)
	}
	return err
}

// listeners gives those who have something of it to go through.
func (k *Keeper) listeners(ctx context.Context, h *hearing.Hearing) (all []*listener, err error) {
	for _, id := range h.Companions() {
		l := &listener{id: id, settings: k.cfg.Settings(id)}
		if l.settings.Off {
			continue
		}
		err := k.with(ctx, id, func(b *book) error {
			l.heard = h.Of(id, b.table.Read(h.Room))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if l.turns = l.heard.Left; len(l.turns) > 0 {
			all = append(all, l)
		}
	}
	return all, nil
}

// goOn has each go through what comes next, and gives those who have not come to the end.
func (k *Keeper) goOn(ctx context.Context, all []*listener, h *hearing.Hearing, erased uint64) (left []*listener, err error) {
	questions := map[string]*question{}
	for _, l := range all {
		if err := k.begins(ctx, l, h, questions); err != nil {
			return nil, err
		}
	}
	for _, l := range all {
		if err := k.rememberAs(ctx, l, h, erased); err != nil {
			return nil, err
		}
		if l.turns = l.turns[l.part:]; len(l.turns) > 0 {
			left = append(left, l)
		}
	}
	return left, nil
}

// begins says what a listener goes through next, and what is to be asked for it.
func (k *Keeper) begins(ctx context.Context, l *listener, h *hearing.Hearing, questions map[string]*question) error {
	asks := l.settings.Model && k.cfg.Model != nil
	if l.takes(len(l.turns), h); asks {
		l.takes(k.budget(l.id).Part(l.turns), h)
	}
	err := k.with(ctx, l.id, func(b *book) error {
		past, err := b.past(ctx, h.Room)
		if err == nil {
			l.known = knownOf(b.table, past, h.Room, l.turns)
		}
		return err
	})
	if l.asks = nil; asks && err == nil {
		l.asks = l.question(questions)
	}
	return err
}

// takes says how many of the turns that are left a listener goes through next: with the last of them it has come to the end.
func (l *listener) takes(n int, h *hearing.Hearing) {
	if l.part, l.upto = n, h.Upto; n < len(l.turns) {
		l.upto = l.turns[n-1].Seq
	}
}

// rememberAs has one companion do so, once: how far it has come is written down together with what it
// remembers.
func (k *Keeper) rememberAs(ctx context.Context, l *listener, h *hearing.Hearing, erased uint64) error {
	found, err := k.find(ctx, l, h)
	if err != nil {
		return err
	}
	sources := map[uint64]string{}
	for _, t := range l.turns[:l.part] {
		sources[t.Seq] = t.Text
	}
	return k.with(ctx, l.id, func(b *book) error {
		if b.table.Read(h.Room) >= l.upto {
			return nil // it was done meanwhile
		}
		past, err := b.past(ctx, h.Room)
		if err != nil {
			return err
		}
		if l.part == len(l.turns) {
			found = append(found, k.episode(ctx, b.table, l, h.Room)...)
		}
		return b.write(ctx, func(w pen) error {
			if k.erased.Load() != erased {
				return errAnew
			}
			for _, n := range found {
				n.Upto, n.Past = l.upto, past
				if err := k.add(w, n, l.settings, sources); err != nil {
					return err
				}
			}
			return w.put(fact.Change{Kind: entry.KindRead, Body: entry.Read{Room: h.Room, Upto: l.upto}})
		})
	})
}

// episode says what the talk was about, at its end. A part that was gone through before counts, unless there is a line about that.
func (k *Keeper) episode(ctx context.Context, t *fact.Table, l *listener, room string) []fact.New {
	turns := l.heard.All
	if n := l.heard.Read; n > 0 {
		var seqs []uint64
		for _, u := range turns[:n] {
			seqs = append(seqs, u.Seq)
		}
		if slices.ContainsFunc(t.From(room, seqs), func(f fact.Fact) bool { return f.Kind == abi.MemoryEpisode }) {
			turns = turns[n:]
		}
	}
	if e, ok := extract.Episode(turns, k.cfg.Names(ctx, room)); ok {
		return []fact.New{e}
	}
	return nil
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

// knownOf gives what is known of the people who speak, as far as it may be told in the room: of much the newest.
func knownOf(t *fact.Table, past *lineage.Past, room string, turns []fact.Turn) (known []fact.Fact) {
	present := people(turns)
	for _, who := range present {
		for _, f := range t.Of(past, who) {
			if f.ValidTo.IsZero() && f.Visible(past, room, present) {
				known = append(known, f)
			}
		}
	}
	if over := len(known) - maxKnown; over > 0 {
		slices.SortStableFunc(known, func(f, g fact.Fact) int { return f.Confirmed.Compare(g.Confirmed) })
		known = known[over:]
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

// find finds what is worth remembering in what a listener goes through next: by its model where that is wished, and by
// rules where it is not, or the model cannot. A model that could not be asked is not asked about the rest either.
func (k *Keeper) find(ctx context.Context, l *listener, h *hearing.Hearing) (found []fact.New, err error) {
	if l.asks != nil {
		if found, err = k.asked(ctx, l, h.Room); err == nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() // the daemon stops; it is done again
		}
		if abi.CodeOf(err) != abi.CodeInvalid || errors.Is(err, model.ErrRefused) {
			l.takes(len(l.turns), h)
		}
	}
	if l.rules == nil {
		all := extract.Facts(l.turns, l.known)
		l.rules = &all
	}
	return l.within(*l.rules), nil
}

// within gives what was said in what a listener goes through next.
func (l *listener) within(found []fact.New) (here []fact.New) {
	from, to := l.turns[0].Seq, l.turns[l.part-1].Seq
	for _, n := range found {
		if seq := n.Turns[0]; from <= seq && seq <= to {
			here = append(here, n)
		}
	}
	return here
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
