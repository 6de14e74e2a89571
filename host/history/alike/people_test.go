package alike_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// TestPairs: who does something to whom, by particles in Japanese and by order in English, where taro speaks.
func TestPairs(t *testing.T) {
	for clause, want := range map[string][2]string{
		"Mika pays Kenji 300 euros":   {"mika", "kenji"},
		"Mika is paid by Kenji":       {"kenji", "mika"},
		"I promise to call Kenji":     {"taro", "kenji"},
		"Kenji will call me":          {"kenji", "taro"},
		"Mika and Kenji pay":          {},
		"Mika gets a call from Kenji": {},
		"Mika asks Kenji to pay Bob":  {}, // three
		"Mika's brother pays":         {},
		"田中さんが鈴木さんに鍵を渡す":              {"田中", "鈴木"},
		"鈴木さんには田中さんが渡す":               {"田中", "鈴木"},
		"鈴木さんは田中さんが迎えに行く":             {},
		"鈴木さんを田中さんが迎えに行く":             {"田中", "鈴木"},
		"私が鈴木さんに払う":                   {"taro", "鈴木"},
		"田中さんと鈴木さんが来る":                {},
		"":                            {},
	} {
		p := alike.Heard([]abi.PastTurn{{N: 1, From: "taro"}, {N: 2, From: "Mika"}, {N: 3, From: ""}}, marks.Find("so Kenji and Bob"))
		got := [2]string{}
		for _, o := range p.Pairs(clause, marks.Find(clause), p.By[1]) {
			got = [2]string{o.Agent, o.Other}
		}
		if got != want {
			t.Errorf("%q: %v, want %v", clause, got, want)
		}
	}
}
