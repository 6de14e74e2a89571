package judge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/waittest"
)

// examined is one of the texts of testdata, see the README there.
type examined struct {
	ID     string         `json:"id"`
	Policy string         `json:"policy"`
	Turns  []abi.PastTurn `json:"turns"`
	Good   string         `json:"-"`
	Bad    harmed         `json:"-"`
}

type harmed struct {
	Talk     string `json:"talk"`
	Text     string `json:"text"`
	Mutation string `json:"mutation"`
	About    string `json:"about"`
	Turn     uint64 `json:"turn"`
}

func read(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func examination(t testing.TB, folder string) (all []*examined) {
	t.Helper()
	var good, bad []harmed
	read(t, filepath.Join(folder, "talks.json"), &all)
	read(t, filepath.Join(folder, "good.json"), &good)
	read(t, filepath.Join(folder, "bad.json"), &bad)
	for _, e := range all {
		for i := range good {
			if good[i].Talk == e.ID {
				e.Good = good[i].Text
			}
			if bad[i].Talk == e.ID {
				e.Bad = bad[i]
			}
		}
	}
	return all
}

// liar says that everything is kept, and quotes what is there.
func liar(items []abi.KeepItem, draft string) abi.Verified {
	v := abi.Verified{Verdict: abi.VerdictYes}
	first, _ := utf8.DecodeRuneInString(draft)
	for _, k := range items {
		v.Items = append(v.Items, abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: string(first)})
	}
	return v
}

// reached are the figures that the rules have, which must not fall. At the first examination, before any rule was mended by
// what it showed, both verifiers refused 20 of 20 bad ones and all 20 good ones too: every sentence near the policy's words was
// held to. Mended by half of what it showed, they refused 19 bad ones and let 6 good ones pass. Then the second texts were written, and the
// rules mended until the first passed. At the first look at the second 3 of 12 good ones passed, and 10 of 12 bad ones were refused, 8 for
// what had been harmed (the rules of before: 1 of 12, and 11 of 12). By now both are seen, and these figures say nothing of texts of others. Those of the
// third do: they were written behind the last rule, and no rule is mended by them.
var reached = map[string]map[string]int{
	".": {
		"the verifier without a model: bad ones refused":                              20,
		"the verifier without a model: bad ones refused for what the good one is not": 20,
		"the verifier without a model: good ones not refused":                         20,
		"a verifier that lies: bad ones refused":                                      20,
		"a verifier that lies: bad ones refused for what the good one is not":         20,
		"a verifier that lies: good ones not refused":                                 20,
	},
	"second": {
		"the verifier without a model: bad ones refused":                              12,
		"the verifier without a model: bad ones refused for what the good one is not": 12,
		"the verifier without a model: good ones not refused":                         11,
		"a verifier that lies: bad ones refused":                                      12,
		"a verifier that lies: bad ones refused for what the good one is not":         12,
		"a verifier that lies: good ones not refused":                                 11,
	},
	"third": {
		"the verifier without a model: bad ones refused":      5,
		"the verifier without a model: good ones not refused": 4,
		"a verifier that lies: good ones not refused":         4,
	},
}

func TestExamination(t *testing.T) {
	waittest.WithoutRaces(t)
	for folder, least := range reached {
		t.Run(folder, func(t *testing.T) { examine(t, examination(t, folder), least) })
	}
}

func examine(t *testing.T, all []*examined, reached map[string]int) {
	figures := map[string]int{}
	for _, e := range all {
		items := keep.Items(e.Turns, e.Policy)
		for name, verifier := range map[string]func(string) abi.Verified{
			"the verifier without a model": func(draft string) abi.Verified { return judge.Verify(e.Turns, items, draft) },
			"a verifier that lies":         func(draft string) abi.Verified { return liar(items, draft) },
		} {
			length := func(draft string) history.Length {
				return history.Length{N: utf8.RuneCountInString(draft), Unit: history.Characters}
			}
			verdict, _, why := judged(e.Turns, items, e.Good, length(e.Good), verifier(e.Good))
			if verdict == history.Yes {
				figures[name+": good ones not refused"]++
			} else {
				t.Logf("%s: %s, good, is refused:\n%s\n\t%s", name, e.ID, why, e.Good)
			}
			verdict, _, bad := judged(e.Turns, items, e.Bad.Text, length(e.Bad.Text), verifier(e.Bad.Text))
			own := ""
			for line := range strings.Lines(bad) {
				if !strings.Contains(why, strings.TrimSpace(line)) {
					own = line
				}
			}
			if own != "" {
				figures[name+": bad ones refused for what the good one is not"]++
			} else {
				t.Logf("%s: %s, bad (%s, turn %d: %s), has nothing of its own", name, e.ID, e.Bad.Mutation, e.Bad.Turn, e.Bad.About)
			}
			if verdict == history.No {
				figures[name+": bad ones refused"]++
			} else {
				t.Logf("%s: %s, bad (%s, turn %d: %s), is not refused:\n\t%s", name, e.ID, e.Bad.Mutation, e.Bad.Turn, e.Bad.About, e.Bad.Text)
			}
		}
	}
	for name, n := range figures {
		t.Logf("%s: %d of %d", name, n, len(all))
	}
	for name, least := range reached {
		if figures[name] < least {
			t.Errorf("%s: %d of %d, and it was %d", name, figures[name], len(all), least)
		}
	}
}
