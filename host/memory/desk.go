package memory

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/recall"
)

// This file is what people see and change of what a companion remembers. Doors ask who may.

// Filter says which of a companion's memories to list; its zero value: all that are so now.
type Filter struct {
	Who   string // said by, or about somebody; names that look alike are one
	Text  string // that have to do with it, the best first
	Past  bool   // also what is no longer so
	Limit int    // 0 means 50; at most [MaxList]
	After string // id of the last of the page before; not with Text
}

// MaxList is how many memories a page has at most.
const MaxList = 500

// Page is a part of what a companion remembers, the newest first, or with a Text the best.
type Page struct {
	Memories []abi.Memory `json:"memories"`
	Next     string       `json:"next,omitempty"` // for Filter.After; empty: there are no more
	Total    int          `json:"total"`          // all that it remembers, whatever the filter
}

// Changes are what is to be different; what is nil stays as it is.
type Changes struct {
	Text       *string         `json:"text,omitempty"`
	Keys       *[]string       `json:"keys,omitempty"`
	Importance *int            `json:"importance,omitempty"`
	Visibility *abi.Visibility `json:"visibility,omitempty"`
	ValidTo    *time.Time      `json:"valid_to,omitempty"` // the zero time: it is so again
}

// Forgotten is something that a companion remembers no more, as it was.
type Forgotten struct {
	Companion string `json:"companion"`
	abi.Memory
}

