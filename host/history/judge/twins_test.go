package judge_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
)

// twins are drafts of one line, each good one beside those in which something is turned round, with all its numbers, days and names there.
type twins struct {
	name      string
	said      string // by taro
	good, bad []string
}

var deniedTwins = []twins{
	{"paid", "Mika pays Taro 300 euros by March 5.",
		[]string{"Mika pays Taro 300 euros by March 5.", "Mika will pay Taro €300 by 5 March and does not pay for the food.", "By March 5 Mika pays Taro 300 euros, no more than that.", "Mika must not forget to pay Taro 300 euros by March 5.", "By March 5 Mika has to pay Taro 300 euros; Kenji does not pay."},
		[]string{"Mika does not pay Taro 300 euros by March 5.", "Mika won't pay Taro 300 euros by March 5.", "Mika will never pay Taro 300 euros by March 5.", "Mika refuses to pay Taro 300 euros by March 5.", "By March 5 Mika need not pay Taro 300 euros."}},
	{"promised", "I promise to call Kenji tomorrow.",
		[]string{"taro promises to call Kenji tomorrow.", "taro promised that he will call Kenji tomorrow, and not to be late.", "Don't forget: taro promises to call Kenji tomorrow.", "Tomorrow taro not only calls Kenji but visits him, as he promised to call."},
		[]string{"taro promises not to call Kenji tomorrow.", "taro does not promise to call Kenji tomorrow."}},
	{"agreed", "We agreed on option 2 rather than option 3.",
		[]string{"They agreed on option 2 rather than option 3.", "They agreed on option 2 and not on option 3."},
		[]string{"They did not agree on option 2 rather than option 3.", "They disagreed on option 2 rather than option 3."}},
	{"limited", "The budget is at most 5000 yen.",
		[]string{"The budget is no more than 5000 yen.", "The budget must not exceed 5000 yen.", "The budget is 5000 yen at most, not 6000.", "Budget: 5000 yen at most. It does not include drinks."},
		[]string{"The budget is not 5000 yen at most.", "Budget: not 5000 yen.", "It is not true that the budget is at most 5000 yen."}},
	{"painted", "We paint the old fence green.",
		[]string{"The old fence is painted green.", "They do not paint the old fence blue but green.", "They paint the old fence green and do not touch the gate."},
		[]string{"They do not paint the old fence green.", "The old fence is not painted green."}},
	{"until", "The office opens on March 5.",
		[]string{"The office does not open before March 5.", "The office will not open until March 5.", "The office opens on March 5 and not on March 4."},
		[]string{"The office does not open on March 5.", "The office no longer opens on March 5."}},
	{"締切", "締切は3月28日です。",
		[]string{"締切は3月28日。", "締切は3月28日で、4月には延ばせない。", "締切は4月28日ではなく3月28日。", "3月28日が締切なので、出さなければならない。", "締切が3月28日なのは間違いない。"},
		[]string{"締切は3月28日ではない。", "締切は3月28日じゃないです。", "締切は3月28日ではありません。", "締切は3月28日ではなくなった。"}},
	{"予算", "予算は8万4千円までです。",
		[]string{"予算は84,000円まで。", "予算は8万4千円を超えない。", "予算は8万4千円までしか出ない。", "予算は8万4千円まで、酒は出さない。"},
		[]string{"予算は8万4千円までではない。", "予算は84,000円までじゃない。", "予算は8万4千円までですというのは嘘。"}},
	{"鍵", "田中さんが鈴木さんに鍵を渡す。",
		[]string{"田中さんが鈴木さんに鍵を渡す。", "田中さんが鈴木さんに鍵を渡さなければならない。", "田中さんが鈴木さんに鍵を渡すが、現金は渡さない。", "田中さんが鈴木さんに鍵を渡すので、家に入れないで済むことはない。", "田中さんが鈴木さんに鍵を渡さないといけない。"},
		[]string{"田中さんが鈴木さんに鍵を渡さない。", "田中さんは鈴木さんに鍵を渡しません。", "田中さんが鈴木さんに鍵を渡すわけではない。", "田中さんが鈴木さんに鍵を渡さなくてよい。"}},
	{"予約", "店は佐藤さんが5月2日に予約する。",
		[]string{"佐藤さんが5月2日に店を予約する。", "佐藤さんが5月2日に店を予約し、二次会は予約しない。", "佐藤さんが5月2日に予約しないと店がなくなる。", "店の予約は佐藤さん、5月2日。忘れないで。"},
		[]string{"佐藤さんは5月2日に店を予約しない。", "店は佐藤さんが5月2日に予約していない。", "店の予約を佐藤さんは5月2日にはできません。"}},
	{"採用", "会議でデザインBを採用することに決めた。",
		[]string{"デザインBを採用。", "会議はデザインBを採用し、デザインAは採用しないと決めた。", "会議でデザインBの採用が決まった。"},
		[]string{"会議はデザインBを採用しないことに決めた。", "会議でデザインBは不採用に決めた。"}},
}

