package judge_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/history/marks"

	"github.com/companiond/companiond/host/waittest"
)

// sloppy is a model that finds the sentence of the draft that is most like each item, quotes it, and calls it kept.
func sloppy(items []abi.KeepItem, draft string) abi.Verified {
	v := abi.Verified{Verdict: abi.VerdictYes}
	for _, k := range items {
		v.Items = append(v.Items, abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: nearest(k.Text, draft)})
	}
	return v
}

func nearest(text, draft string) (best string) {
	most := -1.0
	for _, s := range marks.Sentences(draft) {
		n := 0.0
		for _, m := range marks.Find(text) {
			for _, o := range marks.Find(s) {
				if m.Same(o) {
					n += 3
				}
			}
		}
		runes := []rune(strings.ToLower(text))
		for i := range len(runes) - 1 {
			if strings.Contains(strings.ToLower(s), string(runes[i:i+2])) {
				n++
			}
		}
		if n > most {
			most, best = n, s
		}
	}
	return best
}

// trusted are the figures of the rules with such a verifier, by the folder of the texts, which must not fall.
var trusted = map[string]map[string]int{
	".":      {"bad ones refused": 20, "good ones not refused": 20},
	"second": {"bad ones refused": 12, "good ones not refused": 11},
}

// TestASloppyVerifier: code lets hardly more of the bad drafts through where a model calls everything kept and quotes what is nearest.
func TestASloppyVerifier(t *testing.T) {
	waittest.WithoutRaces(t)
	for folder, least := range trusted {
		figures := map[string]int{}
		for _, e := range examination(t, folder) {
			items := keep.Items(e.Turns, e.Policy)
			judge := func(draft string) (history.Verdict, string) {
				v, _, why := judged(e.Turns, items, draft, history.Length{N: utf8.RuneCountInString(draft), Unit: history.Characters}, sloppy(items, draft))
				return v, why
			}
			if v, why := judge(e.Good); v == history.Yes {
				figures["good ones not refused"]++
			} else {
				t.Logf("%s: %s, good, is refused:\n%s", folder, e.ID, why)
			}
			if v, _ := judge(e.Bad.Text); v == history.No {
				figures["bad ones refused"]++
			} else {
				t.Logf("%s: %s, bad (%s: %s), is not refused", folder, e.ID, e.Bad.Mutation, e.Bad.About)
			}
		}
		for name, least := range least {
			t.Logf("%s: %s: %d", folder, name, figures[name])
			if figures[name] < least {
				t.Errorf("%s: %s: %d, and it was %d", folder, name, figures[name], least)
			}
		}
	}
}
