// Package parts cuts what is to be compressed or verified into parts that can be asked about
// one by one, and puts the answers together: a verdict is YES only where all parts say so.
//
// It leaves out no turn and no word of one: a turn that is too long comes in pieces. It asks
// nobody, and never decides what an answer is worth.
package parts

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// Part is some of the turns, and what has to be kept of these.
type Part struct {
	Turns []abi.PastTurn
	Keep  []abi.KeepItem
}

// Most is what a part may come to.
type Most struct {
	Turns, Keep int // so many of each
	Past        int // what Turn gives, of all its turns together
	All         int // that, and what Item gives of all it has to keep; at least Past
	Turn        func(abi.PastTurn) int
	Item        func(abi.KeepItem) int
	// Twice lets a turn of which more has to be kept than a part can have come again, with the
	// rest. Without it the rest is left out: first what no policy names.
	Twice bool
}

// Request bounds a part by what one request to a module may have, in bytes.
func Request(twice bool) Most {
	return Most{
		Turns: abi.MaxPast, Keep: abi.MaxKeep, Past: abi.MaxPastBytes, All: abi.MaxPastBytes + abi.MaxRequest, // Keep bounds the rest
		Turn: abi.PastTurn.Bytes, Item: func(abi.KeepItem) int { return 0 }, Twice: twice,
	}
}

// Of cuts turns into parts, in their order. Each thing to be kept is in one of them: that
// of its turn, or the first where there is none.
//
// # Errors
//
// CodeTooLarge where not even one letter, or one thing to be kept, has room.
func Of(turns []abi.PastTurn, keep []abi.KeepItem, m Most) ([]Part, error) {
	pieces, err := m.pieces(turns)
	if err != nil {
		return nil, err
	}
	c := cutting{Most: m}
	for i, items := range assign(pieces, keep) {
		if err := c.add(pieces[i], items); err != nil {
			return nil, err
		}
	}
	return c.done(), nil
}

// pieces cuts turns that are too long for a part.
func (m Most) pieces(turns []abi.PastTurn) (all []abi.PastTurn, err error) {
	for _, t := range turns {
		for m.Turn(t) > m.Past {
			at := m.longest(t)
			if at == 0 {
				return nil, abi.Errorf(abi.CodeTooLarge, "turn %d is too long, and has no room even in pieces", t.N)
			}
			if line := strings.LastIndexAny(t.Text[:at], "\n。"); line > at/2 { // better there than in a sentence
				_, width := utf8.DecodeRuneInString(t.Text[line:])
				at = line + width
			}
			piece := t
			piece.Text, t.Text = t.Text[:at], t.Text[at:]
			all = append(all, piece)
		}
		all = append(all, t)
	}
	return all, nil
}

// longest gives how many bytes of a turn's text have room, and looks no further than twice as far.
func (m Most) longest(t abi.PastTurn) int {
	text := t.Text
	fits := func(n int) bool {
		t.Text = text[:whole(text, n)]
		return m.Turn(t) <= m.Past
	}
	far := 64
	for far < len(text) && fits(far) {
		far *= 2
	}
	far = min(far, len(text))
	return whole(text, sort.Search(far, func(n int) bool { return !fits(n + 1) }))
}

