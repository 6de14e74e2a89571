package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/extract"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"

	"github.com/companiond/companiond/host/waittest"
)

const policy = "予算、日程、担当、未定のことは残す。Keep the budget, all dates and names. 天気は不要。"

var said = rapid.Custom(func(t *rapid.T) string {
	n := rapid.IntRange(2, 9999).Draw(t, "n")
	form := rapid.SampledFrom([]string{
		"予算は%d円まで。", "日程は%d月3日の土曜にしよう。", "会場は田中さんが%d人で予約する。", "%d個は使わないで。", "店は未定、候補は%d軒。", "天気がいいね、%d度。", "楽しみ!", "The budget is at most $%d.",
		"Never invite more than %d people.", "I'll send %d copies to Mika by Friday.", "lol, %d cats", "はい。", "誰が%d時に来る?",
	}).Draw(t, "form")
	if strings.Contains(form, "%") {
		return fmt.Sprintf(form, n)
	}
	return form
})

var turns = rapid.Custom(func(t *rapid.T) (all []abi.PastTurn) {
	for i, text := range rapid.SliceOfN(rapid.SliceOfN(said, 1, 2), 1, 6).Draw(t, "said") {
		all = append(all, abi.PastTurn{N: uint64(i + 1), From: rapid.SampledFrom([]string{"mika", "太郎", ""}).Draw(t, "from"), Text: strings.Join(text, " ")})
	}
	return all
})

func original(turns []abi.PastTurn) string {
	var lines []string
	for _, t := range turns {
		lines = append(lines, t.From+": "+t.Text)
	}
	return strings.Join(lines, "\n")
}

// The original has everything, and a text that says nothing of what the policy names never passes.
func TestTheOriginalIsNeverRefused(t *testing.T) {
	waittest.WithoutRaces(t)
	rapid.Check(t, func(t *rapid.T) {
		turns := turns.Draw(t, "turns")
		items := keep.Items(turns, policy)
		all := original(turns)
		length := history.Length{N: utf8.RuneCountInString(all), Unit: history.Characters}
		if v, _, why := judged(turns, items, all, length, judge.Verify(turns, items, all)); v != history.Yes {
			t.Fatal(why)
		}
		if lost := judge.Losses(turns, all); slices.ContainsFunc(lost, func(l history.Loss) bool {
			return l.Kind == "number" || l.Kind == "date" || l.Kind == "name" || l.Kind == "added"
		}) {
			t.Fatal(lost)
		}
		for i, k := range items {
			if k.ID != fmt.Sprint("M", i+1) || len(k.Text) > abi.MaxKeepText || !strings.Contains(turns[k.Turn-1].Text, k.Text) {
				t.Fatalf("%+v", k)
			}
		}
		const other = "みんなで話した。They talked."
		for _, verified := range []abi.Verified{judge.Verify(turns, items, other), liar(items, other)} {
			v, findings, why := judged(turns, items, other, history.Length{N: 1000, Unit: history.Tokens}, verified)
			if policy := slices.ContainsFunc(items, func(k abi.KeepItem) bool { return k.Policy }); policy && v != history.No || len(findings) != len(items) || len(why) > abi.MaxFeedback {
				t.Fatal(v, findings, why)
			}
		}
	})
}

