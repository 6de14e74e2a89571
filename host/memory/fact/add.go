package fact

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/wording"
)

// Add gives the entries by which something is remembered as id, at the time now, and the id
// under which it is: another one where the same is known already. source is the text of the
// turn that the quotation is from. Nothing changes before the entries are applied. No entry at all
// means that there is nothing to write: it was recalled, or said in a turn that was read before.
// The error is an [abi.Error] that names the field.
func (t *Table) Add(n New, source, id string, now time.Time) (as string, changes []Change, err error) {
	if n, err = n.checked(source, id, now); err != nil {
		return "", nil, err
	}
	if t.facts[id] != nil || t.gone[id] {
		return "", nil, abi.Field("memory.id", abi.CodeConflict, "%q is taken; give another id", id)
	}
	for _, r := range n.Replaces {
		if _, known := t.In(n.Past, r); !known {
			return "", nil, abi.Field("memory.replaces", abi.CodeNotFound, "nothing is remembered as %q", r)
		}
	}
	if same := t.same(n); same != nil {
		return same.ID, n.again(same), nil
	}
	if n.Quote == "" {
		if known := t.recalled(n); known != nil {
			return known.ID, nil, nil
		}
	}
	r := entry.Remembered{Memory: n.Memory, Slot: n.Slot, Value: n.Value, How: n.How}
	if len(n.Turns) == 0 {
		r.Upto = n.Upto
	}
	if n.ValidTo.IsZero() {
		r.Closes, r.Until = t.closes(n)
		for _, u := range r.Until {
			if r.ValidTo.IsZero() || u.At.Before(r.ValidTo) {
				r.ValidTo = u.At
			}
		}
	}
	if out := t.least(1); len(out) > 0 {
		changes = append(t.stay(out, ""), Change{entry.KindErased, entry.Erased{IDs: out, Why: entry.GoneFull}})
		r.Closes = slices.DeleteFunc(r.Closes, func(id string) bool { return slices.Contains(out, id) })
	}
	return id, append(changes, Change{entry.KindRemembered, r}), nil
}

// again gives the entry that says that a fact was said again, none where that is known or it
// was only recalled.
func (n New) again(f *Fact) []Change {
	if n.Quote == "" || len(n.Turns) == 0 || f.noted(n.Room, n.Turns[0]) {
		return nil
	}
	a := entry.Again{Room: n.Room, Turn: n.Turns[0], At: n.SaidAt, Same: f.letters(n)}
	if n.Room != f.Room && !n.SaidAt.After(f.Confirmed) && (!a.Same || len(f.marks) >= mostAgains) {
		return nil // of other rooms no more is kept than the time, and where the same was said
	}
	return []Change{{entry.KindRevised, entry.Revised{Of: f.ID, Again: &a}}}
}

// same finds what is remembered already, as it is known in the room: what was found in the same turn before, or else the
// same of the same person that may be told in the same places and is still so. Not everybody who hears this may have lived
// through that, or do so in a fork to come; then only what has the same letters is the same.
func (t *Table) same(n New) (still *Fact) {
	letters, value := wording.Letters(n.Text), wording.Letters(n.Value)
	for _, id := range t.by[n.SaidBy] {
		if f := t.facts[id]; f.Kind != n.Kind || f.Slot != n.Slot || !f.says(letters, value) {
			continue
		}
		f, known := t.In(n.Past, id)
		if !known {
			continue
		}
		// What came in its place elsewhere is to make way for it there.
		open := f.ValidTo.IsZero() && (f.Slot == "" || t.facts[id].ValidTo.IsZero())
		own := f.Room == n.Room || n.Past.Own(f.Room)
		if own && len(n.Turns) > 0 && slices.Contains(f.Turns, n.Turns[0]) {
			return &f
		}
		own = own && (f.newest <= newest(n.Turns, n.Upto) || f.letters(n))
		elsewhere := !own && (f.Visibility == abi.VisibleRoom || n.Visibility == abi.VisibleRoom || !f.letters(n))
		if still == nil && !elsewhere && open && n.ValidTo.IsZero() {
			still = &f
		}
	}
	return still
}

// letters says whether something new has the same letters.
func (f *Fact) letters(n New) bool { return wording.Letters(f.Text) == wording.Letters(n.Text) }

// says compares by the value where there is a slot for it, and by the text otherwise.
func (f *Fact) says(letters, value string) bool {
	if f.Slot != "" && value != "" {
		return wording.Letters(f.Value) == value
	}
	return wording.Letters(f.Text) == letters
}

// shortest is how many letters of what is remembered make a text that has them a recalled one.
const shortest = 6

