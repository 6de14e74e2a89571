package judge_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
)

const bans = "禁止事項はすべて残す"

// TestProhibitionsOfATalkInTwoLanguages: what the policy names is held to in whichever language it was said.
func TestProhibitionsOfATalkInTwoLanguages(t *testing.T) {
	turns := talk("taro: I asked a lot of questions, sorry.", "taro: パスワードは絶対に共有しないでください。鍵は事務室の田中さんが持っています。")
	if v, why := verdict(turns, bans, "taroは、パスワードを共有してくださいと言った。鍵は事務室の田中さんが持っている。"); v != history.No || !strings.Contains(why, "パスワード") {
		t.Errorf("%s: %s", v, why)
	}
	if v, why := verdict(turns, bans, "taroは、パスワードは共有しないよう言った。鍵は事務室の田中さんが持っている。"); v != history.Yes {
		t.Error(why)
	}
	turns = talk("ken: Please do not use the old one", "mika: 火は使わないことにしましょう", "ken: Sounds good.", "mika: はい。")
	for _, policy := range []string{bans, "everything"} {
		if items := keep.Items(turns, policy); len(items) != 2 || !items[0].Policy || !items[1].Policy {
			t.Errorf("%s: %+v", policy, items)
		}
	}
	if v, why := verdict(turns, bans, "古いものは使わない。みんなで話した。"); v != history.No || !strings.Contains(why, "火は使わない") {
		t.Errorf("%s: %s", v, why)
	}
}

// TestOneKanji: what is forbidden is found also where it is a word of one kanji that all texts have.
func TestOneKanji(t *testing.T) {
	turns := talk("a: 火は使わないことにしましょう。")
	for draft, want := range map[string]history.Verdict{"火も使わない。": history.Yes, "火は使わないことになった。": history.Yes, "火を使うことになった。": history.No, "水は使わない。": history.No, "火は使う。": history.No} {
		if v, why := verdict(turns, bans, draft); v != want {
			t.Errorf("%s: %s, %s", draft, v, why)
		}
	}
}

// TestTheOtherLanguage: of what a draft tells in another language, code says that it cannot tell; a quotation may show that it is told
// otherwise, and never that it is kept. Where most of what is named is so, and nothing is quoted for it, the draft is refused.
func TestTheOtherLanguage(t *testing.T) {
	turns := talk("ken: Please do not use the old pot.", "mika: 火は使わないことにしましょう。", "mika: 皿は割らないでください。")
	items := keep.Items(turns, bans)
	for _, c := range []struct {
		draft  string
		status history.Status // of M1
		want   history.Verdict
		says   abi.VerifiedItem // of M1; empty: the verifier without a model
	}{
		{"火は使わない。皿は割らない。", history.Unclear, history.Yes, abi.VerifiedItem{}},
		{"火は使わない。皿は割らない。古い鍋は使わない。", history.Unclear, history.Yes, abi.VerifiedItem{Status: abi.StatusKept, Quote: "古い鍋は使わない"}},
		{"火は使わない。皿は割らない。古い鍋を使う。", history.Changed, history.No, abi.VerifiedItem{Status: abi.StatusKept, Quote: "古い鍋を使う"}},
		{"火は使わない。皿は割らない。古い鍋は使わない。", history.Missing, history.No, abi.VerifiedItem{Status: abi.StatusMissing}},
		{"火は使わない。皿は割らない。", history.Missing, history.No, abi.VerifiedItem{Status: abi.StatusKept, Quote: "Please do not use the pot"}},
		{"火は使わない。皿は割らない。", history.Unclear, history.Yes, abi.VerifiedItem{Status: abi.StatusUnclear, Quote: "nowhere"}},
		{"火は使わない。皿は割らない。 The old pot must not be used.", history.Kept, history.Yes, abi.VerifiedItem{Status: abi.StatusUnclear}},
		{"火は使わない。皿は割らない。 Use the old pot. It is fine. It is good.", history.Changed, history.No, abi.VerifiedItem{Status: abi.StatusUnclear}},
	} {
		v := judge.Verify(turns, items, c.draft)
		if c.says.Status != "" {
			c.says.ID, v.Items[0], v.Verdict = "M1", c.says, abi.VerdictYes
			v.Items[0].ID = "M1"
		}
		got, f, why := judged(saying(c.draft, items), items, c.draft, anyLength, v)
		if got != c.want || f[0].Status != c.status || judge.Look(f) != (c.status == history.Unclear) {
			t.Errorf("%s, %+v: %s %+v\n%s", c.draft, c.says, got, f[0], why)
		}
	}
	const english = "No fire. No plates are broken. The old pot must not be used."
	v, f, why := judged(turns, items, english, anyLength, judge.Verify(turns, items, english))
	if v != history.No || f[1].Status != history.Unclear || !strings.Contains(why, "2 of the 3 things") {
		t.Errorf("%s %+v\n%s", v, f, why)
	}
}

// TestReasonsAreHeldTo: with the example policy of docs/HISTORY.md.
func TestReasonsAreHeldTo(t *testing.T) {
	const policy = "Keep every decision with its reason, and all limits. Greetings are noise."
	turns := talk("mika: おはよう。", "taro: ステージで火は使わないことにしましょう。消防署の許可が下りませんでした。", "mika: 予算は8万4千円まで。これを超えてはいけません。")
	for draft, want := range map[string]history.Verdict{
		"消防署の許可が下りなかったので、ステージで火は使わない。予算は84,000円以内。": history.Yes,
		"ステージで火は使わない。予算は84,000円以内。":                 history.No,
		"消防署の許可が下りたので、ステージで火は使わない。予算は84,000円以内。":    history.No,
		"消防署の許可が下りなかったので、ステージで火を使う。予算は84,000円以内。":   history.No,
		"消防署の許可が下りなかったので、ステージで火は使わない。予算は84,000円以上。": history.No,
		"消防署の許可が下りなかったので、ステージで火は使わない。":              history.No,
	} {
		if v, why := verdict(turns, policy, draft); v != want {
			t.Errorf("%s: %s\n%s", draft, v, why)
		}
	}
}
