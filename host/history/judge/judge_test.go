package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
)

// named is a list of one thing that the policy names.
func named(text string) []abi.KeepItem {
	return []abi.KeepItem{{ID: "M1", Text: text, Turn: 4, Policy: true}}
}

// says is a verifier's YES that quotes this.
func says(quote string) abi.Verified {
	return abi.Verified{Verdict: abi.VerdictYes, Items: []abi.VerifiedItem{{ID: "M1", Status: abi.StatusKept, Quote: quote}}}
}

// saying are turns in which items were said, and all that a draft says.
func saying(draft string, items []abi.KeepItem) []abi.PastTurn {
	turns := []abi.PastTurn{{N: 1, From: "taro", Text: draft}}
	for _, k := range items {
		turns = append(turns, abi.PastTurn{N: k.Turn, From: "taro", Text: k.Text})
	}
	return turns
}

// judged is [judge.Judge] for as long as it takes.
func judged(turns []abi.PastTurn, items []abi.KeepItem, draft string, length history.Length, v abi.Verified) (history.Verdict, []history.Finding, string) {
	verdict, findings, why, err := judge.Judge(context.Background(), turns, items, draft, length, v)
	if err != nil {
		panic(err)
	}
	return verdict, findings, why
}

var anyLength = history.Length{N: 10_000, Unit: history.Characters}

// TestAVerifiersWordIsTaken: what a verifier calls kept is, where the draft has what it quotes and nothing can be seen that speaks
// against it: also what says the same in other words, which code alone would not find.
func TestAVerifiersWordIsTaken(t *testing.T) {
	for _, c := range []struct{ item, draft, quote string }{
		{"かつおぶしは絶対だめ。", "かつおぶしと煮干しは厳禁、ちゅーるは1日1本まで。", "かつおぶしと煮干しは厳禁"},
		{"Redisはキューには使わないでください。", "再起動で消えた経緯からRedisはキューに用いず、表をキューにする。", "Redisはキューに用いず"},
		{"Never run the migration on the primary database.", "The primary is off-limits for migrations. The release is on Friday.", "The primary is off-limits for migrations."},
		{"会場は体育館じゃなくて音楽室にしよう。", "会場: 音楽室(体育館は不可)。", "会場: 音楽室(体育館は不可)"},
	} {
		if v, f, why := judged(saying(c.draft, named(c.item)), named(c.item), c.draft, anyLength, says(c.quote)); v != history.Yes || f[0].Status != history.Kept || !strings.Contains(c.draft, f[0].Quote) {
			t.Errorf("%s: %s %+v\n%s", c.item, v, f, why)
		}
	}
}

// TestNearlyQuoted: a quotation that is nearly the draft's is one, and is shown as the draft has it.
func TestNearlyQuoted(t *testing.T) {
	const draft = "歓迎会は6/12(金)午後7時、予算は「1人4500円以内」。 The Migration must not touch the “primary” database, ever."
	for quote, want := range map[string]string{
		"予算は「1人4500円以内」":                                        "予算は「1人4500円以内」",
		"予算は１人４５００円以内":                                          "予算は「1人4500円以内",
		"予算は 1人 4500 円以内。":                                      "予算は「1人4500円以内",
		"歓迎会は6/12（金）…予算は「1人4500円以内」":                            "歓迎会は6/12(金)午後7時、予算は「1人4500円以内",
		"歓迎会は6/12(金) (中略) 1人4500円以内":                            "歓迎会は6/12(金)午後7時、予算は「1人4500円以内",
		"the migration must not touch the \"primary\" database": "The Migration must not touch the “primary” database",
		"**The Migration** must not [...] database, ever":       "The Migration must not touch the “primary” database, ever",
		"予算は4500円以内":                                            "",
		"1人4500円以内…歓迎会は6/12":                                    "", // not in this order
		"…":                                                     "",
		"、。「」":                                                  "",
		"must touch":                                            "",
		"\xff":                                                  "",
		"歓迎会は6/12(金)…二次会":                                       "",
		strings.Repeat("予算は", 10_000):                           "",
	} {
		items := []abi.KeepItem{{ID: "M1", Text: "歓迎会の話", Turn: 1}}
		verdict, f, why := judged(saying(draft, items), items, draft, anyLength, says(quote))
		status := history.Kept
		if want == "" {
			status = history.Missing
		}
		if f[0].Status != status || f[0].Quote != want || verdict != history.Yes {
			t.Errorf("%.60q: %s %+v, want %s %q\n%s", quote, verdict, f[0], status, want, why)
		}
	}
}

