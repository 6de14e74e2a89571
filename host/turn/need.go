package turn

import "github.com/companiond/companiond/host/entry"

const (
	// ripe is how many lost rounds weigh as much as the highest importance does
	// against the lowest.
	ripe = 8
	// highest is the highest importance.
	highest = 10
	// callWeight is what the call of a companion or an agent adds to the
	// importance of whoever it names.
	callWeight = 3
	// parts of a point of importance are told apart.
	parts = 1000
)

// need is what a candidate's wish weighs, as a whole number of 1/(parts*ripe*ripe)
// of a point of importance, so that it is the same on every machine:
//
//	importance + 10*(lost/ripe)^2
//
// The square leaves importance its way for a few rounds, and overrules it then;
// [Bound] says when at the latest.
func need(c entry.Candidate) int64 {
	lost := int64(c.Debt)
	return weight(c)*ripe*ripe + highest*parts*lost*lost
}

// weight is the importance that counts, in thousandths.
func weight(c entry.Candidate) int64 {
	w := milli(c.Importance)
	if c.Called != "" {
		w = min(w+callWeight*parts, highest*parts)
	}
	return w
}

// milli gives an importance in thousandths, within its bounds.
func milli(importance float64) int64 {
	if !(importance > 0) { // also for what is no number
		return 0
	}
	// The conversion keeps a processor from joining the two steps, which would round otherwise.
	return int64(float64(min(importance, highest)*parts) + 0.5)
}

// shown gives a need as it stands in the journal: in points of importance, two
// decimals of them.
func shown(need int64) float64 {
	const hundredth = parts * ripe * ripe / 100
	return float64((need+hundredth/2)/hundredth) / 100
}

// Bound is how many rounds somebody who keeps wishing to speak can lose at most,
// whatever the importances, where as many as wishing, itself included, wish
// meanwhile. It counts as [Input.Lost] does.
//
// With N for ripe and f(x) = 10*(x/N)^2: f is convex and f(0) = 0, so f(a+b) >=
// f(a)+f(b). One that wins after somebody lost c rounds begins again at 0 and stays
// c+1 rounds behind it. Once c+1 >= N it cannot win again before the other, for
// 10+f(x) <= f(x+N), and of equals the one that lost more is first. So there are N-1
// rounds with c from 0 to N-2, and after them each of the others wins once at most:
// N-1 + wishing-1.
func Bound(wishing int) int { return ripe + wishing - 2 }

// Wants says whether a candidate asked for the floor, so that [Bound] holds for it.
// Farewells do not: they are said when nothing else is left.
func Wants(c entry.Candidate) bool {
	return c.Standing == StandingHuman || c.Standing == StandingAddressed || c.Standing == StandingSpeak
}

// Asked says whether a candidate goes before others because a human addressed it. What a
// companion or an agent calls only weighs more.
func Asked(c entry.Candidate) bool {
	return c.Standing == StandingAddressed || c.Standing == StandingLate || c.Standing == StandingAsked
}

// bound gives the bound for a candidate of a ranking. Where more wished in
// earlier rounds, it may have lost more than those of this one could take from it.
func bound(ranking []entry.Candidate, c entry.Candidate) int {
	wishing := 0
	for _, other := range ranking {
		if Wants(other) {
			wishing++
		}
	}
	return max(Bound(wishing), c.Debt)
}

// outweighed gives the place of the one with the most importance among those of
// the first's standing who have more than it, -1 where there is none: then it was
// not its waiting that put it first.
func outweighed(ranking []entry.Candidate) int {
	most, at := weight(ranking[0]), -1
	for i, c := range ranking[1:] {
		if c.Standing != ranking[0].Standing {
			break
		}
		if w := weight(c); w > most {
			most, at = w, i+1
		}
	}
	return at
}
