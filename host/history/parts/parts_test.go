package parts_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/parts"
)

func letters(t abi.PastTurn) int { return 3 + len(t.From) + utf8.RuneCountInString(t.Text) }
func ofItem(k abi.KeepItem) int  { return 2 + len(k.Text) }
func texts(ts []abi.PastTurn) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "%d-%d %s: %s\n", t.N, t.Upto, t.From, t.Text)
	}
	return b.String()
}

// words forgets where turns were cut: those of the same number are one again.
func words(all []parts.Part) (ts []abi.PastTurn) {
	for _, p := range all {
		for _, t := range p.Turns {
			if n := len(ts); n > 0 && ts[n-1].N == t.N {
				ts[n-1].Text += t.Text
			} else {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

// TestParts: whatever the turns are, parts have all their words in their order, each thing to be kept
// once, in the part of its turn, and none is more than may be.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var turns []abi.PastTurn
		var keep []abi.KeepItem
		n := uint64(1)
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			turn := abi.PastTurn{N: n, From: "aya", Text: rapid.StringMatching(`[a-z話。\n😀]{1,80}`).Draw(t, "text")}
			if rapid.IntRange(0, 5).Draw(t, "several") == 0 {
				turn.Upto = n + 3
			}
			for range rapid.IntRange(0, 6).Draw(t, "keep") {
				keep = append(keep, abi.KeepItem{ID: fmt.Sprint("M", len(keep)+1), Text: strings.Repeat("x", rapid.IntRange(0, 8).Draw(t, "long")), Turn: rapid.Uint64Range(n, max(n, turn.Upto)).Draw(t, "of"), Policy: rapid.Bool().Draw(t, "policy")})
			}
			turns, n = append(turns, turn), max(n, turn.Upto)+1
		}
		m := parts.Most{Turns: rapid.IntRange(1, 4).Draw(t, "most turns"), Keep: rapid.IntRange(1, 5).Draw(t, "most kept"), Turn: letters, Item: ofItem, Twice: rapid.Bool().Draw(t, "twice")}
		m.Past = rapid.IntRange(8, 60).Draw(t, "past")
		m.All = m.Past + rapid.IntRange(10, 40).Draw(t, "all")
		all, err := parts.Of(turns, keep, m)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]int{}
		for _, p := range all {
			past, sum := 0, 0
			for _, turn := range p.Turns {
				past += letters(turn)
			}
			for _, k := range p.Keep {
				sum += ofItem(k)
				kept[k.ID]++
				if !slices.ContainsFunc(p.Turns, func(x abi.PastTurn) bool { return x.N <= k.Turn && k.Turn <= max(x.N, x.Upto) }) {
					t.Fatalf("%+v is not with its turn: %+v", k, p.Turns)
				}
			}
			if len(p.Turns) > m.Turns || len(p.Keep) > m.Keep || past > m.Past || past+sum > m.All || len(p.Turns) == 0 {
				t.Fatalf("%d turns, %d to keep, %d, %d: more than %+v", len(p.Turns), len(p.Keep), past, past+sum, m)
			}
		}
		if m.Twice {
			for _, k := range keep {
				if kept[k.ID] != 1 {
					t.Fatalf("%s is in %d parts", k.ID, kept[k.ID])
				}
			}
			return
		}
		if got := texts(words(all)); got != texts(turns) {
			t.Fatalf("got\n%s\nwant\n%s", got, texts(turns))
		}
	})
}

// TestTwice: a turn with much to keep comes again with the rest, or keeps what the policy names.
func TestTwice(t *testing.T) {
	turn := []abi.PastTurn{{N: 4, Text: "abc"}}
	var keep []abi.KeepItem
	for i := range 5 {
		keep = append(keep, abi.KeepItem{ID: fmt.Sprint("M", i+1), Turn: 4, Policy: i > 2})
	}
	m := parts.Most{Turns: 9, Keep: 2, Past: 90, All: 99, Turn: letters, Item: ofItem, Twice: true}
	all, err := parts.Of(turn, keep, m)
	if err != nil || len(all) != 3 || texts(all[2].Turns) != texts(turn) || all[2].Keep[0].ID != "M5" {
		t.Errorf("%+v, %v", all, err)
	}
	m.Twice = false
	all, err = parts.Of(turn, keep, m)
	if err != nil || len(all) != 1 || all[0].Keep[0].ID != "M4" || all[0].Keep[1].ID != "M5" {
		t.Errorf("%+v, %v", all, err)
	}
	m.All, m.Twice = 7, true
	if _, err := parts.Of(turn, keep, m); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("no room to keep anything: %v", err)
	}
	m.Past = 2
	if _, err := parts.Of(turn, keep, m); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("no room for a letter: %v", err)
	}
}

