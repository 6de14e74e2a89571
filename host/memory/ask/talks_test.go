package ask_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

var tokyo = time.FixedZone("JST", 9*3600)

// day is when somebody asks what days are called; any will do.
var day = time.Date(2026, 11, 20, 12, 0, 0, 0, tokyo)

// planted is a fact of the talks.
type planted struct {
	id, who, slot, value string
	gone, also           bool
}

// is says whether a fact is the planted one.
func (p planted) is(n fact.New) bool {
	return n.SaidBy == p.who && (p.slot == "-" || strings.HasPrefix(n.Slot, p.slot)) && strings.Contains(wording.Fold(n.Text+" "+n.Value+" "+strings.Join(n.Keys, " ")), wording.Fold(p.value))
}

type question struct{ who, words, want string }

type talk struct {
	at    time.Time
	turns []fact.Turn
	facts []planted
	asks  []question
}

// talks reads testdata/talks.txt.
func talks(t testing.TB) (all []talk) {
	t.Helper()
	raw, err := os.ReadFile("testdata/talks.txt")
	if err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		var now *talk
		if len(all) > 0 {
			now = &all[len(all)-1]
		}
		switch words[0] {
		case "talk":
			at, err := time.ParseInLocation("2006-01-02T15:04", words[1], tokyo)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, talk{at: at})
		case "fact":
			gone := words[len(words)-1] == "gone"
			if gone {
				words = words[:len(words)-1]
			}
			now.facts = append(now.facts, planted{id: words[1], who: words[2], slot: words[3], value: strings.Join(words[4:], " "), gone: gone})
		case "also":
			now.facts = append(now.facts, planted{who: words[1], slot: words[2], value: strings.Join(words[3:], " "), also: true})
		case "ask":
			ask, want, _ := strings.Cut(strings.Join(words[2:], " "), " => ")
			now.asks = append(now.asks, question{words[1], ask, want})
		default:
			who, said, ok := strings.Cut(line, ": ")
			if !ok {
				t.Fatalf("what is %q?", line)
			}
			seq++
			by := abi.KindHuman
			if who == "aya" {
				by = abi.KindCompanion
			}
			now.turns = append(now.turns, fact.Turn{Room: "main", Seq: seq, From: who, By: by, At: now.at.Add(time.Duration(len(now.turns)) * 20 * time.Second), Text: said})
		}
	}
	return all
}

func sourceOf(all []talk, seq uint64) string {
	for _, t := range all {
		if i := slices.IndexFunc(t.turns, func(u fact.Turn) bool { return u.Seq == seq }); i >= 0 {
			return t.turns[i].Text
		}
	}
	return ""
}
