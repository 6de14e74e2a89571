package keep_test

import (
	"fmt"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/keep"
)

// TestEverything: a policy that names no sort of things names all of them.
func TestEverything(t *testing.T) {
	turns := []abi.PastTurn{{N: 1, From: "taro", Text: "The budget is 84,000 dollars."}, {N: 2, From: "mika", Text: "We must never tell Bob about the party."}}
	for _, policy := range []string{"Keep everything.", "全部残す", "すべて残してください。"} {
		if named, err := keep.Named(t.Context(), turns, policy); err != nil || len(named) != 2 || named[1].Turn != 2 {
			t.Errorf("%s: %+v of %+v", policy, named, keep.Items(turns, policy))
		}
	}
}

// TestNamed: what a policy names beyond what a draft can be held to is there, too.
func TestNamed(t *testing.T) {
	var turns []abi.PastTurn
	for i := range uint64(300) {
		turns = append(turns, abi.PastTurn{N: i + 1, From: "taro", Text: fmt.Sprintf("The budget of project %d is %d dollars.", i, 100_000+i)})
	}
	if named, err := keep.Named(t.Context(), turns, "Keep the budget of every project."); err != nil || len(named) != 300 || named[abi.MaxKeep].Turn != abi.MaxKeep+1 {
		t.Errorf("%d: %v", len(named), err)
	}
}
