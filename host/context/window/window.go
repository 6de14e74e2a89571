// Package window keeps which part of a room's history a mind is told: it grows with the talk,
// and where it is full its beginning is cut off, a good deal at a time, so that what a model
// has read before stays as it was from one request to the next.
//
// It never decides what is said about the messages, and keeps nothing that the journal does
// not have.
package window

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/tokens"
)

// keep is the share of a full window that is left when its beginning is cut off. Measured: a
// window that slides with each turn has 56 % of a prompt in the model's cache, and this one 89.
const keep = .6

// Source gives messages of a room, as history.get does.
type Source func(ctx context.Context, ask abi.HistoryAsk) (abi.History, error)

// Terms are how a window is to be.
type Terms struct {
	Budget int           // tokens
	Meter  *tokens.Meter // guesses them
	// Overhead is what a message takes besides its text and the name of who said it.
	Overhead int
	// Line measures a message as it is told behind another, nil for one of which that is not known; nil:
	// by its words and Overhead.
	Line func(m abi.Message, before *abi.Message) tokens.Size
	// Human says who is a person: the newest turn of one is always there.
	Human func(id string) bool
}

// Told is a part of a history.
type Told struct {
	Messages  []abi.Message     // oldest first
	Shortened map[uint64]Ends   // of which the middle is left out
	Whole     map[uint64]string // what these say
	Pinned    uint64            // seq of the first, where it is an older turn of a person; others lie between
	Left      bool              // there are older ones
	Head      uint64            // seq of the newest entry of the room
	Tokens    int
}

// Window is one of a room and a mind. The zero value has seen nothing. It is safe for
// concurrent use.
type Window struct {
	mu    sync.Mutex
	told  []abi.Message
	sizes []tokens.Size
	left  bool
	human *abi.Message // the newest turn of a person, where it is older than all that is told
	laid  uint64       // what the past is told as, see abi.History

	wide   map[uint64]int // tokens that messages longer than half of a window may have, by seq
	widest uint64         // seq of the newest that was thought of for that
}

// Tell reads on and gives what is to be told now.
func (w *Window) Tell(ctx context.Context, from Source, t Terms) (Told, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	head, err := w.read(ctx, from, t)
	if err != nil {
		return Told{}, err
	}
	newest := len(w.told) - 1
	for newest >= 0 && !t.turn(w.told[newest]) {
		newest--
	}
	if newest >= 0 {
		w.human = nil
	}
	if w.total(t) > t.Budget {
		if w.wide = nil; w.total(t) > t.Budget {
			w.cut(t, newest)
		}
	}
	w.widen(t)
	return w.give(t, head), nil
}

// widen gives a message that came last and is longer than half of a window what others leave of it.
// That is over where it is needed, and does not come back: what was told stays as it was otherwise.
func (w *Window) widen(t Terms) {
	n := len(w.told)
	if n == 0 || w.told[n-1].Seq <= w.widest {
		return
	}
	w.widest = w.told[n-1].Seq
	if rest := t.Budget - w.total(t); rest > 0 && t.Meter.Tokens(w.sizes[n-1]) > t.most() {
		if w.wide == nil {
			w.wide = map[uint64]int{}
		}
		w.wide[w.widest] = t.most() + rest
	}
}