// TestRequest: what modules are asked about is never more than they take.
func TestRequest(t *testing.T) {
	var turns []abi.PastTurn
	var keep []abi.KeepItem
	for i := range 3000 {
		turns = append(turns, abi.PastTurn{N: uint64(i + 1), From: "taro", Text: strings.Repeat("話", 400)})
		keep = append(keep, abi.KeepItem{ID: fmt.Sprint("M", i+1), Text: strings.Repeat("&", abi.MaxKeepText), Turn: uint64(i + 1)})
	}
	turns[7].Text = strings.Repeat("<", abi.MaxPastBytes)
	all, err := parts.Of(turns, keep, parts.Request(true))
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i, p := range all {
		v := abi.Verifying{Turns: p.Turns, History: p.Turns, Keep: p.Keep, Draft: strings.Repeat("<", abi.MaxDigest), Part: i + 1, Parts: len(all), Policy: strings.Repeat("<", abi.MaxPolicy)}
		if err := v.Check(); err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(v); err != nil || len(b) > abi.MaxRequest {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		kept += len(p.Keep)
	}
	if got := texts(words(all)); kept != len(keep) || got != texts(turns) {
		t.Errorf("%d parts keep %d of %d, and have %d bytes of %d", len(all), kept, len(keep), len(got), len(texts(turns)))
	}
}

func TestAround(t *testing.T) {
	var history []abi.PastTurn
	for i := range uint64(9) {
		history = append(history, abi.PastTurn{N: i + 1, Text: "abc"})
	}
	history[4] = abi.PastTurn{N: 5, Upto: 7, Text: "abcdef"}
	history = append(history[:5], history[7:]...) // 1 2 3 4 5-7 8 9
	one := func(abi.PastTurn) int { return 1 }
	for _, c := range []struct {
		n           uint64
		turns, most int
		want        string
	}{
		{6, 9, 9, "1 2 3 4 5 8 9"}, {6, 9, 3, "4 5 8"}, {6, 2, 9, "4 5"}, {6, 9, 1, "5"}, {1, 9, 3, "1 2 3"}, {9, 9, 3, "5 8 9"}, {6, 9, 0, ""}, {20, 9, 9, ""},
	} {
		var got []string
		for _, x := range parts.Around(history, c.n, c.turns, c.most, one) {
			got = append(got, fmt.Sprint(x.N))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("around %d, %d turns of %d: %s, want %s", c.n, c.turns, c.most, s, c.want)
		}
	}
}

// TestJoin: YES is what all say, and what is said stays.
func TestJoin(t *testing.T) {
	yes := abi.Verified{Items: []abi.VerifiedItem{{ID: "M1", Status: abi.StatusKept}}, Verdict: abi.VerdictYes, Feedback: " well "}
	no := abi.Verified{Items: []abi.VerifiedItem{{ID: "M2", Status: abi.StatusMissing}}, Verdict: abi.VerdictNo, Feedback: "M2 is gone", Added: []string{"a cat"}}
	for _, c := range []struct {
		all  []abi.Verified
		want abi.Verified
	}{
		{nil, abi.Verified{Items: []abi.VerifiedItem{}, Verdict: abi.VerdictNo}},
		{[]abi.Verified{yes, yes}, abi.Verified{Items: append(yes.Items, yes.Items...), Verdict: abi.VerdictYes, Feedback: "well"}},
		{[]abi.Verified{yes, no, yes}, abi.Verified{Items: append(append(yes.Items, no.Items...), yes.Items...), Verdict: abi.VerdictNo, Feedback: "well\nM2 is gone", Added: no.Added}},
		{[]abi.Verified{yes, {Verdict: "maybe"}}, abi.Verified{Items: yes.Items, Verdict: abi.VerdictNo, Feedback: "well"}},
	} {
		got, _ := json.Marshal(parts.Join(c.all))
		want, _ := json.Marshal(c.want)
		if string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	long := abi.Verified{Verdict: abi.VerdictNo, Feedback: strings.Repeat("話", abi.MaxFeedback), Added: make([]string, abi.MaxAdded)}
	if err := parts.Join([]abi.Verified{long, long}).Check(); err != nil {
		t.Error(err)
	}
	if got := parts.Texts([]abi.Compressed{{Text: " a\n"}, {Text: "b"}}).Text; got != "a\nb" {
		t.Errorf("%q", got)
	}
	for _, c := range [][4]int{{100, 1, 4, 25}, {100, 0, 4, 1}, {100, 4, 4, 100}, {100, 3, 0, 100}, {1 << 30, 1 << 30, 1 << 30, 1 << 30}} {
		if got := parts.Share(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %d", c, got)
		}
	}
}
