package judge_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/extract"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"

	"github.com/companiond/companiond/host/waittest"
)

type planted struct {
	Policy string         `json:"policy"`
	Turns  []abi.PastTurn `json:"turns"`
	Facts  []struct {
		Turn  uint64 `json:"turn"`
		Fact  string `json:"fact"`
		Named bool   `json:"named"`
	} `json:"facts"`
}

// recall counts the facts that a text has: letter by letter, or as the rules find them.
func (p planted) recall(text string) (all, named int) {
	for _, f := range p.Facts {
		if strings.Contains(text, f.Fact) {
			all++
			if f.Named {
				named++
			}
		}
	}
	return all, named
}

func TestPlanted(t *testing.T) {
	waittest.WithoutRaces(t)
	var p planted
	read(t, "planted.json", &p)
	size := 0
	for _, turn := range p.Turns {
		size += utf8.RuneCountInString(turn.Text)
	}
	length := history.Length{N: size / 10, Unit: history.Characters}
	items := keep.Items(p.Turns, p.Policy)
	policy := 0
	for _, k := range items {
		if k.Policy {
			policy++
		}
	}
	t.Logf("%d turns, %d characters, to %d; %d items, %d of the policy", len(p.Turns), size, length.N, len(items), policy)

	text, err := extract.Draft(t.Context(), p.Turns, p.Policy, items, length)
	all, named := p.recall(text)
	t.Logf("extract: %v, %d characters, %d of 40, %d of 20 named", err, utf8.RuneCountInString(text), all, named)
	if all < 28 { // where there is room for what the policy names and some 300 letters more
		t.Errorf("the extract has %d of 40 facts, and it had 28", all)
	}
	for _, f := range p.Facts {
		if f.Named && !strings.Contains(text, f.Fact) {
			t.Errorf("turn %d: %s is named by the policy, and not in the extract", f.Turn, f.Fact)
		}
	}
	verdict, _, why := judged(p.Turns, items, text, length, judge.Verify(p.Turns, items, text))
	if verdict != history.Yes {
		t.Errorf("the extract is refused:\n%s", why)
	}

	var newest []string
	left := length.N
	for i := len(p.Turns) - 1; i >= 0 && left > 0; i-- {
		if left -= utf8.RuneCountInString(p.Turns[i].Text); left >= 0 {
			newest = append(newest, p.Turns[i].Text)
		}
	}
	all, named = p.recall(strings.Join(newest, "\n"))
	t.Logf("simply cut to the newest: %d of 40, %d of 20 named", all, named)

	// A model that keeps what it is handed as a list: first what the policy names, then the rest, as far as it goes.
	var kept []string
	left = length.N
	for _, wanted := range []bool{true, false} {
		for _, k := range items {
			if n := utf8.RuneCountInString(k.Text) + 1; k.Policy == wanted && n <= left {
				kept, left = append(kept, k.Text), left-n
			}
		}
	}
	all, named = p.recall(strings.Join(kept, "\n"))
	t.Logf("a scripted model that keeps what the list names: %d of 40, %d of 20 named", all, named)
}
