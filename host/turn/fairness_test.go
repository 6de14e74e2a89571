package turn

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// heard counts a round as Input.Lost says, once somebody of its ranking was heard.
func heard(lost map[string]int, ranking []entry.Candidate, speaker string) {
	counts := !slices.ContainsFunc(ranking, func(c entry.Candidate) bool {
		return c.Who == speaker && (c.Standing == StandingHuman || c.Standing == StandingAddressed || c.Standing == StandingAsked)
	})
	for _, c := range ranking {
		switch {
		case c.Who == speaker || c.Standing == StandingListen:
			lost[c.Who] = 0
		case counts && Wants(c):
			lost[c.Who]++
		}
	}
}

// TestTheWorstAdversary tries everything that others could vote (0, 5, 10 or to
// listen, round for round) against one that always wants to speak and calls it
// unimportant, and that loses every draw: it loses as many rounds as the bound
// says, and never one more.
func TestTheWorstAdversary(t *testing.T) {
	for n := 2; n <= 4; n++ {
		ids := []string{"victim", "a", "b", "c"}[:n]
		r := newRig(ids...)
		for slices.ContainsFunc(ids[1:], func(id string) bool {
			return draw(r.in.Seed, r.in.Round.ID, id) > draw(r.in.Seed, r.in.Round.ID, "victim")
		}) {
			r.in.Round.ID++
		}
		votes := []abi.Vote{speak(0), speak(5), speak(10), listen(0)}
		known := map[[4]int]int{}
		var worst func(lost [4]int) int
		worst = func(lost [4]int) int {
			if most, ok := known[lost]; ok {
				return most
			}
			if lost[0] > Bound(n) {
				t.Fatalf("of %d the victim lost %d rounds, the bound is %d", n, lost[0], Bound(n))
			}
			most := lost[0]
			for play := range 1 << (2 * (n - 1)) { // two bits for each other's vote
				r.in.Round.Ballots["victim"] = Ballot{Vote: speak(0)}
				for i, id := range ids {
					if r.in.Lost[id] = lost[i]; i > 0 {
						r.in.Round.Ballots[id] = Ballot{Vote: votes[play>>(2*(i-1))&3]}
					}
				}
				d := r.decide()
				if d.Speaker == "victim" {
					continue
				}
				next := maps.Clone(r.in.Lost)
				heard(next, d.Ranking, d.Speaker)
				then := [4]int{}
				for i, id := range ids {
					then[i] = next[id]
				}
				most = max(most, worst(then))
			}
			known[lost] = most
			return most
		}
		if most := worst([4]int{}); most != Bound(n) || Bound(n) != 8+n-2 {
			t.Errorf("of %d the victim lost %d rounds at worst, the bound is %d", n, most, Bound(n))
		}
	}
}

// streak is how somebody fared since it was heard or listened.
type streak struct {
	lost   int
	others map[string]bool // whoever wished meanwhile, itself included
	failed bool            // it had the floor and said nothing: a loss of its own
}

// TestNobodyWaitsLongerThanTheBound: whatever is voted, whoever calls whom, and
// whoever's line fails, nobody who keeps wishing to speak loses more rounds than
// Bound says for all who wished meanwhile; nor more than `why` shows.
func TestNobodyWaitsLongerThanTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		lost, run := map[string]int{}, map[string]*streak{}
		var ids []string
		habit, whim := map[string]float64{}, rapid.IntRange(0, 6).Draw(t, "whim")
		for i := range n {
			ids = append(ids, fmt.Sprintf("v%d", i))
			run[ids[i]] = &streak{others: map[string]bool{}}
			habit[ids[i]] = rapid.SampledFrom([]float64{0, 3, 9.9, 10}).Draw(t, ids[i])
		}
		fails := rapid.IntRange(0, 1).Draw(t, "lines fail")
		policy := rapid.SampledFrom([]Policy{Vote{}, policyOf(t, "vote+pool", "null")}).Draw(t, "policy")
		for round := range uint64(rapid.IntRange(10, 40).Draw(t, "rounds")) {
			r := newRig(ids...)
			r.in.Round.ID, r.in.Lost, r.in.MaxTurns = round, lost, 0
			if rapid.IntRange(0, 9).Draw(t, "by a human") > 0 {
				r.from(abi.KindCompanion)
			}
			r.to(rapid.SliceOfN(rapid.SampledFrom(ids), 0, 2).Draw(t, "to")...)
			for _, id := range ids {
				v := speak(habit[id])
				if rapid.IntRange(1, 20).Draw(t, id+" otherwise") <= whim {
					v.Importance = rapid.Float64Range(0, 10).Draw(t, id)
					v.State = rapid.SampledFrom([]abi.State{abi.Speak, abi.Listen}).Draw(t, id+" votes")
				}
				r.cast(id, v)
			}
			d := policy.Decide(r.in)
			c, ok := Next(d, nil)
			var tried []string
			for ok && rapid.IntRange(0, 9).Draw(t, "its line fails") < fails {
				tried = append(tried, c.Who)
				run[c.Who].failed = true
				c, ok = Next(d, tried)
			}
			if !ok {
				continue // nobody was heard
			}
			heard(lost, d.Ranking, c.Who)
			follow(t, run, d, c)
		}
	})
}

