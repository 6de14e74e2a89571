package window

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/tokens"
)

// tokensOfMark is what the mark of what was left out comes to at most.
const tokensOfMark = 24

// Ends are how many bytes of a text stay: of its beginning, and of its end.
type Ends [2]int

// Shorten leaves out the middle of a text so that its ends come to no more than so many tokens,
// and says there how much is missing. A text that fits stays as it is, and so does one that would not be
// shorter with the mark: no more is left out than stands in its place.
func Shorten(text string, most int, meter *tokens.Meter) (short string, left Ends) {
	all := tokens.Of(text)
	for _, goal := range []int{most, max(most-tokensOfMark, most/2)} {
		head, tail := tokens.Cut(text, goal, meter)
		if left = (Ends{len(head), len(tail)}); left[0]+left[1] >= len(text) {
			break
		}
		if short = Shortened(text, left); meter.Tokens(tokens.Of(short)) < meter.Tokens(all) {
			return short, left
		}
	}
	return text, Ends{len(text), 0}
}

// leastText is how many tokens of a text stay at least.
const leastText = 12

// Fit shortens a text so that it comes to no more than so many tokens as it is told: what is escaped there takes more
// than its letters. A few of them stay whatever else is told with it.
func Fit(text string, most int, meter *tokens.Meter, told func(text string) int) (short string, ends Ends) {
	left := max(most-told("")-tokensOfMark, leastText)
	for {
		short, ends = Shorten(text, left, meter)
		over := told(short) - most
		if over <= 0 || left == leastText {
			return short, ends
		}
		left = max(left-over, leastText)
	}
}

// Shortened is what Shorten makes of a text of which these ends stay.
func Shortened(text string, left Ends) string {
	if left[0]+left[1] >= len(text) {
		return text
	}
	head, tail := text[:left[0]], text[len(text)-left[1]:]
	return fmt.Sprintf("%s … [%d letters left out] … %s", head, missing(text, left), tail)
}

// missing counts the letters between the ends.
func missing(text string, left Ends) int {
	return utf8.RuneCountInString(text[left[0] : len(text)-left[1]])
}

// Newest gives as many of the newest messages as come to no more than so many tokens, guessed
// by a meter. The newest is always there, shortened where it alone is too long.
func Newest(all []abi.Message, budget, overhead int, meter *tokens.Meter) []abi.Message {
	t := Terms{Budget: budget, Meter: meter, Overhead: overhead}
	n, first := 0, len(all)
	for ; first > 0; first-- {
		if n += meter.Tokens(t.size(all[first-1], nil)); n > budget {
			break
		}
	}
	if first < len(all) || len(all) == 0 {
		return all[first:]
	}
	last := slices.Clone(all[len(all)-1:])
	last[0].Text, _ = Shorten(last[0].Text, budget-meter.Tokens(t.size(abi.Message{From: last[0].From}, nil))-tokensOfMark, meter)
	return last
}
