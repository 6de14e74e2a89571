package compress

import (
	"cmp"
	"context"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
)

// fit gives terms a length where they have none, and refuses those that cannot be met, before anybody is asked for anything: what is cheap to
// know first, for very many turns are gone through for many seconds.
func (s *Service) fit(ctx context.Context, ask *history.Ask, turns []abi.PastTurn, text string) error {
	given := ask.Length != (history.Length{})
	if given {
		if err := cmp.Or(longer(*ask, turns), s.room(*ask, turns, text)); err != nil {
			return err
		}
	}
	named, err := held(ctx, *ask, turns)
	if err != nil {
		return err
	}
	if !given {
		ask.Length = usual(turns, named, 0)
		return s.room(*ask, turns, text)
	}
	if need := letters(named, ask.Length.Unit); text == "" && need/dense > ask.Length.N+ask.Length.N/10 {
		return abi.Field("target_length", abi.CodeTooLarge, "what the policy names in turns %s comes to %d %s there, which cannot be told in %d: ask for %d, or name less", ask.Turns, need, ask.Length.Unit, ask.Length.N, needs(need))
	}
	return nil
}

// room refuses what a verifier could never see whole: a draft of this length, or from outside, that has no room in its context.
func (s *Service) room(ask history.Ask, turns []abi.PastTurn, text string) error {
	if s.cfg.Longest == nil {
		return nil
	}
	most, known := s.cfg.Longest(ask.Verifier, ask.Policy)
	switch {
	case !known:
	case text != "":
		if n := judge.Size(text, history.Tokens); n > most {
			return abi.Field("text", abi.CodeTooLarge, "it comes to some %d tokens, and %s has room for %d of a draft beside the policy and the turns: write a shorter one, or let %s verify it", n, ask.Verifier, most, Extract)
		}
	default:
		each := perLetter(turns, ask.Length.Unit)
		if fits := int(float64(most) / each); ask.Length.N > fits {
			return abi.Field("target_length", abi.CodeTooLarge, "%d %s are more than %s has room for beside the policy and the turns: ask for %d at most%s", ask.Length.N, ask.Length.Unit, ask.Verifier, fits, fewer(ask, turns, fits))
		}
	}
	return nil
}

// longer refuses a length that is more than the turns say: what they are told as is to be shorter.
func longer(ask history.Ask, turns []abi.PastTurn) error {
	n := spoken(turns, ask.Length.Unit)
	if ask.Length.N <= max(n, shortest) {
		return nil
	}
	return abi.Field("target_length", abi.CodeInvalid, "%d %s are more than turns %s come to, which is %d with who said them: ask for fewer", ask.Length.N, ask.Length.Unit, ask.Turns, n)
}

// spoken is how long turns are, written down with their numbers and who said them.
func spoken(turns []abi.PastTurn, unit history.Unit) (n int) {
	for _, t := range turns {
		n += judge.Size(fmt.Sprintf("[%d] %s: %s\n", t.N, t.From, t.Text), unit)
	}
	return n
}

// first is how many turns are gone through before all of very many are: where these alone have twice as much as a draft is held to, the
// rest, which takes long, makes no difference.
const first = 1000

// held refuses turns of which a policy names more than a draft is held to: what is not on the list could leave unseen.
func held(ctx context.Context, ask history.Ask, turns []abi.PastTurn) (named []abi.KeepItem, err error) {
	r, least := ask.Turns, abi.MaxKeep
	if len(turns) > first {
		r.To, least = max(turns[first-1].N, turns[first-1].Upto), 2*abi.MaxKeep
		named, err = keep.Named(ctx, turns[:first], ask.Policy)
	}
	if err == nil && len(named) <= least {
		r, least = ask.Turns, abi.MaxKeep
		named, err = keep.Named(ctx, turns, ask.Policy)
	}
	if err != nil || len(named) <= least {
		return named, err
	}
	upto, fewer := named[abi.MaxKeep].Turn-1, ""
	if upto >= r.From {
		fewer = ", or take fewer turns at once, " + history.Range{From: r.From, To: upto}.String()
	}
	return nil, abi.Field("turns", abi.CodeTooLarge, "the policy names %d things in turns %s, and a draft is held to %d at most: name less%s", len(named), r, abi.MaxKeep, fewer)
}

// What the policy names is told in fewer letters than it was said in, but hardly in less than two thirds of them: good drafts by hand, with all that
// is in them besides, come to .7 to 1.9 of it.
const (
	dense = 2 // in one part of so many of its letters it cannot be told
	spare = 4 // a quarter more than its letters does
)

// letters is how long what a policy names is as it was said.
func letters(named []abi.KeepItem, unit history.Unit) (n int) {
	for _, k := range named {
		n += judge.Size(k.Text, unit)
	}
	return n
}

// needs is how long a draft may be so that things which are so long as they were said have room in it.
func needs(long int) int { return long + long/spare }

// fits says whether a draft of some length has room for what a policy names, for which a model is asked and paid: nobody looks at that before.
func fits(named []abi.KeepItem, l history.Length) bool {
	return letters(named, l.Unit) <= l.N+l.N/10
}

// perLetter is how many tokens a letter of these turns comes to; 1 where a length is in tokens.
func perLetter(turns []abi.PastTurn, unit history.Unit) float64 {
	if unit == history.Tokens {
		return 1
	}
	n := 0
	for _, t := range turns {
		n += judge.Size(t.Text, history.Tokens)
	}
	return max(float64(n)/float64(max(characters(turns), 1)), .1)
}

// fewer says which turns would fit, told as short as all of them were to be.
func fewer(ask history.Ask, turns []abi.PastTurn, fits int) string {
	all, n := 0, 0
	for _, t := range turns {
		all += judge.Size(t.Text, ask.Length.Unit)
	}
	upto := uint64(0)
	for _, t := range turns {
		if n += judge.Size(t.Text, ask.Length.Unit); float64(n)*float64(ask.Length.N) > float64(all)*float64(fits) {
			break
		}
		upto = max(t.N, t.Upto)
	}
	if upto == 0 {
		return ""
	}
	return ", or take fewer turns at once, " + history.Range{From: ask.Turns.From, To: upto}.String()
}
