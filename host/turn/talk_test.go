package turn

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// talk is a room reduced to what turns need: everybody votes by a fixed habit,
// who wins speaks, and the closing follows the speaker's wish.
func talk(t *testing.T, habits map[string]abi.Vote, from abi.ParticipantKind, maxTurns, rounds int) (said []string, last Ruling) {
	t.Helper()
	ids := []string{"aya", "kyoko", "nat"}
	stage, speaker, lost := abi.ClosingNone, Voter{"mika", from}, map[string]int{}
	for i := range rounds {
		body := entry.Round{About: uint64(2 * i), Addressed: []string{}}
		for _, id := range ids {
			if id != speaker.ID {
				body.Electorate = append(body.Electorate, id)
			}
		}
		r := Open(uint64(2*i+1), body, speaker, nil)
		for _, id := range body.Electorate {
			r.Cast(id, habits[id])
		}
		last = Vote{}.Decide(Input{Round: r, Seed: "s", Lost: lost, Stage: stage, Turns: len(said), MaxTurns: maxTurns})
		if stage = last.Stage; last.Outcome != entry.OutcomeGrant {
			return said, last
		}
		heard(lost, last.Ranking, last.Speaker)
		said, speaker = append(said, last.Speaker), Voter{last.Speaker, abi.KindCompanion}
		stage = Step(stage, habits[last.Speaker].Closing)
	}
	return said, last
}

// TestPoliteLoopersEnd: companions that thank each other for ever come to an
// end by themselves: two farewells while the stage moves on, and the talk is
// closed without a human or a cap.
func TestPoliteLoopersEnd(t *testing.T) {
	said, last := talk(t, map[string]abi.Vote{"aya": farewell(5), "kyoko": farewell(5), "nat": farewell(9)}, abi.KindHuman, 0, 100)
	if len(said) != 2 || last.Outcome != entry.OutcomeClosed || last.Stage != abi.ClosingTerminal {
		t.Errorf("%d farewells, then %s at stage %q", len(said), last.Outcome, last.Stage)
	}
}

// TestChatterboxesAreCapped: companions cannot talk for ever (law 7).
func TestChatterboxesAreCapped(t *testing.T) {
	for _, maxTurns := range []int{1, 6, 40} {
		said, last := talk(t, map[string]abi.Vote{"aya": speak(10), "kyoko": speak(10), "nat": speak(10)}, abi.KindHuman, maxTurns, 100)
		if len(said) != maxTurns || last.Outcome != entry.OutcomeCapped {
			t.Errorf("cap %d: %d turns, then %s", maxTurns, len(said), last.Outcome)
		}
		for i := 1; i < len(said); i++ {
			if said[i] == said[i-1] {
				t.Errorf("cap %d: %s speaks twice running", maxTurns, said[i])
			}
		}
	}
}

func TestBrief(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 5, ""}, {"  \n ", 5, ""}, {"abcd", 5, "abcd"}, {"abcdef", 5, "abcd…"}, {" a \n\t b ", 9, "a b"},
		{"あいうえおか", 5, "あいうえ…"}, {"a\x00b\x1b[0m", 9, "ab[0m"}, {"a\u202eb", 9, "ab"}, {"\xff", 9, "\ufffd"},
	} {
		if got := brief(c.in, c.limit); got != c.want {
			t.Errorf("brief(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
