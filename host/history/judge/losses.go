package judge

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// MaxLosses is how many losses [Losses] gives.
const MaxLosses = 500

// Losses gives what left with the original and may matter, found without a model: numbers, dates and names that
// are not in the draft, what was denied, promised or asked and is not told so where the draft says the same, and
// numbers, dates and names that only the draft has ("added", first). Each is there once, at most [MaxLosses] in all.
func Losses(turns []abi.PastTurn, text string) []history.Loss {
	losses, _ := LossesWithin(context.Background(), turns, text)
	return losses
}

// LossesWithin is [Losses] for as long as ctx does not end; then it answers its error.
func LossesWithin(ctx context.Context, turns []abi.PastTurn, text string) (losses []history.Loss, err error) {
	d := readDraft(text)
	seen := map[string]bool{}
	lose := func(kind, item string, turn uint64) {
		if key := kind + " " + item; !seen[key] && len(losses) < MaxLosses {
			seen[key] = true
			losses = append(losses, history.Loss{Kind: kind, Item: alike.Clip(item), Turn: turn})
		}
	}
	for _, m := range added(ctx, turns, d) {
		lose("added", m.Text, 0)
	}
	for _, t := range turns {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, s := range marks.Sentences(t.Text) {
			all := marks.Strong(marks.Find(s))
			for _, m := range all {
				if !d.has(m) {
					lose(string(m.Kind), m.Text, t.N)
				}
			}
			if kind := d.leaves(s, all); kind != "" {
				lose(kind, s, t.N)
			}
		}
	}
	return losses, ctx.Err()
}

// leaves says what a sentence does and no like one of the draft: it denies, promises or asks.
func (d *draft) leaves(sentence string, all []marks.Mark) string {
	s := marks.Read(sentence)
	if !s.Negates && !s.Promises && !s.Asks && !s.Unsettled {
		return ""
	}
	f := d.near(alike.Units(sentence), all)
	told := f.alike
	switch {
	case (s.Asks || s.Unsettled) && !(told && f.any(func(p piece) bool { return p.signs.Open || p.signs.Asks || p.signs.Unsettled })):
		return "question"
	case s.Asks || s.Unsettled:
	case s.Negates && !(told && f.any(func(p piece) bool { return p.signs.Negates })):
		return "negation"
	case s.Promises && !(told && f.any(func(p piece) bool { return !p.signs.Done })):
		return "promise"
	}
	return ""
}