// An answer that is not about just the items, or quotes what is not there, is never a YES.
func TestJudgeIsStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := turns.Draw(t, "turns")
		items := keep.Items(turns, policy)
		draft := original(turns)
		length := history.Length{N: utf8.RuneCountInString(draft), Unit: history.Characters}
		v := liar(items, draft)
		if len(items) == 0 {
			return
		}
		at := rapid.IntRange(0, len(items)-1).Draw(t, "at")
		invented := false
		switch how := rapid.IntRange(0, 7).Draw(t, "how"); how {
		case 0:
			v.Items = slices.Delete(v.Items, at, at+1)
		case 1:
			v.Items = append(v.Items, v.Items[at])
		case 2:
			v.Items[at].ID = rapid.String().Draw(t, "id") + "?"
		case 3:
			invented = true
			v.Items[at].Quote = rapid.SampledFrom([]string{"", " ", "これは無い文", "\xff"}).Draw(t, "quote")
		case 4:
			v.Added = []string{rapid.String().Draw(t, "added")}
		case 5:
			v.Verdict = rapid.SampledFrom([]string{"", "yes", "NO", "YES.", "Approved"}).Draw(t, "verdict")
		case 6:
			v.Items[at].Status = rapid.SampledFrom([]string{"", "KEPT", "ok"}).Draw(t, "status")
		case 7:
			length.N = max(1, length.N*10/12)
			if length.N+length.N/10 >= utf8.RuneCountInString(draft) {
				return
			}
		}
		verdict, findings, why := judged(turns, items, draft, length, v)
		if invented && !items[at].Policy { // what nobody named refuses no draft, and is not said to be kept either
			if verdict != history.Yes || findings[at].Status == history.Kept || findings[at].Quote != "" {
				t.Fatal(verdict, findings[at], why)
			}
			return
		}
		if verdict != history.No || why == "" {
			t.Fatal(verdict, why)
		}
	})
}

// Whatever is answered, nothing panics, and only a perfect answer passes.
func TestJudgeOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) abi.KeepItem {
			return abi.KeepItem{ID: rapid.SampledFrom([]string{"M1", "M2", ""}).Draw(t, "id"), Text: rapid.String().Draw(t, "text"), Policy: rapid.Bool().Draw(t, "policy")}
		}), 0, 3).Draw(t, "items")
		v := abi.Verified{Verdict: rapid.SampledFrom([]string{"YES", "NO"}).Draw(t, "verdict"), Items: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) abi.VerifiedItem {
			return abi.VerifiedItem{ID: rapid.SampledFrom([]string{"M1", "M2"}).Draw(t, "id"), Status: rapid.SampledFrom([]string{"kept", "missing", "x"}).Draw(t, "status"), Quote: rapid.String().Draw(t, "quote")}
		}), 0, 3).Draw(t, "answers")}
		draft := rapid.String().Draw(t, "draft")
		verdict, _, _ := judged(saying(draft, items), items, draft, history.Length{N: rapid.IntRange(0, 100).Draw(t, "n"), Unit: history.Characters}, v)
		if verdict == history.Yes && v.Answers(items) != nil {
			t.Fatal("an answer about other things passes")
		}
	})
}

// An extract is never longer than was asked for, and has only words of the turns.
func TestExtractIsVerbatim(t *testing.T) {
	waittest.WithoutRaces(t)
	rapid.Check(t, func(t *rapid.T) {
		turns := turns.Draw(t, "turns")
		items := keep.Items(turns, policy)
		length := history.Length{N: rapid.IntRange(1, 600).Draw(t, "n"), Unit: rapid.SampledFrom([]history.Unit{history.Characters, history.Tokens}).Draw(t, "unit")}
		text, err := extract.Draft(t.Context(), turns, policy, items, length)
		ok := err == nil
		if ok == (text == "") || judge.Size(text, length.Unit) > length.N {
			t.Fatal(ok, text)
		}
		for line := range strings.Lines(text) {
			for _, turn := range turns {
				line = strings.ReplaceAll(line, fmt.Sprintf("[%d] ", turn.N), "")
			}
			line = strings.TrimPrefix(strings.TrimPrefix(line, "mika: "), "太郎: ")
			for _, s := range strings.Fields(line) {
				if !slices.ContainsFunc(turns, func(turn abi.PastTurn) bool { return strings.Contains(turn.Text, s) }) {
					t.Fatalf("%q is nobody's: %s", s, text)
				}
			}
		}
		if ok {
			if v, _, why := judged(turns, items, text, length, judge.Verify(turns, items, text)); v != history.Yes {
				t.Fatal(why, "\n", text)
			}
		}
	})
}

func BenchmarkItemsAndLosses(b *testing.B) {
	var p planted
	read(b, "planted.json", &p)
	all := p.Turns
	for len(all) < 1000 {
		for _, t := range p.Turns {
			t.N = uint64(len(all) + 1)
			all = append(all, t)
		}
	}
	all = all[:1000]
	text := original(all[:100])
	for b.Loop() {
		keep.Items(all, p.Policy)
		judge.Losses(all, text)
	}
}