// follow counts a round in which the candidate was heard for everybody's streak,
// and holds the bound against it.
func follow(t *rapid.T, run map[string]*streak, d Ruling, heard entry.Candidate) {
	for _, c := range d.Ranking {
		s := run[c.Who]
		switch {
		case c.Who == heard.Who || c.Standing == StandingListen || c.Standing == StandingAsked:
			*s = streak{others: map[string]bool{}}
			continue
		case !Wants(heard) || heard.Standing == StandingAddressed:
			continue
		}
		s.lost++
		for _, other := range d.Ranking {
			s.others[other.Who] = s.others[other.Who] || Wants(other)
		}
		wished := 0
		for _, yes := range s.others {
			if yes {
				wished++
			}
		}
		if s.lost > Bound(wished) && !s.failed {
			t.Fatalf("%s lost %d rounds, the bound for %d who wished is %d", c.Who, s.lost, wished, Bound(wished))
		}
		if at := bound(d.Ranking, c); c.Debt > at {
			t.Fatalf("%s lost %d of at most %d", c.Who, c.Debt, at)
		}
	}
}

// wait gives the longest row of rounds in which who said nothing.
func wait(said []string, who string) (longest int) {
	row := 0
	for _, s := range said {
		if row++; s == who {
			row = 0
		}
		longest = max(longest, row)
	}
	return longest
}

// among lets everybody vote in each round, the last speaker too, and gives who spoke.
func among(rounds int, importance map[string]float64, call func(speaker string) []string) (said []string) {
	ids, lost := slices.Sorted(maps.Keys(importance)), map[string]int{}
	for i := range rounds {
		r := newRig(ids...)
		r.in.Round.ID, r.in.Lost, r.in.MaxTurns = uint64(i), lost, 0
		r.from(abi.KindCompanion)
		if call != nil && len(said) > 0 {
			r.to(call(said[i-1])...)
		}
		for _, id := range ids {
			r.cast(id, speak(importance[id]))
		}
		d := r.decide()
		heard(lost, d.Ranking, d.Speaker)
		said = append(said, d.Speaker)
	}
	return said
}

// TestImportanceIsOverruledByWaiting: with importance 10, 9.9 and 3 the third was
// not heard in 24 turns, and an agent that always votes 5 among others' 9 was
// heard once in 18.
func TestImportanceIsOverruledByWaiting(t *testing.T) {
	said := among(24, map[string]float64{"aya": 10, "ben": 9.9, "cleo": 3}, nil)
	if n := strings.Count(fmt.Sprint(said), "cleo"); n < 2 || wait(said, "cleo") > Bound(3) {
		t.Errorf("cleo was heard %d times: %s", n, said)
	}
	if n := strings.Count(fmt.Sprint(said), "cleo"); n > 24/4 {
		t.Errorf("importance does not decide in the short run: cleo was heard %d times: %s", n, said)
	}
	said = among(18, map[string]float64{"aya": 9, "ben": 9, "bot": 5}, nil)
	if n := strings.Count(fmt.Sprint(said), "bot"); n < 2 || n > 18/3 || wait(said, "bot") > Bound(3) {
		t.Errorf("bot was heard %d times: %s", n, said)
	}
	said, _ = talk(t, map[string]abi.Vote{"aya": speak(10), "kyoko": speak(10), "nat": speak(3)}, abi.KindHuman, 0, 30)
	if wait(said, "nat") > Bound(3) {
		t.Errorf("nat waits for %d rounds: %s", wait(said, "nat"), said)
	}
}

