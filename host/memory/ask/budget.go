package ask

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
	"github.com/companiond/companiond/host/model/tokens"
)

// Budget is what a model takes at once.
type Budget struct {
	Context int           // tokens that a prompt may come to; the answer has room in it too
	Meter   *tokens.Meter // guesses them
}

// The shares of what the rules leave of a budget. The rest of it is for the answer.
const (
	turnsShare = .5
	knownShare = .25
	humanShare = .75  // of the turns' room, that one of a person may have
	otherShare = .125 // and one of somebody else, of whom no more than two stand before it
)

const (
	instruction = 60  // what an endpoint is told of the schema that cannot be held to one, in tokens
	perLine     = 2   // what a line takes beside its words: rounding, and the line's end
	least       = 100 // tokens, of the turns' room
)

// line guesses what a line comes to.
func (b Budget) line(v any) int { return b.Meter.Tokens(tokens.Of(quote.JSON(v))) + perLine }

// rest is what the rules leave of a budget.
func (b Budget) rest() int {
	all := int(float64(b.Context) * (1 - b.Meter.Reserve()))
	return all - b.Meter.Tokens(tokens.Of(system).Plus(tokens.Of(string(schema())))) - instruction - b.line(taskLine{task})
}

// room is for turns.
func (b Budget) room() int { return max(int(float64(b.rest())*turnsShare), least) }

// most is how many tokens a turn may have.
func (b Budget) most(room int, t fact.Turn) int {
	if t.By == abi.KindHuman {
		return int(float64(room) * humanShare)
	}
	return int(float64(room) * otherShare)
}

// Part gives how many of some turns, from the first, are to be asked about at once: it ends with a turn of a person, and
// has one at least. No more than two turns of others stand before each, and none at the end. All of them are one part where there is room, or nobody is a person.
func (b Budget) Part(turns []fact.Turn) (n int) {
	room, told := b.room(), 0
	for i, t := range turns {
		told += b.line(lineOf(b.shortened(room, t)))
		if t.By != abi.KindHuman {
			continue
		}
		if n > 0 && told > room {
			return n
		}
		n = i + 1
	}
	return len(turns)
}

// shortened leaves out the middle of a turn that is too long.
func (b Budget) shortened(room int, t fact.Turn) fact.Turn {
	told := func(text string) int {
		u := t
		u.Text = text
		return b.line(lineOf(u))
	}
	if most := b.most(room, t); told(t.Text) > most {
		t.Text, _ = window.Fit(t.Text, most, b.Meter, told)
	}
	return t
}

// fitting gives what of all that is known has to do with turns, then what is known of those who speak, and then the
// rest, the newest of each first, as far as there is room.
func (b Budget) fitting(known []fact.Fact, turns []fact.Turn) (told []fact.Fact) {
	said, speak := map[string]bool{}, map[string]bool{}
	for _, t := range turns {
		speak[t.From] = true
		for _, w := range wording.Words(t.Text) {
			said[w] = true
		}
	}
	far := func(f fact.Fact) int {
		switch {
		case slices.ContainsFunc(f.Keys, func(key string) bool { return said[wording.Fold(key)] }):
			return 0
		case speak[f.SaidBy]:
			return 1
		}
		return 2
	}
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(f, g fact.Fact) int {
		return cmp.Or(cmp.Compare(far(f), far(g)), g.Confirmed.Compare(f.Confirmed))
	})
	left := int(float64(b.rest()) * knownShare)
	for _, f := range known {
		if n := b.line(knownLine{f.Text, f.SaidBy}); n <= left {
			told, left = append(told, f), left-n
		}
	}
	return told
}
