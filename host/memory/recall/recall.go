// Package recall finds what a companion remembers that has to do with what is said: by names
// and things, by pairs of letters, by what a question asks for, and by how near the vectors are
// that a model gave.
//
// It searches what is remembered and never the history, shows nothing in a room that may
// not be told there, and finds nothing rather than something that has nothing to do with it.
package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/lineage"
	"github.com/companiond/companiond/host/memory/wording"
)

// Limit is how many are found where nobody says otherwise.
const Limit = 8

// Query asks for what is remembered.
type Query struct {
	Text    string   // what was said; "": the most important and newest
	About   []string // who asks, and whom it is about: 「私の猫」 is theirs. Empty: anybody
	Room    string   // the room of the call
	Present []string // who is there
	// Lived is what Room has lived through; nil: everything.
	Lived *lineage.Past
	// Everywhere also gives what may not be told in Room: for doors of whoever may see it all.
	Everywhere bool
	Limit      int  // 0 means [Limit]; at most abi.MaxMemories
	Past       bool // also what is no longer so
	// At is now; relative dates in Text are counted in its location.
	At time.Time
	// Near are ids of what is near in meaning, the nearest first; nil without vectors.
	Near []string
}

// Found is one of the answers.
type Found struct {
	fact.Fact
	Score float64
}

// What a term that both have counts, before how rare it is among the facts.
const (
	weightWord   = 1.0
	weightKanji  = .35 // a single one, which is mostly part of a verb
	weightBigram = .4
	weightSlot   = 1.5 // what the question asks for

	// least is what a fact has to have in common with a text: a word, or two pairs of letters.
	least = .5
	// heap is what the few words of an episode that rules made have to have in common: two of its words
	// at least. It says little of what was said.
	heap = 1.5
	// part of what the best has in common the others have to have.
	part = .2
	// most that counts of what a fact has in common with a text
	most = 4.0

	// others is what a fact of somebody else keeps of its weight where whoever asks speaks of
	// their own.
	others = .25

	// common are facts, in percent, that have a term which says little, where there are more
	// than few.
	common, few, says = 30, 20, .2

	decay = .995 // for each hour since it was said
	ranks = 60   // reciprocal ranks are 1/(ranks+rank)
)

// Index is what a table's facts are found by. It is not safe for concurrent use.
type Index struct {
	table *fact.Table
	facts map[string]indexed
	where map[string]map[string]struct{} // ids by term
}

// indexed is a fact with its terms.
type indexed struct {
	fact.Fact
	terms []string
}

// NewIndex gives an index of a table as it is now.
func NewIndex(t *fact.Table) *Index {
	ix := &Index{table: t, facts: map[string]indexed{}, where: map[string]map[string]struct{}{}}
	for _, f := range t.All() {
		ix.put(f)
	}
	return ix
}

// Update takes in what [fact.Table.Apply] says has changed.
func (ix *Index) Update(changed []string) {
	for _, id := range changed {
		for _, term := range ix.facts[id].terms {
			if delete(ix.where[term], id); len(ix.where[term]) == 0 {
				delete(ix.where, term)
			}
		}
		delete(ix.facts, id)
		if f, ok := ix.table.Get(id); ok {
			ix.put(f)
		}
	}
}

func (ix *Index) put(f fact.Fact) {
	terms := termsOf(f)
	ix.facts[f.ID] = indexed{f, terms}
	for _, term := range terms {
		if ix.where[term] == nil {
			ix.where[term] = map[string]struct{}{}
		}
		ix.where[term][f.ID] = struct{}{}
	}
}

// Terms are told apart by how they begin: a word, a pair of letters, a slot.
const (
	word   = "w:"
	bigram = "b:"
	value  = "v:" // a word that is all that fills a slot
	slot   = "s:"
)

