package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/waittest"
)

// talk makes turns of lines "name: text".
func talk(lines ...string) (turns []abi.PastTurn) {
	for i, line := range lines {
		from, text, _ := strings.Cut(line, ": ")
		turns = append(turns, abi.PastTurn{N: uint64(i + 1), From: from, Text: text})
	}
	return turns
}

var (
	dinner = talk(
		"taro: 今日は暑いね。",
		"mika: ほんと、溶けそう。昨日アイスを3個食べちゃった。",
		"taro: 歓迎会の予算なんだけど、一人4,500円までにしよう。",
		"mika: 了解。人数は18名。",
		"taro: 日程は6月12日の金曜、19時からで。",
		"mika: 高橋さんはそばアレルギーだから、そばの出る店は避けて。",
		"taro: わかった。店は私が月曜までに予約しておくよ。",
		"mika: 二次会をやるかどうかはまだ決まってないね。",
		"taro: そうだね、また今度。",
	)
	dinnerPolicy = "歓迎会の予算、人数、日程、アレルギー、店の予約は必ず残す。二次会のような未定のことも。天気や食べ物の雑談はいらない。"
	dinnerGood   = "歓迎会は6/12(金)午後7時開始、18人、予算は1人4500円以内。高橋さんがそばアレルギーのため、そばを出す店は不可。太郎が月曜までに店を予約する。二次会の有無は未定。"

	deploy = talk(
		"ann: Did you see the match last night?",
		"bob: Yes, what a goal!",
		"ann: The release deadline is Friday, March 14, at 5 pm.",
		"bob: Fine. Never run the migration on the primary database.",
		"ann: I'll write the rollback script by Wednesday.",
		"bob: The budget for the servers is at most $1,200 a month.",
		"ann: Who will be on call? We have not decided yet.",
	)
	deployPolicy = "Keep the release deadline, the migration rules, the rollback script, the budget and open questions about who is on call. Football is noise."
	deployGood   = "The release is due on Fri, 14 March, 17:00. The migration must not touch the primary database. Ann will write a rollback script until Wednesday. Server budget: up to 1.2k dollars per month. Undecided: who is on call."
)

func verdict(turns []abi.PastTurn, policy, draft string) (history.Verdict, string) {
	items := keep.Items(turns, policy)
	v, _, why := judged(turns, items, draft, history.Length{N: 10_000, Unit: history.Characters}, judge.Verify(turns, items, draft))
	return v, why
}

func TestDraftsOfOwnTalks(t *testing.T) {
	waittest.WithoutRaces(t)
	for _, c := range []struct {
		turns        []abi.PastTurn
		policy, good string
		harm         []string // pairs
	}{
		{dinner, dinnerPolicy, dinnerGood, []string{
			"4500円", "5400円", "以内", "以上", "18人", "16人", "6/12", "6/13", "(金)", "(土)", "午後7時", "午後6時", "高橋", "高木", "不可", "よい",
			"太郎が月曜までに店を予約する。", "", "二次会の有無は未定。", "", "有無は未定", "開催が決定", "18人、", "",
		}},
		{deploy, deployPolicy, deployGood, []string{
			"14 March", "15 March", "17:00", "7 pm", "must not", "may", "Wednesday", "Thursday", "1.2k", "2.1k", "up to", "at least", "Undecided: who", "Bob", "Undecided: who is on call.", "",
		}},
	} {
		for _, k := range keep.Items(c.turns, c.policy) {
			t.Logf("%+v", k)
		}
		if v, why := verdict(c.turns, c.policy, c.good); v != history.Yes {
			t.Errorf("the good draft is refused:\n%s", why)
		}
		for i := 0; i < len(c.harm); i += 2 {
			bad := strings.Replace(c.good, c.harm[i], c.harm[i+1], 1)
			if v, _ := verdict(c.turns, c.policy, bad); bad == c.good || v != history.No {
				t.Errorf("%q for %q is not refused", c.harm[i+1], c.harm[i])
			}
		}
		t.Log(fmt.Sprint(judge.Losses(c.turns, c.good)))
	}
}
