package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/companiond/companiond/host/entry"
)

// Explain tells a decision to a person, in several lines: how the round ended,
// by which rule, and the whole ranking as a table. `companiond why` prints it.
func Explain(d entry.Decision) string {
	var b strings.Builder
	from, seq := "round", d.Round
	if d.Wish != 0 {
		from, seq = "wish", d.Wish
	}
	fmt.Fprintf(&b, "%s %d: %s\n", from, seq, outcomeWords(d))
	if d.Rule != "" {
		fmt.Fprintf(&b, "rule:    %s (%s)\n", d.Rule, cmp.Or(ruleWords[d.Rule], "unknown rule"))
	}
	if d.Reason != "" {
		fmt.Fprintf(&b, "reason:  %s\n", d.Reason)
	}
	switch {
	case len(d.Ranking) > 0:
	case d.Outcome == entry.OutcomeSuperseded || d.Outcome == entry.OutcomeStopped:
		b.WriteString("nothing was decided by votes\n")
		return b.String()
	default:
		b.WriteString("nobody was asked to vote\n")
		return b.String()
	}
	b.WriteByte('\n')
	writeTable(&b, rankingRows(d))
	return b.String()
}

func outcomeWords(d entry.Decision) string {
	switch d.Outcome {
	case entry.OutcomeGrant:
		if d.Grant != nil {
			return fmt.Sprintf("%s holds the floor (grant %s, basis %d)", d.Speaker, d.Grant.Token, d.Grant.Basis)
		}
		return d.Speaker + " holds the floor"
	case entry.OutcomeSilence:
		return "silence, nobody holds the floor"
	case entry.OutcomeAbsent:
		return "nobody could vote, the turn stays unanswered"
	case entry.OutcomeClosed:
		return "the talk is closed"
	case entry.OutcomeCapped:
		return "capped, companions wait for a human"
	case entry.OutcomeStopped:
		return "stopped by a human"
	case entry.OutcomeWaits:
		return "waits for the pool until " + d.Until.UTC().Format("15:04:05.000")
	case entry.OutcomeSuperseded:
		return "superseded, something newer was said"
	}
	return "unknown outcome " + strconv.Quote(string(d.Outcome))
}

var ruleWords = map[entry.Rule]string{
	entry.RuleHuman:      "a human goes before everybody",
	entry.RuleAddressed:  "who was addressed goes before who was not",
	entry.RuleSpeak:      "nobody else of the same or a better standing wants to speak",
	entry.RuleImportance: "same standing, the higher importance goes first",
	entry.RuleWaited:     "same standing, importance and the rounds lost together decide",
	entry.RuleDebt:       "same importance, who has waited longer goes first",
	entry.RuleHash:       "same in everything, a draw seeded by room and round",
	entry.RuleAsked:      "nobody wants to speak, whom a human addressed is asked",
	entry.RuleSilence:    "nobody speaks, the silence breaker asks the best listener",
	entry.RulePerceived:  "who perceives something speaks when nobody has the floor and no human waits",
	entry.RuleNext:       "the one before failed or passed, the floor is handed down the ranking",
}

// rankingRows gives the table's cells, the heading first. A decision without any
// need is one of the rules before version 3, which had no bound either, and is told
// as it was then; or there was nothing to weigh.
func rankingRows(d entry.Decision) [][]string {
	weighed := slices.ContainsFunc(d.Ranking, func(c entry.Candidate) bool { return c.Need != 0 })
	rows := [][]string{{"", "#", "who", "standing", "importance", "waited", "draw", "closing", "note"}}
	if weighed {
		rows[0] = []string{"", "#", "who", "standing", "importance", "lost", "need", "draw", "closing", "note"}
	}
	for i, c := range d.Ranking {
		mark, closing := "", string(c.Closing)
		if c.Who == d.Speaker && d.Outcome == entry.OutcomeGrant {
			mark = ">"
		}
		if c.Closing.Stage() == 0 {
			closing = "-"
		}
		weighs, need, lost := importance(c), num(c.Need), strconv.Itoa(c.Debt)
		if c.Standing == StandingAbsent || c.Late {
			weighs, closing = "-", "-"
		}
		if c.Standing == StandingAbsent {
			need = "-"
		}
		row := []string{mark, strconv.Itoa(i + 1), c.Who, c.Standing, weighs}
		switch {
		case !weighed:
			row = append(row, lost)
		case Wants(c):
			row = append(row, fmt.Sprintf("%s of at most %d", lost, bound(d.Ranking, c)), need)
		default:
			row = append(row, lost, need)
		}
		rows = append(rows, append(row, c.Hash, closing, brief(c.Note, maxNote)))
	}
	return rows
}

// writeTable writes rows with columns aligned on a terminal.
func writeTable(b *strings.Builder, rows [][]string) {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], cells(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", wide[i]-cells(cell)) + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// cells is how many columns of a terminal s takes: Japanese letters take two,
// combining marks none.
func cells(s string) int {
	n := 0
	for _, r := range s {
		switch k := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
