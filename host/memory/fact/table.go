package fact

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/lineage"
)

// MaxFacts is how many a table keeps where nobody says otherwise.
const MaxFacts = 10_000

// mostTurns are kept of the turns in which the same was said.
const mostTurns = 16

// Table is what one companion remembers. It is not safe for concurrent use.
type Table struct {
	most  int
	facts map[string]*Fact
	order []string            // ids, in the order of entries; some may be gone
	by    map[string][]string // ids by SaidBy
	read  map[string]uint64

	rooms     []string
	mentioned map[string]bool

	words map[string][]uint64 // seqs of entries with the words of an id, also of one that is not here
	gone  map[string]bool
	blank map[uint64]bool
}

// NewTable gives an empty table that keeps at most so many; 0 means [MaxFacts].
func NewTable(most int) *Table {
	if most <= 0 {
		most = MaxFacts
	}
	return &Table{most: most, facts: map[string]*Fact{}, by: map[string][]string{}, read: map[string]uint64{}, mentioned: map[string]bool{},
		words: map[string][]uint64{}, gone: map[string]bool{}, blank: map[uint64]bool{}}
}

// Apply folds one entry in and gives the ids of what is other than before. An entry of
// another kind, one that lost its body, and one about what is not there change nothing.
func (t *Table) Apply(e entry.Entry) (changed []string, err error) {
	none := len(e.Body) == 0 || string(e.Body) == "null"
	if none || e.Blank && e.Kind != entry.KindRevised && e.Kind != entry.KindErased { // these have more than words
		delete(t.blank, e.Seq)
		return nil, nil
	}
	switch e.Kind {
	case entry.KindRemembered:
		return fold(e, t.remember)
	case entry.KindRevised:
		return fold(e, t.revise)
	case entry.KindErased:
		return fold(e, t.erase)
	case entry.KindRead:
		return fold(e, func(_ entry.Entry, r entry.Read) []string {
			t.read[r.Room] = max(t.read[r.Room], r.Upto)
			return nil
		})
	case entry.KindVector:
		return fold(e, t.vector)
	}
	return nil, nil
}

// fold decodes the body of an entry for what it does to a table.
func fold[T any](e entry.Entry, apply func(entry.Entry, T) []string) ([]string, error) {
	body, err := entry.Decode[T](e)
	if err != nil {
		return nil, fmt.Errorf("fold %s of seq %d: %w", e.Kind, e.Seq, err)
	}
	return apply(e, body), nil
}

func (t *Table) remember(e entry.Entry, r entry.Remembered) (changed []string) {
	if t.spoken(e.Seq, r.ID); t.gone[r.ID] || t.facts[r.ID] != nil {
		return nil
	}
	f := &Fact{Memory: r.Memory, Slot: r.Slot, Value: r.Value, How: r.How, Confirmed: r.SaidAt,
		turns: r.Turns, newest: newest(r.Turns, r.Upto), until: r.ValidTo}
	t.facts[r.ID] = f
	t.mention(f.Room)
	if len(r.Until) > 0 {
		f.until, f.ValidTo = time.Time{}, time.Time{}
	}
	for _, u := range r.Until {
		t.mark(f, end(u))
	}
	t.order = append(t.order, r.ID)
	t.by[r.SaidBy] = append(t.by[r.SaidBy], r.ID)
	changed = append(changed, r.ID)
	for _, id := range r.Closes {
		if old := t.facts[id]; old != nil && old != f && old.until.IsZero() && (old.left == "" || old.left != r.Slot) {
			t.mark(old, end(f.place(old, f.since())))
			changed = append(changed, id)
		}
	}
	return changed
}

// since is from when on it is so.
func (f *Fact) since() time.Time {
	if f.ValidFrom.IsZero() {
		return f.SaidAt
	}
	return f.ValidFrom
}

func (t *Table) revise(e entry.Entry, r entry.Revised) (changed []string) {
	if e.Blank && r.Text != nil && *r.Text == "" {
		r.Text = nil
	}
	if r.Text != nil || r.Keys != nil {
		t.spoken(e.Seq, r.Of)
	}
	f := t.facts[r.Of]
	if f == nil {
		return nil
	}
	if r.Text != nil && *r.Text != f.Text {
		f.Text, f.Quote, f.Value, f.EditedBy = *r.Text, "", "", r.By // it rests on whoever wrote it now
		if f.Slot != "" {
			f.left, f.Slot = f.Slot, ""
		}
		t.unlearn(f)
	}
	if r.Keys != nil {
		f.Keys = *r.Keys
	}
	if r.Importance != nil {
		f.Importance = *r.Importance
	}
	if r.Visibility != nil {
		f.Visibility = *r.Visibility
	}
	switch u := r.Until; {
	case r.ValidTo == nil:
	case u == nil:
		f.settled(*r.ValidTo)
	case f.until.IsZero() && !f.replaces(end(*u)):
		t.mark(f, end(*u))
	default:
		f.ValidTo, f.ClosedBy = t.closed(nil, f)
	}
	if a := r.Again; a != nil {
		f.again(*a)
		t.mark(f, mark{room: a.Room, turn: a.Turn, at: a.At, same: a.Same})
	}
	return []string{r.Of}
}