// whole gives the last place up to n that is between two letters.
func whole(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// assign gives what has to be kept of each piece.
func assign(pieces []abi.PastTurn, keep []abi.KeepItem) [][]abi.KeepItem {
	of := make([][]abi.KeepItem, len(pieces))
	for _, k := range keep {
		at := -1
		for i, p := range pieces {
			if k.Turn < p.N || k.Turn > max(p.N, p.Upto) {
				continue
			}
			if at < 0 {
				at = i
			}
			if strings.Contains(p.Text, k.Text) {
				at = i
				break
			}
		}
		if at = max(at, 0); at < len(of) {
			of[at] = append(of[at], k)
		}
	}
	return of
}

// cutting is a part that grows, behind those that are done.
type cutting struct {
	Most
	all       []Part
	now       Part
	past, sum int
}

func (c *cutting) done() []Part {
	if len(c.now.Turns) > 0 {
		c.all = append(c.all, c.now)
	}
	c.now, c.past, c.sum = Part{}, 0, 0
	return c.all
}

// add puts a piece, and what has to be kept of it, where they have room.
func (c *cutting) add(t abi.PastTurn, keep []abi.KeepItem) error {
	size, sum := c.Turn(t), 0
	for _, k := range keep {
		sum += c.Item(k)
	}
	if len(c.now.Turns) == c.Turns || len(c.now.Keep)+len(keep) > c.Keep || c.past+size > c.Past || c.sum+size+sum > c.All {
		c.done()
	}
	if !c.Twice {
		keep = slices.Clone(keep)
		slices.SortStableFunc(keep, func(a, b abi.KeepItem) int { return order(a.Policy) - order(b.Policy) })
	}
	c.put(t, size)
	for _, k := range keep {
		n := c.Item(k)
		if len(c.now.Keep) < c.Keep && c.sum+n <= c.All {
			c.now.Keep, c.sum = append(c.now.Keep, k), c.sum+n
			continue
		}
		if !c.Twice {
			continue
		}
		c.done()
		if c.put(t, size); c.sum+n > c.All {
			return abi.Errorf(abi.CodeTooLarge, "%s of turn %d has no room beside its turn", k.ID, t.N)
		}
		c.now.Keep, c.sum = append(c.now.Keep, k), c.sum+n
	}
	return nil
}

func (c *cutting) put(t abi.PastTurn, size int) {
	c.now.Turns, c.past, c.sum = append(c.now.Turns, t), c.past+size, c.sum+size
}

func order(policy bool) int {
	if policy {
		return 0
	}
	return 1
}

// Around gives the entry that stands for turn n, and as many of those next to it as come to
// most, by size; on both sides alike, as far as there are any. Without such an entry there is none.
func Around(history []abi.PastTurn, n uint64, turns, most int, size func(abi.PastTurn) int) []abi.PastTurn {
	at := slices.IndexFunc(history, func(t abi.PastTurn) bool { return t.N <= n && n <= max(t.N, t.Upto) })
	if at < 0 || size(history[at]) > most || turns < 1 {
		return nil
	}
	from, upto, left := at, at+1, most-size(history[at])
	fits := func(i int) bool {
		if i < 0 || i >= len(history) || upto-from == turns || size(history[i]) > left {
			return false
		}
		left -= size(history[i])
		return true
	}
	for before, after := true, true; before || after; {
		if before = before && fits(from-1); before {
			from--
		}
		if after = after && fits(upto); after {
			upto++
		}
	}
	return history[from:upto]
}

// Share is how long a part of a text may be, of a length for all of it: as much as the part is of
// the whole, both in any unit; at least 1.
func Share(length, part, whole int) int {
	if whole < 1 {
		return max(length, 1)
	}
	return max(int(int64(length)*int64(part)/int64(whole)), 1)
}

// Join puts the verdicts on parts together.
func Join(all []abi.Verified) abi.Verified {
	v := abi.Verified{Items: []abi.VerifiedItem{}, Verdict: abi.VerdictYes}
	if len(all) == 0 {
		v.Verdict = abi.VerdictNo
	}
	var said []string
	for _, one := range all {
		v.Items = append(v.Items, one.Items...)
		v.Added = append(v.Added, one.Added...)
		if one.Verdict != abi.VerdictYes {
			v.Verdict = abi.VerdictNo
		}
		if text := strings.TrimSpace(one.Feedback); text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	v.Added = v.Added[:min(len(v.Added), abi.MaxAdded)]
	v.Feedback = strings.Join(said, "\n")
	v.Feedback = v.Feedback[:whole(v.Feedback, min(len(v.Feedback), abi.MaxFeedback))]
	return v
}

// Texts puts what parts were compressed to behind each other.
func Texts(all []abi.Compressed) abi.Compressed {
	var texts []string
	for _, c := range all {
		texts = append(texts, strings.TrimSpace(c.Text))
	}
	return abi.Compressed{Text: strings.Join(texts, "\n")}
}