// Companions gives the ids of those who remember anything, or have once, sorted.
func (k *Keeper) Companions(ctx context.Context) (ids []string, err error) {
	for row, err := range journal.AllStreams(ctx, k.cfg.Journal) {
		if err != nil {
			return nil, journal.Coded(err)
		}
		if id, ok := journal.Remembers(row.Name); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// List gives a page of what a companion remembers, wherever it was said. For a companion that
// remembers nothing, also one that nobody knows, it is empty.
func (k *Keeper) List(ctx context.Context, companion string, f Filter) (p Page, err error) {
	if f.Limit, err = abi.Limit(f.Limit, 50, MaxList); err != nil {
		return p, err
	}
	if f.Text != "" && f.After != "" {
		return p, abi.Field("after", abi.CodeInvalid, "is not for a search, which gives the best alone; raise limit")
	}
	p.Memories = []abi.Memory{}
	err = k.with(ctx, companion, func(b *book) error {
		p.Total = b.table.Len()
		all := b.listed(f, time.Now().In(k.cfg.Location))
		if f.After != "" {
			i := slices.IndexFunc(all, func(m fact.Fact) bool { return m.ID == f.After })
			if i < 0 {
				return abi.Field("after", abi.CodeNotFound, "nothing is remembered as %.64q; begin with the first page", f.After)
			}
			all = all[i+1:]
		}
		if len(all) > f.Limit {
			if all = all[:f.Limit]; f.Text == "" {
				p.Next = all[f.Limit-1].ID
			}
		}
		for _, m := range all {
			p.Memories = append(p.Memories, m.Memory)
		}
		return nil
	})
	return p, err
}

// listed gives what a filter lets through, in its order.
func (b *book) listed(f Filter, now time.Time) (all []fact.Fact) {
	if f.Text != "" {
		found := b.index.Find(recall.Query{Text: f.Text, Everywhere: true, Limit: abi.MaxMemories, Past: f.Past, At: now})
		for _, m := range found {
			all = append(all, m.Fact)
		}
	} else {
		all = b.table.All()
		slices.Reverse(all)
	}
	return slices.DeleteFunc(all, func(m fact.Fact) bool {
		return !f.Past && !m.ValidAt(now) || f.Who != "" && !of(m.Memory, f.Who)
	})
}

// of says whether somebody said or wrote it, or it is about somebody.
func of(m abi.Memory, who string) bool {
	return m.SaidBy != "" && address.Same(m.SaidBy, who) || m.EditedBy != "" && address.Same(m.EditedBy, who) || slices.ContainsFunc(m.About, func(id string) bool { return address.Same(id, who) })
}

func none(id string) error {
	return abi.Field("id", abi.CodeNotFound, "nothing is remembered as %.64q", id)
}

// Get gives one, abi.CodeNotFound where there is none.
func (k *Keeper) Get(ctx context.Context, companion, id string) (m abi.Memory, err error) {
	err = k.with(ctx, companion, func(b *book) error {
		f, ok := b.table.Get(id)
		if m = f.Memory; !ok {
			return none(id)
		}
		return nil
	})
	return m, err
}

// Write has a companion remember what a person wrote at a door, who is by: for the rooms in which
// those are whom it is about, or by where that is nobody, unless visibility says otherwise: no
// room is told of what was not said there before somebody has said so. Turn and Quote are not used.
func (k *Keeper) Write(ctx context.Context, companion string, a abi.MemoryAdd, visibility abi.Visibility, by string) (abi.Memory, error) {
	if visibility == "" {
		visibility = abi.VisiblePerson
	}
	n := fact.New{How: entry.HowDoor, Replaces: a.Replaces, Memory: abi.Memory{
		Kind: a.Kind, Text: a.Text, About: a.About, Keys: a.Keys, Importance: a.Importance, SaidBy: by, Visibility: visibility,
	}}
	return k.addOne(ctx, companion, n, "")
}

// addOne has a companion remember one thing, and gives it as it is remembered: where the same is
// already, that.
func (k *Keeper) addOne(ctx context.Context, companion string, n fact.New, source string) (m abi.Memory, err error) {
	err = k.with(ctx, companion, func(b *book) (err error) {
		if n.Past, err = b.past(ctx, n.Room); err != nil {
			return err
		}
		return b.write(ctx, func(w pen) error {
			as, changes, err := b.table.Add(n, source, k.cfg.NewID(), w.at)
			if err != nil {
				return err
			}
			if err := w.put(changes...); err != nil {
				return err
			}
			f, _ := b.table.In(n.Past, as)
			m = f.Memory
			return nil
		})
	})
	return m, err
}

// Edit changes one, and gives it as it is then.
func (k *Keeper) Edit(ctx context.Context, companion, id string, c Changes, by string) (m abi.Memory, err error) {
	err = k.with(ctx, companion, func(b *book) error {
		if _, ok := b.table.Get(id); !ok {
			return none(id)
		}
		return b.write(ctx, func(w pen) error {
			change, err := b.table.Revise(entry.Revised{
				Of: id, By: by, Text: c.Text, Keys: c.Keys, Importance: c.Importance, Visibility: c.Visibility, ValidTo: c.ValidTo,
			})
			if err != nil {
				return err
			}
			if err := w.put(change); err != nil {
				return err
			}
			f, _ := b.table.Get(id)
			m = f.Memory
			return nil
		})
	})
	return m, err
}

// Erase takes some out for ever, by somebody's wish, and gives them as they were: their words
// are gone from the stream when it answers, and the stream says which ids are. Unknown
// ids are passed over.
func (k *Keeper) Erase(ctx context.Context, companion string, ids []string, by string) ([]Forgotten, error) {
	return k.erase(ctx, []string{companion}, by, func(f fact.Fact) bool { return slices.Contains(ids, f.ID) })
}

// EraseFact is Erase where nobody says whose memory it is: abi.CodeNotFound for an id that is none.
func (k *Keeper) EraseFact(ctx context.Context, id, by string) ([]Forgotten, error) {
	gone, err := k.eraseAll(ctx, by, func(f fact.Fact) bool { return f.ID == id })
	if err == nil && len(gone) == 0 {
		err = none(id)
	}
	return gone, err
}

// EraseOf takes out of every companion's memory what somebody said and what is about somebody. Names that
// look alike are one. The turns themselves have to be gone before: a talk that is gone through in this
// moment is gone through again.
func (k *Keeper) EraseOf(ctx context.Context, who, by string) ([]Forgotten, error) {
	return k.eraseAll(ctx, by, func(f fact.Fact) bool { return of(f.Memory, who) })
}

// EraseFrom takes out of every companion's memory what rests on any of these turns of a room.
func (k *Keeper) EraseFrom(ctx context.Context, room string, turns []uint64, by string) ([]Forgotten, error) {
	return k.eraseAll(ctx, by, func(f fact.Fact) bool {
		return f.Room == room && slices.ContainsFunc(f.Turns, func(seq uint64) bool { return slices.Contains(turns, seq) })
	})
}

// Anew has talks that are gone through in this moment gone through again: of what was read of them words were taken out, and
// nothing that was found in them before is remembered behind it, whenever a model answers.
func (k *Keeper) Anew() {
	k.erased.Add(1)
	if k.cfg.Meaning != nil {
		k.cfg.Meaning.Forget()
	}
}

func (k *Keeper) eraseAll(ctx context.Context, by string, which func(fact.Fact) bool) ([]Forgotten, error) {
	k.erased.Add(1) // who remembers something from here on has looked again at what was said
	companions, err := k.Companions(ctx)
	if err != nil {
		return nil, err
	}
	return k.erase(ctx, companions, by, which)
}

// erase takes out of companions' memories. An error leaves what was taken out before.
func (k *Keeper) erase(ctx context.Context, companions []string, by string, which func(fact.Fact) bool) (gone []Forgotten, err error) {
	k.Anew()
	for _, companion := range companions {
		err := k.with(ctx, companion, func(b *book) error {
			var ids []string
			var here []Forgotten
			for _, f := range b.table.All() {
				if which(f) {
					ids, here = append(ids, f.ID), append(here, Forgotten{companion, f.Memory})
				}
			}
			changes := b.table.Erase(ids, by)
			if len(changes) == 0 {
				return nil
			}
			err := b.write(ctx, func(w pen) error { return w.put(changes...) })
			if err == nil {
				gone = append(gone, here...)
			}
			return err
		})
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}