var forbiddenTwins = []twins{
	{"plain text", "We must never store passwords in plain text.",
		[]string{"Passwords must never be stored in plain text.", "No passwords in plain text.", "Storing passwords in plain text is forbidden.", "Passwords need not be changed, and may not be stored in plain text."},
		[]string{"Passwords must be stored in plain text.", "Passwords need not be stored in plain text.", "It is never wrong to store passwords in plain text.", "We do not have to store passwords in plain text."}},
	{"dose", "The dose is 5 mg twice a day, not 50 mg.",
		[]string{"The dose is 5 mg twice a day, not 50 mg."},
		[]string{"The dose is 50 mg twice a day, not 5 mg.", "The dose is 5 g twice a day, not 50 mg.", "The dose is 5 ml twice a day, not 50 mg."}},
	{"ナッツ", "ナッツは絶対に入れないでください。",
		[]string{"ナッツは入れない。", "ナッツ厳禁。", "ナッツを入れるのは禁止。"},
		[]string{"ナッツは入れないわけではない。", "ナッツは必ず入れる。", "ナッツは入れなくてもよい。", "ナッツは入れないとは限らない。"}},
}

// TestAForbiddenTwin: what is forbidden is not told as what need not be, or denied twice.
func TestAForbiddenTwin(t *testing.T) { judgedTwins(t, forbiddenTwins) }

var limitedTwins = []twins{
	{"by", "Mika pays Taro 300 euros by March 5.",
		[]string{"By March 5 Mika pays Taro 300 euros.", "Mika pays Taro 300 euros until 5 March.", "Mika pays Taro 300 euros no later than March 5.", "Due March 5: Mika pays Taro 300 euros."},
		[]string{"Mika pays Taro 300 euros after March 5.", "Mika pays Taro 300 euros from March 5 on."}},
	{"at", "The meeting is at 7:30 pm on Tuesday.",
		[]string{"The meeting starts at 19:30 on Tuesday.", "Meeting: Tuesday, 7:30 pm.", "The meeting on Tuesday begins not before 7:30 pm.", "After Tuesday's meeting, which is at 7:30 pm, they eat."},
		[]string{"The meeting on Tuesday is before 7:30 pm.", "The meeting is after 7:30 pm on Tuesday."}},
	{"most", "The budget is at most 5000 yen.",
		[]string{"The budget is up to 5000 yen.", "Budget: no more than 5000 yen.", "Budget limit: 5000 yen.", "予算は5000円以内。"},
		[]string{"The budget is under 5000 yen.", "The budget is more than 5000 yen.", "The budget is at least 5000 yen.", "予算は5000円未満。"}},
	{"least", "We need at least 40 chairs.",
		[]string{"They need 40 chairs or more.", "At least 40 chairs are needed.", "They need no fewer than 40 chairs."},
		[]string{"They need more than 40 chairs.", "They need at most 40 chairs.", "They need fewer than 40 chairs."}},
	{"exact", "The budget is 5000 yen.",
		[]string{"Budget: 5000 yen.", "The budget is limited to 5000 yen."},
		[]string{"The budget is under 5000 yen.", "The budget is more than 5000 yen."}},
	{"までに", "締切は3月28日です。",
		[]string{"3月28日が締切。", "締切: 3月28日まで。", "締切は3月28日必着。"},
		[]string{"締切は3月28日より後。", "締切は3月28日を過ぎてから。"}},
	{"まで", "参加費は一人4,500円までにする。",
		[]string{"参加費は1人4500円以内。", "参加費は一人4,500円以下。", "参加費の上限は一人4500円。", "参加費は一人4500円を超えない。"},
		[]string{"参加費は一人4,500円以上。", "参加費は一人4500円未満。", "参加費は一人4,500円から。", "参加費は一人4500円超。"}},
	{"以上", "椅子は40脚以上必要です。",
		[]string{"椅子が40脚以上要る。", "椅子は最低40脚必要。", "椅子は少なくとも40脚必要。"},
		[]string{"椅子は40脚以下で必要。", "椅子は40脚未満必要。", "椅子は40脚以内必要。"}},
	{"時まで", "佐藤さんは19時までに会場へ来る。",
		[]string{"佐藤さんは19時までに会場に来る。", "佐藤さんが会場へ来るのは午後7時まで。"},
		[]string{"佐藤さんは19時より後に会場へ来る。", "佐藤さんは19時以降に会場へ来る。", "佐藤さんは19時から会場へ来る。"}},
	{"に", "佐藤さんは6月12日の19時に会場へ来る。",
		[]string{"佐藤さんは6/12、午後7時に会場へ来る。", "佐藤さんが6月12日19時、会場へ来る。"},
		[]string{"佐藤さんは6月12日の19時より前に会場へ来る。", "佐藤さんは6月12日の19時を過ぎて会場へ来る。"}},
}

