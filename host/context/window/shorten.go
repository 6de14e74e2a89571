package window

import (
	"fmt"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/tokens"
)

// tokensOfMark is what the mark of what was left out comes to at most.
const tokensOfMark = 24

// Shorten leaves out the middle of a text so that it comes to no more than so many tokens, and
// says there how much is missing. kept is how many of its letters stayed.
func Shorten(text string, most int, meter *tokens.Meter) (short string, kept int) {
	all := []rune(text)
	lo, hi := 0, len(all) // of letters that stay
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if meter.Tokens(tokens.Of(string(all[:mid-mid/3])).Plus(tokens.Of(string(all[len(all)-mid/3:])))) <= most {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return Shortened(text, lo)
}

// Shortened is what Shorten makes of a text of which so many letters stay, two thirds of them at
// its beginning.
func Shortened(text string, letters int) (short string, kept int) {
	all := []rune(text)
	if letters >= len(all) {
		return text, len(all)
	}
	head, tail := string(all[:letters-letters/3]), string(all[len(all)-letters/3:])
	return fmt.Sprintf("%s … [%d letters left out] … %s", head, len(all)-letters, tail), letters
}

// Newest gives as many of the newest messages as come to no more than so many tokens, guessed
// by a meter. The newest is always there, shortened where it alone is too long.
func Newest(all []abi.Message, budget, overhead int, meter *tokens.Meter) []abi.Message {
	t := Terms{Budget: budget, Meter: meter, Overhead: overhead}
	n, first := 0, len(all)
	for ; first > 0; first-- {
		if n += meter.Tokens(t.size(all[first-1])); n > budget {
			break
		}
	}
	if first < len(all) || len(all) == 0 {
		return all[first:]
	}
	last := slices.Clone(all[len(all)-1:])
	last[0].Text, _ = Shorten(last[0].Text, budget-meter.Tokens(t.size(abi.Message{From: last[0].From}))-tokensOfMark, meter)
	return last
}