// termsOf gives what a fact is found by.
func termsOf(f fact.Fact) []string {
	text := strings.Join(append([]string{f.Text, f.Quote, f.Value}, f.Keys...), "\n")
	terms := textTerms(text)
	for _, k := range slices.Concat(f.Keys, f.About, []string{f.SaidBy}) {
		if k = wording.Fold(k); k != "" {
			terms = append(terms, word+k)
		}
	}
	if _, likes, ok := strings.Cut(f.Value, ":"); ok {
		terms = append(terms, value+wording.Fold(likes))
	} else if f.Value != "" {
		terms = append(terms, value+wording.Fold(f.Value))
	}
	for s := f.Slot; s != ""; {
		terms = append(terms, slot+s)
		i := strings.LastIndexAny(s, ":")
		s = s[:max(i, 0)]
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// textTerms gives the words, things and pairs of letters of a text.
func textTerms(text string) (terms []string) {
	words := wording.Words(text)
	for _, w := range append(words, wording.Things(text)...) {
		terms = append(terms, word+w)
	}
	for _, b := range wording.Bigrams(words) {
		terms = append(terms, bigram+b)
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// Find gives what answers the query, the best first.
func (ix *Index) Find(q Query) []Found {
	limit := q.Limit
	if limit <= 0 {
		limit = Limit
	}
	limit = min(limit, abi.MaxMemories)
	var found []Found
	if strings.TrimSpace(q.Text) == "" && q.Near == nil {
		found = ix.newest(q)
	} else {
		found = ix.related(q)
	}
	slices.SortFunc(found, func(a, b Found) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if q.Near != nil {
		found = ix.joined(q, found)
	}
	return found[:min(limit, len(found))]
}

// newest gives all that may be told, by importance and age; with About, theirs.
func (ix *Index) newest(q Query) (found []Found) {
	for id := range ix.facts {
		if f, shown := ix.shown(q, id); shown && !q.heap(f) && (len(q.About) == 0 || q.theirs(f)) {
			found = append(found, Found{f, q.standing(f)})
		}
	}
	return found
}

// related gives what has something in common with the text.
func (ix *Index) related(q Query) (found []Found) {
	common := ix.weigh(q)
	best := 0.0
	for id, w := range common {
		f, shown := ix.shown(q, id)
		if !shown {
			continue
		}
		if best = max(best, w); w >= least && (w >= heap || !q.heap(f)) {
			found = append(found, Found{f, w})
		}
	}
	found = slices.DeleteFunc(found, func(f Found) bool { return f.Score < part*best })
	for i, f := range found {
		found[i].Score = min(f.Score, most) + q.standing(f.Fact)
	}
	return found
}

// weigh gives what each fact has in common with the text.
func (ix *Index) weigh(q Query) map[string]float64 {
	weights := map[string]float64{}
	for _, term := range q.terms() {
		w := ix.weight(term)
		for id := range ix.where[term] {
			weights[id] += w
		}
	}
	asked := asks(q.Text)
	own := ownWords.MatchString(q.Text)
	for _, s := range asked {
		for id := range ix.where[slot+s] {
			switch {
			case len(q.About) == 0 || q.theirs(ix.facts[id].Fact):
				weights[id] += weightSlot
			case weights[id] >= least && !own:
				weights[id] += weightSlot // somebody else, who is named
			}
		}
	}
	for id := range weights {
		if own && len(q.About) > 0 && !q.theirs(ix.facts[id].Fact) {
			weights[id] *= others
		}
	}
	return weights
}

// weight gives what a term counts: the less, the more facts have it.
func (ix *Index) weight(term string) float64 {
	n, has := len(ix.facts), len(ix.where[term])
	if has == 0 {
		return 0
	}
	w := weightWord
	letters := []rune(term[2:])
	switch {
	case strings.HasPrefix(term, bigram):
		w = weightBigram
	case len(letters) == 1 && !strings.HasPrefix(term, value):
		w = weightKanji
	}
	if n > few && 100*has > common*n {
		return w * says
	}
	return w * math.Log(1+float64(n)/float64(has)) / math.Log(1+float64(n))
}

// shown gives a fact as it is known in the room of the query, and whether that may be answered with it.
func (ix *Index) shown(q Query, id string) (f fact.Fact, shown bool) {
	if q.Lived == nil {
		i, known := ix.facts[id]
		f, shown = i.Fact, known
	} else {
		f, shown = ix.table.In(q.Lived, id)
	}
	return f, shown && (q.Past || f.ValidAt(q.At)) && (q.Everywhere || f.Visible(q.Lived, q.Room, q.Present))
}

// heap says whether a fact is no more than words that rules put together, which a model is told
// only where they fit very well.
func (q Query) heap(f fact.Fact) bool {
	return !q.Everywhere && f.Kind == abi.MemoryEpisode && f.How == entry.HowRules
}

// theirs says whether a fact is of those that the query is about.
func (q Query) theirs(f fact.Fact) bool {
	return slices.Contains(q.About, f.SaidBy) || slices.ContainsFunc(f.About, func(who string) bool { return slices.Contains(q.About, who) })
}

// standing is what a fact counts whatever is asked: how important and how new it is.
func (q Query) standing(f fact.Fact) float64 {
	hours := max(0, q.At.Sub(f.Confirmed).Hours())
	return float64(f.Importance)/5 + math.Pow(decay, hours)
}

// joined joins what was found by words with what is near by vectors.
func (ix *Index) joined(q Query, found []Found) []Found {
	scores := map[string]float64{}
	all := map[string]Found{}
	for i, f := range found {
		scores[f.ID] += 1 / float64(ranks+i+1)
		all[f.ID] = f
	}
	rank := 0
	for _, id := range q.Near {
		f, shown := ix.shown(q, id)
		if _, here := all[id]; !shown || !here && q.heap(f) {
			continue
		}
		rank++
		scores[id] += 1 / float64(ranks+rank)
		if _, ok := all[id]; !ok {
			all[id] = Found{Fact: f}
		}
	}
	found = found[:0]
	for id, f := range all {
		f.Score = scores[id]
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Found) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return found
}
