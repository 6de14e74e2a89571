package turn

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/companiond/companiond/host/entry"
)

// maxReason bounds what a reason quotes of somebody's own words, in runes.
const maxReason = 60

// grantReason says in one sentence why first holds the floor; second is the
// next that could have had it, or nobody.
func grantReason(in Input, r Ruling, first, second entry.Candidate) string {
	switch r.Rule {
	case entry.RuleHuman:
		return first.Who + " is human and wants to speak" + alsoWant(r, first)
	case entry.RuleAddressed:
		if first.Standing == StandingLate {
			return fmt.Sprintf("%s was addressed by %s, a human, and is asked though it did not vote in time%s", first.Who, in.Round.From.ID, alsoWant(r, first))
		}
		return first.Who + " was addressed and wants to speak" + alsoWant(r, first)
	case entry.RuleAsked:
		return fmt.Sprintf("nobody else wants to speak; %s, a human, addressed %s, which is asked though it would rather listen", in.Round.From.ID, first.Who)
	case entry.RuleSilence:
		return "nobody wants to speak; " + first.Who + " is asked to break the silence"
	case entry.RuleSpeak:
		return speakReason(first, second)
	}
	return sameStanding(first.Standing) + compared(in, r, first, second)
}

// speakReason is for the only one, or the only kind, that wants to speak.
func speakReason(first, second entry.Candidate) string {
	switch {
	case first.Standing == StandingTerminal:
		return "only a farewell is left, and " + first.Who + " wants to say it"
	case second.Standing == StandingAsked:
		return first.Who + " wants to speak; " + second.Who + " was addressed but would rather listen"
	case second.Standing == StandingTerminal:
		return first.Who + " wants to speak; " + second.Who + " only wants to say farewell"
	}
	return "only " + first.Who + " wants to speak"
}

// sameStanding opens the sentence when two of one standing are compared.
func sameStanding(standing string) string {
	switch standing {
	case StandingHuman:
		return "both are human; "
	case StandingAddressed, StandingLate:
		return "both were addressed; "
	case StandingTerminal:
		return "only farewells are left; "
	}
	return ""
}

// compared says what decides between two candidates of one standing.
func compared(in Input, r Ruling, a, b entry.Candidate) string {
	switch r.Rule {
	case entry.RuleImportance:
		though := ""
		if b.Debt > a.Debt {
			though = fmt.Sprintf(", though %s lost %s", b.Who, lostRounds(r.Ranking, b))
		}
		return fmt.Sprintf("%s's importance %s is above %s's %s%s", a.Who, importance(a), b.Who, importance(b), though)
	case entry.RuleWaited:
		return fmt.Sprintf("%s lost %s and %s %d, which outweighs importance %s against %s", a.Who, lostRounds(r.Ranking, a), b.Who, b.Debt, importance(a), importance(b))
	case entry.RuleDebt:
		return fmt.Sprintf("equal importance %s; %s lost %s, %s %d", equal(a, b), a.Who, lostRounds(r.Ranking, a), b.Who, b.Debt)
	}
	return fmt.Sprintf("equal importance %s, both lost %s; the draw of round %d put %s before %s", equal(a, b), Count(a.Debt, "round"), in.Round.ID, a.Who, b.Who)
}

// importance gives the importance that counts, with what a call added to it: "5+3".
func importance(c entry.Candidate) string {
	if more := weight(c) - milli(c.Importance); more > 0 {
		return num(c.Importance) + "+" + num(float64(more)/parts)
	}
	return num(c.Importance)
}

// equal gives two importances that count as the same.
func equal(a, b entry.Candidate) string {
	one, other := importance(a), importance(b)
	if one == other {
		return one
	}
	return one + " and " + other
}

// lostRounds says how many rounds somebody lost, "5 of at most 9 rounds" where
// there is a bound.
func lostRounds(ranking []entry.Candidate, c entry.Candidate) string {
	if !Wants(c) {
		return Count(c.Debt, "round")
	}
	return fmt.Sprintf("%d of at most %s", c.Debt, Count(bound(ranking, c), "round"))
}

// alsoWant names the others who want to speak, at most three.
func alsoWant(r Ruling, first entry.Candidate) string {
	var who []string
	for _, c := range r.Ranking {
		if Wants(c) && c.Who != first.Who {
			who = append(who, c.Who)
		}
	}
	switch n := len(who); {
	case n == 0:
		return ""
	case n == 1:
		return "; " + who[0] + " wants to speak too"
	case n > 3:
		who = append(who[:2:2], strconv.Itoa(n-2)+" others")
	}
	last := len(who) - 1
	return "; " + strings.Join(who[:last], ", ") + " and " + who[last] + " want to speak too"
}

// silenceReason says how many listened, why where all do for the same reason, and who was absent and why.
func silenceReason(in Input, ranking []entry.Candidate) string {
	listened, absent, all := 0, []string(nil), ""
	for _, c := range ranking {
		said := in.Round.Ballots[c.Who].Vote.Reason
		switch {
		case c.Standing == StandingAbsent:
			absent = append(absent, c.Who+" ("+brief(c.Note, maxReason)+")")
			continue
		case listened == 0:
			all = said
		case all != said:
			all = ""
		}
		listened++
	}
	if all = brief(all, maxReason); all != "" { // a bound on calls, for example
		all = " (" + all + ")"
	}
	if len(absent) > 5 {
		absent = append(absent[:4:4], strconv.Itoa(len(absent)-4)+" others")
	}
	switch {
	case len(ranking) == 0:
		return "nobody is there to speak"
	case listened == 0:
		return "nobody could vote, absent: " + strings.Join(absent, ", ")
	case len(absent) == 0:
		return fmt.Sprintf("nobody wants to speak: %d listened%s", listened, all)
	}
	return fmt.Sprintf("nobody wants to speak: %d listened%s, absent: %s", listened, all, strings.Join(absent, ", "))
}

func cappedReason(in Input) string {
	return fmt.Sprintf("companions have spoken %s since a human last spoke, and %d is the cap", Count(in.Turns, "time"), in.MaxTurns)
}

// Count puts a number before what it is of.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Taken says how many turns were.
func Taken(n int) string {
	if n == 1 {
		return "1 turn was taken"
	}
	return Count(n, "turn") + " were taken"
}

func num(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// brief puts somebody's words on one line of at most limit runes, without
// anything a terminal would act on.
func brief(s string, limit int) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = n > 0
			continue
		case !unicode.IsGraphic(r):
			continue
		}
		if n+1 >= limit {
			return b.String() + "…"
		}
		if gap {
			b.WriteByte(' ')
			n, gap = n+1, false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