// TestALimitTurned: what is the most, the least, the last or the first is not told as another limit.
func TestALimitTurned(t *testing.T) { judgedTwins(t, limitedTwins) }

var turnedTwins = []twins{
	{"pays", "Mika pays Taro 300 euros by March 5.",
		[]string{"By March 5 Mika pays 300 euros to Taro.", "Taro is paid 300 euros by Mika, by March 5.", "Taro gets 300 euros from Mika, who pays by March 5.", "By March 5 Taro receives 300 euros that Mika pays."},
		[]string{"Taro pays Mika 300 euros by March 5.", "By March 5 Taro will pay Mika 300 euros.", "Mika is paid 300 euros by Taro by March 5."}},
	{"promises", "I promise to call Kenji tomorrow.",
		[]string{"taro promises to call Kenji tomorrow.", "Taro promised Kenji a call tomorrow.", "Kenji waits: taro promises to call Kenji tomorrow.", "Kenji can expect a promised call from taro tomorrow."},
		[]string{"Kenji promises to call taro tomorrow.", "Kenji promised to call Taro tomorrow."}},
	{"meets", "Ann meets Bob on Friday.",
		[]string{"Bob meets Ann on Friday.", "On Friday Ann and Bob meet."},
		[]string{"Bob meets Ann on Monday."}},
	{"asks", "Please ask Ms Okafor to send Ben the 12 tickets.",
		[]string{"Ms Okafor is asked to send Ben the 12 tickets.", "Ben gets the 12 tickets that Ms Okafor is asked to send."},
		[]string{"Ben is asked to send Okafor the 12 tickets."}},
	{"渡す", "田中さんが鈴木さんに鍵を渡す。",
		[]string{"鈴木さんに田中さんが鍵を渡す。", "鍵は田中さんが鈴木さんに渡す。", "鈴木さんが田中さんに鍵を渡してもらう。", "鈴木さんは田中さんに鍵を渡される。", "田中さんが鈴木さんに鍵を渡し、鈴木さんが田中さんに鍵を返す。"},
		[]string{"鈴木さんが田中さんに鍵を渡す。", "田中さんに鈴木さんが鍵を渡す。", "鍵は鈴木さんが田中さんに渡す。", "鈴木さんは田中さんへ鍵を渡す。"}},
	{"迎え", "6月12日は高橋さんが佐藤さんを迎えに行く。",
		[]string{"6/12は高橋さんが佐藤さんを迎えに行く。", "6月12日、佐藤さんを高橋さんが迎えに行く。"},
		[]string{"6月12日は佐藤さんが高橋さんを迎えに行く。"}},
	{"私", "私が鈴木さんに5万円を払います。",
		[]string{"太郎が鈴木さんに5万円を払う。", "taroが鈴木さんに5万円を払う。", "鈴木さんに5万円をtaroが払う。"},
		[]string{"鈴木さんがtaroに5万円を払う。"}},
	{"会う", "田中さんが鈴木さんに3月5日に会う。",
		[]string{"鈴木さんが田中さんに3月5日に会う。"},
		[]string{"鈴木さんが田中さんに3月6日に会う。"}},
}

// TestTwoExchanged: who does something to another is not told the other way round.
func TestTwoExchanged(t *testing.T) { judgedTwins(t, turnedTwins) }

// judgedTwins has both verifiers judge drafts of one line that the policy names: code, and a model that calls all kept and quotes what is
// nearest.
func judgedTwins(t *testing.T, all []twins) {
	t.Helper()
	for _, c := range all {
		turns := []abi.PastTurn{{N: 4, From: "taro", Text: c.said}, {N: 5, From: "mika", Text: "Kenji, 太郎, 3月6日, Monday, 6000 and March 4, 4月28日. Hello there!"}}
		items := []abi.KeepItem{{ID: "M1", Text: c.said, Turn: 4, Policy: true}}
		for want, drafts := range map[history.Verdict][]string{history.Yes: c.good, history.No: c.bad} {
			for _, draft := range drafts {
				for by, said := range map[string]abi.Verified{"code": judge.Verify(turns, items, draft), "a model": sloppy(items, draft)} {
					if verdict, f, why := judged(turns, items, draft, anyLength, said); verdict != want {
						t.Errorf("%s, by %s: %q is %s for %q (%s) %s", c.name, by, draft, verdict, c.said, f[0].Status, why)
					}
				}
			}
		}
	}
}

// TestADeniedTwin: what the policy names and nobody denied may not be denied.
func TestADeniedTwin(t *testing.T) { judgedTwins(t, deniedTwins) }
