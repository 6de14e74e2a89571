package ask_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/ask"
	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

type line struct {
	Known string
	Turn  uint64
	From  string
	Kind  abi.ParticipantKind
	Text  string
	Task  string
}

type answer struct {
	Turn       uint64 `json:"turn"`
	Quote      string `json:"quote"`
	Kind       string `json:"kind"`
	Thing      string `json:"thing"`
	Value      string `json:"value"`
	Text       string `json:"text"`
	Importance int    `json:"importance"`
}

// scripted is a model that finds most of what was planted, and answers as bad models do
// besides: with quotations that it invents, with what companions said, with what was only
// supposed or asked, with what it was told was known, and with more than was said.
func scripted(t testing.TB, all []talk) way {
	return func(n int, turns []fact.Turn, known []fact.Fact) []fact.New {
		talk := all[n]
		p := large.For(known, turns)
		var lines []line
		for l := range strings.Lines(p.User) {
			var got line
			if err := json.Unmarshal([]byte(l), &got); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			lines = append(lines, got)
		}
		var facts []answer
		for i, want := range talk.facts {
			if i%9 == 8 {
				continue // nobody is perfect
			}
			if a, ok := plausible(want, lines); ok {
				facts = append(facts, a)
			}
		}
		facts = append(facts, wrong(lines)...)
		raw, err := json.Marshal(map[string]any{"facts": facts})
		if err != nil {
			t.Fatal(err)
		}
		found, rejected := ask.Read("Sure! Here it is:\n```json\n"+string(raw)+"\n```", known, turns)
		for _, why := range rejected {
			for _, u := range turns {
				if len(u.Text) > 12 && strings.Contains(why, u.Text) {
					t.Errorf("a reason has words of others: %q", why)
				}
			}
		}
		return found
	}
}

// plausible answers with a planted fact as a good model would.
func plausible(p planted, lines []line) (a answer, ok bool) {
	for _, l := range lines {
		if l.From != p.who || l.Turn == 0 {
			continue
		}
		for _, s := range doubt.Sentences(l.Text) {
			quote := l.Text[s.From:s.To]
			value, ok := wording.Quoted(p.value, quote)
			if strings.HasPrefix(p.slot, "plan") {
				days := dates.Find(quote, day)
				ok = len(days) > 0
				if ok {
					value = quote[days[0].From:days[0].To]
				}
			}
			if !ok || s.Why != "" {
				continue
			}
			kind, thing, _ := strings.Cut(p.slot, ":")
			switch {
			case kind == "taste" && strings.ContainsAny(quote, "苦嫌"), kind == "taste" && (strings.Contains(quote, "n't")):
				kind = "dislikes"
			case kind == "taste":
				kind = "likes"
			case kind == "-":
				kind = "other"
			}
			if things := wording.Things(quote); thing == "" && len(things) > 0 {
				thing = things[0]
			}
			return answer{l.Turn, quote, kind, thing, value, quote, 4}, true
		}
	}
	return a, false
}

// wrong are answers that must not be believed.
func wrong(lines []line) (all []answer) {
	for _, l := range lines {
		switch {
		case l.Known != "":
			if i := slices.IndexFunc(lines, func(l line) bool { return l.Kind == abi.KindHuman }); i >= 0 {
				first := lines[i]
				all = append(all, answer{first.Turn, first.Text, "other", "", "", l.Known, 5}) // recalled
			}
		case l.Kind == abi.KindCompanion:
			all = append(all, answer{l.Turn, l.Text, "likes", "", "", l.Text, 3})
		case l.Kind == abi.KindHuman:
			for _, s := range doubt.Sentences(l.Text) {
				if s.Why != "" {
					all = append(all, answer{l.Turn, l.Text[s.From:s.To], "other", "", "", l.Text[s.From:s.To], 3})
				}
			}
			all = append(all, answer{l.Turn, "毎日ピアノを3時間練習してる", "other", "", "", "毎日ピアノを3時間練習してる", 4}, // invented
				answer{l.Turn, l.Text, "pet.name", "cat", "", "has 17 cats, and the first is called Napoleon", 4}, // more than was said
				answer{l.Turn + 1000, l.Text, "name", "", "", l.Text, 4})
		}
	}
	return all
}
