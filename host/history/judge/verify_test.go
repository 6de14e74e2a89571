package judge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/extract"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/history/marks"

	"github.com/companiond/companiond/host/waittest"
)

// A number that the policy names, and that one sentence of all has, cannot leave with that sentence, and cannot be another one.
func TestTheOnlyCarrierIsHeldTo(t *testing.T) {
	waittest.WithoutRaces(t)
	rapid.Check(t, func(t *rapid.T) {
		turns := turns.Draw(t, "turns")
		n := rapid.IntRange(11_000, 99_999).Draw(t, "only")
		form := rapid.SampledFrom([]string{"予算は%d円まで。", "The budget is at most $%d.", "予算の上限は%d円です。", "予算は一人%d円です。"}).Draw(t, "carrier")
		carrier := fmt.Sprintf(form, n)
		turns = append(turns, abi.PastTurn{N: uint64(len(turns) + 1), From: "ken", Text: carrier})
		items := keep.Items(turns, policy)
		whole := original(turns)
		for name, draft := range map[string]string{
			"nothing in its place": strings.Replace(whole, carrier, "", 1),
			"another number":       strings.Replace(whole, fmt.Sprint(n), fmt.Sprint(n-10_001), 1),
		} {
			length := history.Length{N: utf8.RuneCountInString(draft), Unit: history.Characters}
			if v := judge.Verify(turns, items, draft); v.Verdict != abi.VerdictNo {
				t.Fatalf("%s for %q is not refused", name, carrier)
			} else if verdict, _, why := judged(turns, items, draft, length, v); verdict != history.No || why == "" {
				t.Fatal(name, verdict, why)
			}
		}
	})
}

// What only the draft has makes it another text. What follows from numbers beside it does not, nor a word that is written like a name.
func TestAdded(t *testing.T) {
	said := []abi.PastTurn{
		{N: 1, From: "mika", Text: "会費は一人500円、12人で。カードスリーブも頼むね、店はあおば商店。"},
		{N: 2, From: "ken", Text: "The concert lasts an hour and ten, the fund pays up to half. We leave at 7.15, and Vancouver is next."},
	}
	items := keep.Items(said, "")
	for draft, want := range map[string]string{
		"会費は500円×12人で計6,000円。スリーブも。":                      "",
		"会費は計6,500円。":                                     "6,500円",
		"会費は600円。":                                        "600円",
		"7月3日に会う。":                                        "7月3日",
		"高木さんに頼む。":                                        "高木さん",
		"クラッシュとトラブルの話。":                                   "",
		"70 minutes, up to 50%, leaving at 7:15.":         "",
		"80 minutes, leaving at 7:45.":                    "80 minutes|7:45",
		"次はバンクーバー。[1] mika: 会費の話。":                        "",
		"He asked Hollow Hut about it, and then Perkins.": "Hollow Hut|Perkins",
		"":  "",
		"。": "",
	} {
		v := judge.Verify(said, items, draft)
		if got := strings.Join(v.Added, "|"); got != want || (v.Verdict == abi.VerdictNo) != (want != "" || draft == "") {
			t.Errorf("%q: %s, added %q, want %q", draft, v.Verdict, got, want)
		}
	}
}

// An extract has a line's number and its speaker before it. Nobody said that.
func TestAPrefixIsNoStatement(t *testing.T) {
	said := []abi.PastTurn{{N: 4, From: "aya", Text: "I'm Aya."}, {N: 5, From: "aya", Text: "Good morning, the kettle is on."}, {N: 6, From: "ben", Text: "It is raining again."}}
	items := []abi.KeepItem{{ID: "M1", Text: "I'm Aya.", Turn: 4, Policy: true}}
	text, err := extract.Draft(t.Context(), said, "", []abi.KeepItem{{ID: "M1", Text: "Good morning, the kettle is on.", Turn: 5, Policy: true}}, history.Length{N: 44, Unit: history.Characters})
	if err != nil || !strings.HasPrefix(text, "[5] aya: ") {
		t.Fatal(text)
	}
	if v := judge.Verify(said, items, text); v.Verdict != abi.VerdictNo || v.Items[0].Status == abi.StatusKept {
		t.Errorf("%+v", v)
	}
	if v := judge.Verify(said, items, "[4] aya: I'm Aya."); v.Verdict != abi.VerdictYes {
		t.Errorf("%+v", v)
	}
}

