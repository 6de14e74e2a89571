package keep_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/keep"
)

// named gives what a policy names of some turns, a line each.
func named(policy string, said ...string) string {
	var turns []abi.PastTurn
	for i, s := range said {
		turns = append(turns, abi.PastTurn{N: uint64(i + 1), From: []string{"mika", "taro"}[i%2], Text: s})
	}
	var all []string
	for _, k := range keep.Items(turns, policy) {
		if k.Policy {
			all = append(all, k.Text)
		}
	}
	return strings.Join(all, "\n")
}

// TestReasons: where the policy names reasons, what is decided or forbidden stays with its own, which may stand in another clause, or beside it.
func TestReasons(t *testing.T) {
	const policy = "Keep every decision with its reason, and all limits. Greetings are noise."
	for _, c := range []struct {
		said []string
		want string
	}{
		{[]string{"おはよう。", "予算は8万4千円まで。これを超えてはいけません。"}, "予算は8万4千円まで。"},
		{[]string{"ステージで火は使わないことにしましょう。消防署の許可が下りませんでした。"}, "ステージで火は使わないことにしましょう。\n消防署の許可が下りませんでした。"},
		{[]string{"消防署の許可が下りませんでした。", "では、ステージで火は使わないことにしましょう。"}, "消防署の許可が下りませんでした。\nステージで火は使わないことにしましょう。"},
		{[]string{"体育館は雨漏りするので、会場は音楽室にしました。"}, "体育館は雨漏りするので\n会場は音楽室にしました。"},
		{[]string{"We picked the library because the hall has no heating."}, "We picked the library because the hall has no heating."},
		{[]string{"We decided on the library for the reading.", "The hall has no heating, that is why."}, "We decided on the library for the reading."},
		{[]string{"消防署の人が来ませんでした。", "お茶がおいしい。"}, ""},
	} {
		got := named(policy, c.said...)
		for _, w := range strings.Split(c.want, "\n") {
			if !strings.Contains(strings.ReplaceAll(got, "、", ""), strings.ReplaceAll(w, "、", "")) || c.want == "" && got != "" {
				t.Errorf("%q: %q, and not %q", c.said, got, w)
			}
		}
	}
	if got := named("決定は残す。", "体育館は雨漏りするので、会場は音楽室にしました。", "消防署の許可が下りませんでした。"); strings.Contains(got, "雨漏り") || strings.Contains(got, "消防署") {
		t.Error(got)
	}
}

// TestWhoKnowsNothing: that somebody knows nothing of what the policy names is nothing of it; what is open yet is.
func TestWhoKnowsNothing(t *testing.T) {
	for _, said := range []string{
		"「予算」については、手元に確かな情報がないんだ", "予算についてはちょっと分かりません。", "予算は私には分からないです。", "ごめんね、予算のことは何も知らないんだ。", "予算の記録はありません。",
		"I don't know about the budget.", "Sorry, I don't know anything about the budget.", "I have no information about the budget.", "I'm not sure about the budget.",
	} {
		for _, policy := range []string{"予算は残す", "Keep the budget.", "全部残す"} {
			if got := named(policy, said); got != "" {
				t.Errorf("%s: %s", policy, got)
			}
		}
	}
	for _, said := range []string{
		"予算をいくらにするかはまだ分かりません。", "予算は戸倉さんに聞かないと分からないです。", "予算の記録は6月12日まで見られません。", "We don't know the budget yet, the council decides on May 3.", "予算は84,000円で、内訳の記録はありません。",
	} {
		if got := named("予算は残す。Keep the budget.", said); got == "" {
			t.Errorf("nothing of %s", said)
		}
	}
}

// TestShortThingsAreHeldTo: what is forbidden, open, decided or limited in a few words is, where the policy names it; small talk in the same words
// is not.
func TestShortThingsAreHeldTo(t *testing.T) {
	for _, c := range []struct{ policy, said string }{
		{"Keep the password and all prohibitions. Greetings are noise.", "Do not share the password with anybody."},
		{"Keep everything that is forbidden.", "Don't call my mother, whatever happens."},
		{"Keep everything that is forbidden.", "No smoking in here."},
		{"Keep everything that is forbidden.", "You may not smoke here."},
		{"Keep what is forbidden. Redis matters.", "We do not use Redis."},
		{"Keep everything about Redis.", "We do not use Redis."},
		{"禁止事項を残す。", "ケーブルに触るな。"},
		{"禁止事項を残す。", "立入禁止です。"},
		{"Keep open questions.", "The venue is still open."},
		{"Keep open questions.", "The venue is undecided."},
		{"Keep open questions.", "It is still open whether we meet on Friday."},
		{"決定を残す。", "デザインBに決めました。"},
		{"決定を残す。", "デザインBにする。"},
		{"決定を残す。", "青に決まりました。"},
		{"Keep decisions.", "We agreed on blue."},
		{"Keep the temperature and all limits.", "Temperature must stay below 4 degrees."},
		{"Keep limits.", "Temperature must stay below 4 degrees."},
		{"Keep limits.", "The speed limit is 3 knots."},
		{"Keep limits.", "No more than 3 dogs."},
		{"上限を残す。", "温度は4度以下に保つこと。"},
		{"上限を残す。", "ナッツは4個まで。"},
		{"Keep the PIN and all numbers.", "The PIN is 4711."},
		{"Keep the PIN.", "The PIN is 4711."},
		{"Keep the door code.", "The door code is 4711."},
	} {
		if got := named(c.policy, "Hello there, how is the weather?", c.said); got == "" || !strings.HasPrefix(c.said, got) {
			t.Errorf("%s / %s: %q", c.policy, c.said, got)
		}
	}
	if got := named("決定を残す。", "デザインAは採用しない。デザインBにする。"); got != "デザインAは採用しない。\nデザインBにする。" {
		t.Error(got)
	}
	for _, said := range []string{
		"No problem.", "No thanks.", "Don't worry.", "No way!", "Don't you like it", "Is the venue still open?", "Let's go.", "これで決まり。", "いい天気だな。", "気になるな。", "The shop has two cats.", "それにする。",
	} {
		for _, policy := range []string{"Keep prohibitions, decisions, open questions and limits.", "禁止、決定、未定、上限を残す。"} {
			if got := named(policy, said); got != "" {
				t.Errorf("%s: %q", policy, got)
			}
		}
	}
}