// TestWhatCodeSees: a verifier's word is not taken where code sees that it is wrong. Other than what it quotes has to be there.
func TestWhatCodeSees(t *testing.T) {
	for _, c := range []struct{ item, draft, quote, why string }{
		{"予算は一人4,500円までにしよう。", "予算は控えめに、会費制にした。日程は6月12日。", "予算は控えめに、会費制にした。", "it does not say 4,500円"},
		{"予算は一人4,500円までにしよう。", "予算は一人5,400円まで。", "予算は一人5,400円まで。", "4,500円"},
		{"日程は6月12日の19時から。", "日程は6月12日。店は未定。", "日程は6月12日。", "19時"},
		{"The talk is at 10 with Ms Okafor.", "The talk is at 10 with somebody.", "The talk is at 10 with somebody.", "Okafor"},
		{"Redisはキューには使わないでください。", "Redisをキューに用い、通知本文のログ出力は禁止。", "Redisをキューに用い", "not forbidden or denied there"},
		{"二次会をやるかどうかはまだ決まっていません。", "二次会をやることになった。", "二次会をやることになった。", "as if it were settled"},
		{"地下の地図は俺が前日までに作ってアップしとく。", "依頼人に灰の鍵を届ければ金貨。鍵の場所は不明。", "依頼人に灰の鍵を届ければ金貨。", ""},
		{"かつおぶしは絶対だめ。", "魚を削ったものは厳禁。", "厳禁", "too short"},
		{"予算は一人4,500円までにしよう。", "予算は控えめに。", "予算は一人4500円まで", ""}, // it is the original's
		{"かつおぶしは絶対だめ。", "かつおぶしと煮干しは厳禁。", "かつおぶしは禁止です", "does not have \"かつおぶしは禁止です\""},
	} {
		v, f, why := judged(saying(c.draft, named(c.item)), named(c.item), c.draft, anyLength, says(c.quote))
		if v != history.No || f[0].Status == history.Kept || !strings.Contains(why, c.why) || !strings.Contains(why, c.item) {
			t.Errorf("%s: %s %+v\n%s", c.item, v, f, why)
		}
	}
	// What is quoted from the original is no evidence, and no lie either: code looks itself.
	if v, f, why := judged(saying("予算は1人4500円まで。", named("予算は一人4,500円までにしよう。")), named("予算は一人4,500円までにしよう。"), "予算は1人4500円まで。", anyLength, says("予算は一人4,500円まで")); v != history.Yes || f[0].Quote != "予算は1人4500円まで。" {
		t.Errorf("%s %+v\n%s", v, f, why)
	}
}

// TestUnnamedRefusesNothing: what no policy names is found kept, changed or missing, and the verdict is YES all the same, by code and by a
// verifier that says so; what was added refuses a draft also without a policy.
func TestUnnamedRefusesNothing(t *testing.T) {
	turns := []abi.PastTurn{{N: 1, From: "mika", Text: "予算は84,000円にしよう。"}, {N: 2, From: "taro", Text: "酒は出さないで。締切は3月28日。"}, {N: 3, From: "mika", Text: "会場はどこにする?"}}
	items := keep.Items(turns, "")
	if len(items) == 0 || slices.ContainsFunc(items, func(k abi.KeepItem) bool { return k.Policy }) {
		t.Fatalf("without a policy: %+v", items)
	}
	const draft = "みんなで準備の話をした。"
	v, findings, why := judged(turns, items, draft, anyLength, judge.Verify(turns, items, draft))
	if v != history.Yes || why != "" || len(findings) != len(items) {
		t.Errorf("%s %+v\n%s", v, findings, why)
	}
	for _, f := range findings {
		if f.Policy || f.Status == history.Kept {
			t.Errorf("%+v", f)
		}
	}
	if v, _, why := judged(turns, items, "予算は99,000円。", anyLength, judge.Verify(turns, items, "予算は99,000円。")); v != history.No || !strings.Contains(why, "99,000円") {
		t.Errorf("what was added: %s\n%s", v, why)
	}
}