// recalled finds what a text without a quotation says over again.
func (t *Table) recalled(n New) *Fact {
	letters := wording.Letters(n.Text)
	for _, id := range t.order {
		f, known := t.In(n.Past, id)
		if !known {
			continue
		}
		has := wording.Letters(f.Text)
		if letters == has || utf8.RuneCountInString(has) >= shortest && strings.Contains(letters, has) {
			return &f
		}
	}
	return nil
}

// closes gives what is no longer so by what is new: in the room where that is said, or for whoever knows everything; and what was
// said later and is in its place: what is so here, and of what is not known here the earliest of each room.
func (t *Table) closes(n New) (ids []string, later []entry.Place) {
	fresh := &Fact{Memory: n.Memory, Slot: n.Slot}
	since := fresh.since()
	for _, id := range t.by[n.SaidBy] {
		f := t.facts[id]
		corrected := f.Value != "" && slices.ContainsFunc(n.Corrects, func(v string) bool { return wording.Letters(v) == wording.Letters(f.Value) })
		if n.SaidBy == "" || !corrected && (f.Slot == "" || f.Slot != n.Slot) {
			continue
		}
		seen, known := t.In(n.Past, id)
		open := known && seen.ValidTo.IsZero() || f.ValidTo.IsZero()
		switch {
		case corrected && open:
			ids = append(ids, id)
		case corrected:
		case f.since().After(since):
			if open || !known && f.until.IsZero() {
				later = earliest(later, f.place(fresh, f.since()))
			}
		case open || t.closable(f, since):
			ids = append(ids, id)
		}
	}
	for _, id := range n.Replaces {
		if t.facts[id].until.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), later
}

// earliest puts a place to others, unless one of its room is earlier.
func earliest(all []entry.Place, p entry.Place) []entry.Place {
	i := slices.IndexFunc(all, func(other entry.Place) bool { return other.Room == p.Room })
	switch {
	case i < 0:
		return append(all, p)
	case p.At.Before(all[i].At):
		all[i] = p
	}
	return all
}

// least gives what has to go so that there is room for some more: what is no longer so, then
// what is the least important, then what was said or confirmed longest ago.
func (t *Table) least(more int) []string {
	n := len(t.facts) + more - t.most
	if n <= 0 {
		return nil
	}
	all := make([]*Fact, 0, len(t.facts))
	for _, f := range t.facts {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Fact) int {
		if a.ValidTo.IsZero() != b.ValidTo.IsZero() {
			if b.ValidTo.IsZero() {
				return -1
			}
			return 1
		}
		if a.Importance != b.Importance {
			return a.Importance - b.Importance
		}
		if c := a.Confirmed.Compare(b.Confirmed); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	var ids []string
	for _, f := range all[:min(n, len(all))] {
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	return ids
}

// Revise gives the entry by which something is changed, or an [abi.Error].
func (t *Table) Revise(r entry.Revised) (Change, error) {
	f := t.facts[r.Of]
	if f == nil {
		return Change{}, abi.Field("memory.id", abi.CodeNotFound, "nothing is remembered as %q", r.Of)
	}
	m := f.Memory
	if r.Text != nil {
		m.Text = *r.Text
	}
	if r.Keys != nil {
		keys := keysOf(*r.Keys)
		m.Keys, r.Keys = keys, &keys
	}
	if r.Importance != nil {
		m.Importance = *r.Importance
	}
	if r.Visibility != nil {
		m.Visibility = *r.Visibility
	}
	if r.ValidTo != nil {
		to := whole(*r.ValidTo)
		r.ValidTo = &to
	}
	if r.Again != nil {
		again := *r.Again
		again.At = whole(again.At)
		r.Again = &again
	}
	if err := check(m); err != nil {
		return Change{}, err
	}
	return Change{entry.KindRevised, r}, nil
}

// Erase gives the entries by which by has these forgotten; those that are not there are left out, and
// with none left there is no entry.
func (t *Table) Erase(ids []string, by string) (changes []Change) {
	var here []string
	for _, id := range ids {
		if t.facts[id] != nil {
			here = append(here, id)
		}
	}
	slices.Sort(here)
	here = slices.Compact(here)
	if len(here) == 0 {
		return nil
	}
	return append(t.stay(here, by), Change{entry.KindErased, entry.Erased{IDs: here, By: by, Why: entry.GoneForgotten}})
}

// stay gives the entries by which what some closed stays closed when they are erased: the entry that closed it has no words
// then, and so does not say so any more.
func (t *Table) stay(gone []string, by string) (changes []Change) {
	for _, id := range t.order {
		f := t.facts[id]
		if f == nil || slices.Contains(gone, id) {
			continue
		}
		for _, m := range t.orphaned(f, gone, false) {
			to := m.at
			changes = append(changes, Change{entry.KindRevised, entry.Revised{Of: id, By: by, ValidTo: &to, Until: &entry.Place{Room: m.room, Turn: m.turn, By: m.by, Slot: m.fills, At: to}}})
		}
	}
	return changes
}