// TestImportanceDecidesFirst: of two that lost as much the more important one
// goes first, and three lost rounds do not turn two points round.
func TestImportanceDecidesFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		more := rapid.Float64Range(2, 10).Draw(t, "more")
		less := rapid.Float64Range(0, more-1.5).Draw(t, "less")
		d := newRig("aya", "ben").cast("aya", speak(less)).cast("ben", speak(more)).lost("aya", rapid.IntRange(0, 3).Draw(t, "lost")).decide()
		if d.Speaker != "ben" || d.Rule != entry.RuleImportance {
			t.Fatalf("%s speaks by %s: %s", d.Speaker, d.Rule, d.Reason)
		}
	})
}

// TestTwoThatCallEachOther: whatever two companions call each other, a third is
// heard; its call for them brings them forward all the same.
func TestTwoThatCallEachOther(t *testing.T) {
	each := map[string][]string{"aya": {"ben"}, "ben": {"aya"}}
	said := among(60, map[string]float64{"aya": 10, "ben": 10, "cleo": 0}, func(speaker string) []string { return each[speaker] })
	if n := strings.Count(fmt.Sprint(said), "cleo"); n < 5 || wait(said, "cleo") > Bound(3) {
		t.Errorf("cleo was heard %d times: %s", n, said)
	}
	cast := map[string]float64{"aya": 5, "ben": 5, "cleo": 7}
	alone := among(60, cast, nil)
	said = among(60, cast, func(speaker string) []string { return each[speaker] })
	if n, before := strings.Count(fmt.Sprint(said), "cleo"), strings.Count(fmt.Sprint(alone), "cleo"); n >= before {
		t.Errorf("a call adds nothing: cleo was heard %d times, and %d times without calls", n, before)
	}
}

// TestEqualsTakeTurns: among equals who always want to speak everybody has the
// floor once in n rounds.
func TestEqualsTakeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		all, importance := map[string]float64{}, rapid.Float64Range(0, 10).Draw(t, "importance")
		for i := range n {
			all[fmt.Sprintf("v%d", i)] = importance
		}
		said := among(5*n, all, nil)
		for who := range all {
			if w := wait(said, who); w >= n {
				t.Fatalf("%s waits for %d of %d rounds: %s", who, w, n, said)
			}
		}
	})
}

// TestNeed holds the formula: the need of one that lost ripe rounds at no
// importance is that of the highest importance, calls add up to it at most, and what
// is no number weighs nothing.
func TestNeed(t *testing.T) {
	for _, c := range []struct {
		c    entry.Candidate
		need int64
		show float64
	}{
		{entry.Candidate{}, 0, 0},
		{entry.Candidate{Importance: 10}, 640_000, 10},
		{entry.Candidate{Debt: 8}, 640_000, 10},
		{entry.Candidate{Importance: 9.9}, 633_600, 9.9},
		{entry.Candidate{Importance: 0.29, Debt: 5}, 18_560 + 250_000, 4.2},
		{entry.Candidate{Importance: 5, Called: "ben"}, 512_000, 8},
		{entry.Candidate{Importance: 9, Called: "ben"}, 640_000, 10},
		{entry.Candidate{Importance: -3}, 0, 0},
		{entry.Candidate{Importance: 1e300}, 640_000, 10},
		{entry.Candidate{Importance: math.NaN()}, 0, 0},
	} {
		if got := need(c.c); weight(c.c) < 0 || got != c.need || shown(got) != c.show {
			t.Errorf("need of %+v is %d, shown as %v, want %d, %v", c.c, got, shown(got), c.need, c.show)
		}
	}
}