// TestNoWithoutAReason: feedback never ends with an empty reason: what was not kept is one.
func TestNoWithoutAReason(t *testing.T) {
	items := []abi.KeepItem{{ID: "M1", Text: "予算は84,000円", Turn: 4}, {ID: "M2", Text: "締切は3月28日", Turn: 6}}
	const draft = "締切は3月28日。"
	no := func(feedback string, statuses ...string) abi.Verified {
		v := abi.Verified{Verdict: abi.VerdictNo, Feedback: feedback}
		for i, s := range statuses {
			v.Items = append(v.Items, abi.VerifiedItem{ID: fmt.Sprint("M", i+1), Status: s, Quote: map[string]string{abi.StatusKept: "締切は3月28日"}[s]})
		}
		return v
	}
	for _, c := range []struct {
		said abi.Verified
		want string
	}{
		{no("", abi.StatusMissing, abi.StatusKept), `- the verifier says "NO": M1 is missing (turn 4): 予算は84,000円`},
		{no(" \n", abi.StatusNotNeeded, abi.StatusKept), `- the verifier says "NO": it gives no reason`},
		{no("金額がない。", abi.StatusMissing, abi.StatusKept), `- the verifier says "NO": 金額がない。`},
	} {
		if v, _, why := judged(saying(draft, items), items, draft, anyLength, c.said); v != history.No || why != c.want {
			t.Errorf("%s\n%s\nwant\n%s", v, why, c.want)
		}
	}
	items[0].Policy = true // code says it
	if v, _, why := judged(saying(draft, items), items, draft, anyLength, no("", abi.StatusMissing, abi.StatusKept)); v != history.No || strings.Contains(why, "the verifier says") || !strings.Contains(why, "M1 is missing") {
		t.Errorf("%s\n%s", v, why)
	}
}

// TestInventedQuotations: who quotes mostly what nobody wrote has not looked, whatever it says of the rest.
func TestInventedQuotations(t *testing.T) {
	turns := []abi.PastTurn{{N: 1, From: "taro", Text: "The budget is 84,000 dollars. We must not tell Bob. I promise to come on May 3."}}
	items := keep.Items(turns, "")
	for _, quote := range []string{"The budget stays at 84,000 dollars", ""} {
		v := abi.Verified{Verdict: abi.VerdictYes}
		for _, k := range items {
			v.Items = append(v.Items, abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: quote})
		}
		if verdict, _, why := judged(turns, items, "Nothing.", anyLength, v); verdict != history.No || !strings.Contains(why, "what the text does not have") {
			t.Errorf("%q: %s %s", quote, verdict, why)
		}
	}
}