// Ten times the letters take about ten times as long, whatever they are.
func TestLongTexts(t *testing.T) {
	waittest.WithoutRaces(t)
	for name, piece := range map[string]string{
		"clauses": "卵、", "names": "田中さんとAkiraは、", "numbers": "3月4日に500円、", "sentences": "予算は300円まで。卵は使わない。", "lists": "no eggs, nuts or milk, ", "dropped": "dropped the plan, ", "spaces": " ", "one": "あ",
	} {
		took := func(letters int) time.Duration {
			text := strings.Repeat(piece, letters/utf8.RuneCountInString(piece)+1)
			said := []abi.PastTurn{{N: 1, From: "mika", Text: text}}
			start := time.Now()
			items := keep.Items(said, policy)
			judge.Verify(said, items, text)
			judge.Losses(said, text)
			return time.Since(start)
		}
		short, long := took(2000), took(20_000)
		t.Logf("%s: %v, %v", name, short, long)
		if long > 30*short+2*time.Second {
			t.Errorf("%s: 2,000 letters take %v, and 20,000 take %v", name, short, long)
		}
	}
}

// Nothing panics, and what says to be kept quotes the draft.
func FuzzVerify(f *testing.F) {
	f.Add("予算は8万4千円まで。田中さんが3月3日に予約する。", "予算を残す", "[1] mika: 予算は84,000円")
	f.Add("No release without a review, that's final. Half of it, 7.15!", "Keep limits, drop jokes", "no tape, candles or glass")
	f.Add("一曲目は「ネオン」にして、「夜行バス」は四曲目", "曲目の決定を残して。", "1曲目は「夜行バス」、「ネオン」は4曲目")
	f.Fuzz(func(t *testing.T, said, policy, draft string) {
		if len(said)+len(policy)+len(draft) > 4096 {
			return
		}
		turns := []abi.PastTurn{{N: 1, From: "mika", Text: said}, {N: 2, From: "", Text: said}}
		items := keep.Items(turns, policy)
		v := judge.Verify(turns, items, draft)
		judged(turns, items, draft, history.Length{N: 10, Unit: history.Tokens}, v)
		judge.Losses(turns, draft)
		_, _ = extract.Draft(t.Context(), turns, policy, items, history.Length{N: 100, Unit: history.Characters})
		for _, said := range v.Items {
			if utf8.ValidString(draft) && said.Quote != "" && !strings.Contains(draft, said.Quote) {
				t.Fatalf("%q is not in %q", said.Quote, draft)
			}
		}
		marks.Sounds(said)
	})
}

// TestUnnamedIsWhatCodeFinds: also of what the policy does not name a verifier's word counts for no more than what it quotes: that has to be of it.
func TestUnnamedIsWhatCodeFinds(t *testing.T) {
	for _, c := range []struct {
		item, draft, quote string
		want               history.Status
	}{
		{"酒は出さないで。", "予算は84,000円。みんなで話した。", "みんなで話した。", history.Missing},
		{"酒は出さないで。", "予算は84,000円。酒を出す。", "予算は84,000円。", history.Changed},
		{"予算は84,000円にしよう。", "予算は48,000円。", "予算は48,000円。", history.Changed},
		{"酒は出さないで。", "予算は84,000円。酒は出さない。", "予算は84,000円。", history.Kept},
		{"The hall is closed on Mondays.", "They met. Mondays are out for the hall.", "Mondays are out for the hall.", history.Kept},
	} {
		items := []abi.KeepItem{{ID: "M1", Text: c.item, Turn: 4}}
		if v, f, why := judged(saying(c.draft, items), items, c.draft, anyLength, says(c.quote)); v != history.Yes || f[0].Status != c.want {
			t.Errorf("%s, %s: %s %+v\n%s", c.item, c.draft, v, f[0], why)
		}
	}
}