// vector takes in what a model made of a text, in place of what was made of it before.
func (t *Table) vector(e entry.Entry, v entry.Vector) (changed []string) {
	t.spoken(e.Seq, v.Of)
	f := t.facts[v.Of]
	if f == nil || len(v.Numbers) != v.Dims {
		return nil
	}
	t.unlearn(f)
	f.Vector, f.vector = v, e.Seq
	return []string{v.Of}
}

// unlearn lets go of a fact's vector, which is to be taken out of the stream.
func (t *Table) unlearn(f *Fact) {
	if f.vector != 0 {
		t.blank[f.vector] = true
		t.words[f.ID] = slices.DeleteFunc(t.words[f.ID], func(seq uint64) bool { return seq == f.vector })
	}
	f.Vector, f.vector = entry.Vector{}, 0
}

// again notes that it was said again. The first turn stays first: the quotation is from it.
func (f *Fact) again(a entry.Again) {
	if a.At.After(f.Confirmed) {
		f.Confirmed = a.At
	}
	if a.Turn == 0 || a.Room != f.Room || slices.Contains(f.Turns, a.Turn) {
		return
	}
	turns := append(slices.Clone(f.Turns), a.Turn)
	if len(turns) > mostTurns {
		turns = slices.Delete(turns, 1, 2)
	}
	f.Turns = turns
}

func (t *Table) erase(_ entry.Entry, r entry.Erased) (changed []string) {
	for _, id := range r.IDs {
		for _, seq := range t.words[id] {
			t.blank[seq] = true
		}
		delete(t.words, id)
		t.gone[id] = true
		f := t.facts[id]
		if f == nil {
			continue
		}
		delete(t.facts, id)
		t.by[f.SaidBy] = without(t.by[f.SaidBy], id)
		if len(t.by[f.SaidBy]) == 0 {
			delete(t.by, f.SaidBy)
		}
		changed = append(changed, id)
	}
	if len(t.order) > 2*len(t.facts)+16 {
		t.order = slices.DeleteFunc(t.order, func(id string) bool { return t.facts[id] == nil })
	}
	return changed
}

func without(ids []string, id string) []string {
	if i := slices.Index(ids, id); i >= 0 {
		return slices.Delete(ids, i, i+1)
	}
	return ids
}

// spoken notes that an entry has words of an id.
func (t *Table) spoken(seq uint64, id string) {
	switch {
	case t.gone[id]:
		t.blank[seq] = true
	case !slices.Contains(t.words[id], seq):
		t.words[id] = append(t.words[id], seq)
	}
}

// Get gives what is remembered by its id. What it refers to is not to be changed.
func (t *Table) Get(id string) (Fact, bool) {
	f := t.facts[id]
	if f == nil {
		return Fact{}, false
	}
	got := *f
	got.Entries = slices.Clone(t.words[id])
	return got, true
}

// Len is how many there are.
func (t *Table) Len() int { return len(t.facts) }

// All gives everything, in the order of entries.
func (t *Table) All() []Fact { return t.some(t.order, func(*Fact) bool { return true }) }

// Of gives all that somebody said or that is about somebody, with what is no longer so, as it is known in a room with this past.
func (t *Table) Of(p *lineage.Past, who string) (facts []Fact) {
	for _, id := range t.order {
		if f := t.facts[id]; f == nil || f.SaidBy != who && !slices.Contains(f.About, who) {
			continue
		}
		if f, known := t.In(p, id); known {
			facts = append(facts, f)
		}
	}
	return facts
}

// From gives what rests on any of these turns of a room.
func (t *Table) From(room string, turns []uint64) []Fact {
	return t.some(t.order, func(f *Fact) bool {
		return f.Room == room && slices.ContainsFunc(f.Turns, func(seq uint64) bool { return slices.Contains(turns, seq) })
	})
}

func (t *Table) some(ids []string, which func(*Fact) bool) (facts []Fact) {
	for _, id := range ids {
		if f := t.facts[id]; f != nil && which(f) {
			got, _ := t.Get(id)
			facts = append(facts, got)
		}
	}
	return facts
}

// Read gives how far a room's talk was gone through.
func (t *Table) Read(room string) uint64 { return t.read[room] }

// Blank gives the seqs of the entries whose words are to be taken out of the stream, because
// what they remembered was erased, and of vectors in whose place there is another. Those that are blank are not among them.
func (t *Table) Blank() []uint64 {
	seqs := make([]uint64, 0, len(t.blank))
	for seq := range t.blank {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// Blanked says that these were taken out.
func (t *Table) Blanked(seqs []uint64) {
	for _, seq := range seqs {
		delete(t.blank, seq)
	}
}

// Visible says whether it may be used in a room in which these are, by ids of participants.
// What has no visibility counts as [abi.VisibleRoom]. Whoever wrote something at a door is not one of those
// whom it is about. What was said in a room before this one was forked of it counts as said here.
func (f Fact) Visible(p *lineage.Past, room string, present []string) bool {
	switch f.Visibility {
	case abi.VisibleAll:
		return true
	case abi.VisiblePerson:
		if f.SaidBy != "" && (f.How != entry.HowDoor || len(f.About) == 0) {
			return slices.Contains(present, f.SaidBy)
		}
		return slices.ContainsFunc(f.About, func(who string) bool { return slices.Contains(present, who) })
	}
	return f.Room != "" && (f.Room == room || p.Own(f.Room))
}