// TestInventionsPassNoVerifier: a number, a day and a sure name that only the draft has refuse it, also where a verifier says that nothing was
// added, and each is named once where it says so too.
func TestInventionsPassNoVerifier(t *testing.T) {
	turns := []abi.PastTurn{{N: 4, From: "taro", Text: "The budget is 5000 yen for each of 12 people."}, {N: 5, From: "mika", Text: "予算は田中さんが決めた。"}}
	items := named("The budget is 5000 yen for each of 12 people.")
	for added, want := range map[string]string{
		"":                                 "",
		" That comes to 60,000 yen.":       "",
		" 田中さんが決めた。":                       "",
		" Taro said so.":                   "",
		" The launch is on March 3.":       "March 3",
		" They ask Kenji Watanabe.":        "Kenji Watanabe",
		" It costs 99999 dollars.":         "99999 dollars",
		" Write to evil@example.com.":      "evil@example.com",
		" 佐藤さんも来る。":                        "佐藤さん",
		" Over by 7:45, and by 7:45 only.": "7:45",
	} {
		draft := items[0].Text + added
		for _, said := range []abi.Verified{says(items[0].Text), judge.Verify(turns, items, draft)} {
			verdict, f, why := judged(turns, items, draft, anyLength, said)
			if f[0].Status != history.Kept || (verdict == history.No) != (want != "") || want != "" && strings.Count(why, want) != 1 {
				t.Errorf("%q: %s %+v\n%s", added, verdict, f, why)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if verdict, _, _, err := judge.Judge(ctx, turns, items, "Nothing.", anyLength, says("")); verdict == history.Yes || !errors.Is(err, context.Canceled) {
		t.Error(verdict, err)
	}
}

// TestWithoutAnAnswer: what a verifier did not answer about, and what it answered something else about than a status, is found as code finds it;
// the verdict is NO all the same.
func TestWithoutAnAnswer(t *testing.T) {
	items := []abi.KeepItem{{ID: "M1", Text: "The budget is 5000 yen.", Turn: 4, Policy: true}, {ID: "M2", Text: "予算は8万4千円まで。", Turn: 5, Policy: true}, {ID: "M3", Text: "Nobody sings.", Turn: 6}}
	const draft = "The budget is 5000 yen. 予算は9万円まで。"
	want := []history.Status{history.Kept, history.Changed, history.Missing}
	for name, said := range map[string]abi.Verified{
		"nothing":   {},
		"no status": {Verdict: abi.VerdictYes, Items: []abi.VerifiedItem{{ID: "M1", Status: "yes"}, {ID: "M2", Status: "KEPT", Quote: "9万円"}, {ID: "M3"}}},
	} {
		verdict, f, why := judged(saying(draft, items), items, draft, anyLength, said)
		if verdict != history.No || why == "" {
			t.Errorf("%s: %s %s", name, verdict, why)
		}
		for i, s := range want {
			if f[i].Status != s || (s == history.Missing) != (f[i].Quote == "") || f[i].Quote != "" && !strings.Contains(draft, f[i].Quote) {
				t.Errorf("%s: %+v, want %s", name, f[i], s)
			}
		}
	}
}

// TestFeedbackOfAYes: where the feedback of a YES names something by its id it is not kept, unless just that is said of it.
func TestFeedbackOfAYes(t *testing.T) {
	items := []abi.KeepItem{{ID: "M1", Text: "The budget is 5000 yen.", Turn: 4, Policy: true}, {ID: "M12", Text: "Nobody sings.", Turn: 5}}
	const draft = "The budget is 5000 yen. Nobody sings."
	for feedback, want := range map[string]string{
		"":                          "",
		"Well done.":                "",
		"M1 is wrong.":              "M1",
		"The budget (m1) is off. ":  "M1",
		"M1の金額が違う。":                 "M1",
		"M1 is not kept.":           "M1",
		"M1 is kept, but too late.": "M1",
		"M1 and M12 are kept.":      "",
		"M1は残っています。":                "",
		"M12 is wrong.":             "M12",
		"M2 is wrong, as is M123.":  "",
	} {
		said := abi.Verified{Verdict: abi.VerdictYes, Feedback: feedback, Items: []abi.VerifiedItem{{ID: "M1", Status: abi.StatusKept, Quote: "The budget is 5000 yen."}, {ID: "M12", Status: abi.StatusKept, Quote: "Nobody sings."}}}
		verdict, f, why := judged(saying(draft, items), items, draft, anyLength, said)
		if (verdict == history.No) != (want == "M1") || want == "M1" && !strings.Contains(why, strings.TrimSpace(feedback)) {
			t.Errorf("%q: %s %s", feedback, verdict, why)
		}
		for _, f := range f {
			if (f.Status == history.Kept) == (f.ID == want) {
				t.Errorf("%q: %+v", feedback, f)
			}
		}
	}
}
