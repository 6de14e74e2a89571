package layout_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/tokens/tokenstest"
)

// drama is a talk in which everything is said: short and very long, in every kind of text.
func drama(n int) []abi.Message {
	talk, r := tokenstest.NewTalk(7), rand.New(rand.NewPCG(3, 4))
	kinds := tokenstest.Kinds()
	all := make([]abi.Message, n)
	for i := range all {
		letters := int(10 * math.Pow(1500, math.Pow(r.Float64(), 3)))
		all[i] = abi.Message{Seq: uint64(i + 1), From: []string{"taro", "aya", "kyoko", "momo"}[r.IntN(4)], Text: talk.Text(kinds[r.IntN(len(kinds))], letters), Kind: abi.KindTurn, At: noon}
	}
	return all
}

// TestWithinTheBudgetOfAModel: prompts of a room of three characters, after 10, 1,000 and 10,000
// messages of 10 to 15,000 letters, are within their budgets by the vocabularies of real models: with
// the first reserve at once, and after ten calls from which the guess has learned.
func TestWithinTheBudgetOfAModel(t *testing.T) {
	said := drama(10_000)
	for _, family := range tokenstest.Families() {
		t.Run(family, func(t *testing.T) {
			for _, size := range []int{2000, 8000, 128_000} {
				meter := new(tokens.Meter)
				for _, learned := range []bool{false, true} {
					var texts []string
					for _, n := range []int{10, 1000, 10_000} {
						for _, id := range []string{"aya", "kyoko", "momo"} {
							m := persona(t, id)
							budget := layout.Budget{Context: size, Meter: meter}
							human := func(id string) bool { return id == "taro" }
							told, err := new(window.Window).Tell(t.Context(), upTo(said[:n]), window.Terms{Budget: m.History(budget), Meter: meter, Line: m.Line(nil), Human: human})
							if err != nil {
								t.Fatal(err)
							}
							s := abi.Scene{Message: said[n-1], Members: []abi.Member{{ID: "taro", Kind: abi.KindHuman}}}
							p := m.Build(layout.Parts{Budget: budget, Told: told, Human: human, Tail: m.ForScene(layout.Asked{Scene: s, Now: noon, OnlyVote: id == "momo"})})
							texts = append(texts, layout.Write(p.System, p.Messages))
						}
					}
					most, full := 0, 0
					for _, have := range tokenstest.Count(t, family, texts) {
						most = max(most, have)
						if have > size {
							t.Errorf("context %d, learned %v: %d tokens", size, learned, have)
						}
						full++
					}
					t.Logf("context %6d, learned %-5v: at most %d tokens, in %d prompts", size, learned, most, full)
					if !learned {
						for i, have := range tokenstest.Count(t, family, calls()) {
							meter.Learn(tokens.Of(calls()[i]), have)
						}
					}
				}
			}
		})
	}
}

// calls are ten requests that an endpoint has reported on.
func calls() (texts []string) {
	talk := tokenstest.NewTalk(9)
	for range 10 {
		text := ""
		for _, kind := range tokenstest.Kinds() {
			for range 6 {
				text += talk.Line(kind) + "\n"
			}
		}
		texts = append(texts, text)
	}
	return texts
}