// read takes what came since the last time. The newest messages are read again each time:
// people may have heard less of one than was said.
func (w *Window) read(ctx context.Context, from Source, t Terms) (head uint64, err error) {
	page, err := from(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
	if err != nil {
		return 0, err
	}
	if page.Laid != w.laid { // some of what was told is told otherwise
		w.told, w.sizes, w.human, w.laid, w.wide = nil, nil, nil, page.Laid, nil
	}
	fresh := slices.Clone(page.Messages)
	if w.overlaps(fresh) && fresh[0].Seq <= w.told[0].Seq { // all that is told was read again
		fresh = slices.DeleteFunc(fresh, func(m abi.Message) bool { return m.Seq < w.told[0].Seq })
		w.told, w.sizes = fresh, w.sizesOf(fresh, t)
		return page.Head, nil
	}
	sizes := w.sizesOf(fresh, t)
	full := len(page.Messages) == abi.MaxHistory // there may be more before
	for full && !w.overlaps(fresh) && t.Meter.Tokens(sum(sizes)) < t.Budget {
		older, err := from(ctx, abi.HistoryAsk{Before: fresh[0].Seq, Limit: abi.MaxHistory})
		if err != nil {
			return 0, err
		}
		full = len(older.Messages) == abi.MaxHistory
		sizes = append(w.sizesOf(older.Messages, t), sizes...)
		fresh = append(slices.Clone(older.Messages), fresh...)
	}
	if !w.overlaps(fresh) {
		w.told, w.sizes, w.left, w.human = fresh, sizes, full, nil
		return page.Head, nil
	}
	at := w.index(fresh[0].Seq)
	w.told, w.sizes = append(w.told[:at:at], fresh...), append(w.sizes[:at:at], sizes...)
	return page.Head, nil
}

// sizesOf measures messages. One that is known, and as it was, is not measured again.
func (w *Window) sizesOf(all []abi.Message, t Terms) []tokens.Size {
	sizes := make([]tokens.Size, len(all))
	var before *abi.Message
	for i, m := range all {
		sizes[i] = w.sizeOf(m, before, t)
		before = &all[i]
	}
	return sizes
}

func (w *Window) sizeOf(m abi.Message, before *abi.Message, t Terms) tokens.Size {
	if at := w.index(m.Seq); at < len(w.told) && w.told[at].Seq == m.Seq && w.told[at].Text == m.Text {
		return w.sizes[at]
	}
	return t.size(m, before)
}

func sum(all []tokens.Size) (s tokens.Size) {
	for _, one := range all {
		s = s.Plus(one)
	}
	return s
}

// overlaps says whether messages, which reach to the newest, go on where the known ones end.
func (w *Window) overlaps(fresh []abi.Message) bool {
	if len(w.told) == 0 || len(fresh) == 0 {
		return false
	}
	return fresh[0].Seq <= w.told[len(w.told)-1].Seq && fresh[len(fresh)-1].Seq >= w.told[0].Seq
}

func (w *Window) index(seq uint64) int {
	i, _ := slices.BinarySearchFunc(w.told, seq, func(m abi.Message, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	return i
}

// size is what all of a message comes to.
func (t Terms) size(m abi.Message, before *abi.Message) tokens.Size {
	if t.Line != nil {
		return t.Line(m, before)
	}
	return tokens.Of(m.Text).Plus(tokens.Of(m.From)).Plus(tokens.Size{Rest: float64(t.Overhead)})
}

// most is how long one message may be, so that there is place for another.
func (t Terms) most() int { return t.Budget / 2 }

// most is how long a message may be.
func (w *Window) most(seq uint64, t Terms) int { return max(t.most(), min(w.wide[seq], t.Budget)) }

func (w *Window) cost(i int, t Terms) int {
	return min(t.Meter.Tokens(w.sizes[i]), w.most(w.told[i].Seq, t))
}

func (w *Window) total(t Terms) (n int) {
	var s tokens.Size
	for i := range w.sizes {
		if most := w.most(w.told[i].Seq, t); t.Meter.Tokens(w.sizes[i]) > most {
			n += most
			continue
		}
		s = s.Plus(w.sizes[i])
	}
	n += t.Meter.Tokens(s)
	if w.human != nil {
		n += min(t.Meter.Tokens(t.size(*w.human, nil)), t.most())
	}
	return n
}

// turn says whether a message is a turn of a person.
func (t Terms) turn(m abi.Message) bool { return t.Human(m.From) && m.Kind != abi.KindBackchannel }

// cut takes the oldest away until no more is left than stays for long. The newest stays in
// any case, and so does the newest turn of a person, which is the one at index newest, or
// pinned already.
func (w *Window) cut(t Terms, newest int) {
	n := w.total(t)
	least := int(float64(t.Budget) * keep)
	drop := 0
	for ; drop < len(w.told)-1 && n > least; drop++ {
		if drop == newest {
			w.human = &w.told[drop]
			continue
		}
		n -= w.cost(drop, t)
	}
	if drop > 0 {
		w.left = true
		w.told, w.sizes = slices.Clone(w.told[drop:]), slices.Clone(w.sizes[drop:])
	}
}

// give shortens what is too long.
func (w *Window) give(t Terms, head uint64) Told {
	told := Told{Left: w.left, Head: head, Shortened: map[uint64]Ends{}, Whole: map[uint64]string{}}
	all := w.told
	if w.human != nil {
		told.Pinned = w.human.Seq
		all = append([]abi.Message{*w.human}, all...)
	}
	told.Messages = make([]abi.Message, len(all))
	for i, m := range all {
		if most := w.most(m.Seq, t); t.Meter.Tokens(w.sizeOf(m, nil, t)) > most {
			told.Whole[m.Seq] = m.Text
			m.Text, told.Shortened[m.Seq] = t.shorten(m, most)
		}
		told.Messages[i] = m
	}
	return told
}

// shorten shortens a message so that it comes to no more than so many tokens as it is told.
func (t Terms) shorten(m abi.Message, most int) (text string, ends Ends) {
	return Fit(m.Text, most, t.Meter, func(text string) int {
		told := m
		told.Text = text
		return t.Meter.Tokens(t.size(told, nil))
	})
}
