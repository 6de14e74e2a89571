package extract_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/host/memory/extract"
)

// A month or a year that has no day yet is enough for a plan where somebody says what they are going to do.
func TestPlansOfAMonth(t *testing.T) {
	for said, want := range map[string]string{
		"来月フランスに行くつもりです。": "plan:ふらんす 2026-12", "来月フランスに行く予定です。": "plan:ふらんす 2026-12", "私は再来月から京都に留学することになりました。": "plan:京都 2027-01", "来年結婚します。": "plan:結婚 2027",
		"5月にリスボンに行きます。": "plan:りすぼん 2027-05", "11月末に病院で手術を受けるんだ。": "plan:surgery 2026-11", "来月からドイツで働くことになりました。": "plan:job 2026-12", "来月の頭に引っ越すつもり。": "plan:moving 2026-12",
		"I'm planning to move to Oslo next month.": "plan:moving 2026-12", "I will go to Lisbon in May!": "plan:lisbon 2027-05", "I'm going to visit Rome next year.": "plan:rome 2027", "Next month I'm moving to Oslo.": "plan:moving 2026-12",
		"We're flying to Japan in October.": "plan:japan 2027-10", "I plan to run a marathon next month.": "plan:run 2026-12", "I'm going to Oslo the month after next.": "plan:oslo 2027-01",
	} {
		got := extract.Facts(talk("ken: "+said), nil)
		if len(got) != 1 || !strings.HasPrefix(got[0].Slot+" "+got[0].Value+":", want+":") || !strings.HasPrefix(got[0].Text, strings.Fields(want)[1]+": ") {
			t.Errorf("%s: %+v", said, got)
		}
	}
	for _, said := range []string{
		"来月は忙しい。", "来月から始まるドラマ", "来月フランスに行きたいです。", "来月フランスに行くかもしれない。", "妹は来月フランスに行くつもりです。", "来月妹がフランスに行くつもりです。", "先月フランスに行きました。", "来月フランスに行くつもりだった。",
		"来月フランスに行くのはやめました。", "来月フランスに行かない。", "来月フランスに行こうよ。", "来月フランスに行くの?", "会社が来月引っ越す。", "来月行くって言ってた。", "5月にリスボンに行った。", "来月フランスに行くつもりはない。", "もし来月フランスに行くなら楽しい。",
		"I'm not going to Oslo next month.", "I might go to Oslo next month.", "My sister is going to Oslo next month.", "Are you going to Oslo next month?", "I went to Oslo last month.", "I was in Oslo in May.", "I'd like to go to Oslo next month.",
		"I may go to Oslo next month.", "I will think about it next month.", "Let's go to Oslo next month.", "I'm going to be busy next month.", "I'm going to miss you next month.", "If I move to Oslo next month, I'll call.", "I want to move to Oslo next year.",
	} {
		if got := extract.Facts(talk("ken: "+said), nil); len(got) > 0 {
			t.Errorf("%s: %+v", said, got)
		}
	}
	for _, c := range [][3]string{
		{"来月フランスに行く予定です。", "来月京都に帰る予定です。", "2026-12: 来月フランスに行く予定です; 2026-12: 来月京都に帰る予定です"}, {"来月フランスに行くつもりです。", "フランスに行くのはやめました。", "フランスに行くのはやめました"},
		{"I'm going to Oslo next month.", "I'm not going to Oslo after all.", "I'm not going to Oslo after all"},
	} {
		if so, _ := after(t, c[0], c[1]); so != c[2] {
			t.Errorf("%s / %s: it is so that %q", c[0], c[1], so)
		}
	}
}

// What people say of themselves with nothing around it.
func TestPlainNames(t *testing.T) {
	for said, want := range map[string]string{
		"俺はハルトって言うんだ": "名前はハルト", "俺はハルトって言うんだよ。": "名前はハルト", "僕は健太っていうんだ。": "名前は健太", "あたしサクラっていうの。": "名前はサクラ", "I'm Klaus.": "is called Klaus", "I'm Klaus": "is called Klaus", "I am Eric!": "is called Eric",
		"俺はダメって言うんだ。": "", "俺は無理って言うんだ。": "", "彼は嫌って言うんだ。": "", "これはペンって言うんだ。": "", "私は猫って言うんだ。": "", "友達が来るって言うんだ。": "", "俺は行くって言うんだ。": "", "俺はいやだって言うんだ。": "", "ハルトって言うんだ。": "",
		"I'm Japanese.": "", "I'm Norwegian.": "", "I'm Dutch.": "", "I'm Catholic.": "", "I'm Sorry.": "", "I'm OK.": "", "I'm Tired.": "", "I'm Exhausted!": "", "I'm Done!": "", "I'm Batman.": "", "I'm klaus.": "", "I'm Team Edward.": "",
		"I'm not Klaus.": "", "I'm Klaus?": "", "If I'm Klaus.": "", "He says I'm Klaus.": "", "Who is it? I'm Klaus.": "",
	} {
		if so, _ := after(t, said); so != want {
			t.Errorf("%s: it is so that %q", said, so)
		}
	}
}

// Of several that one cannot have, the one that was wrong is put right, and no other.
func TestAllergyPutRight(t *testing.T) {
	for _, c := range [][4]string{
		{"ピスタチオアレルギーです。", "アレルギーはピスタチオじゃなくてカシューナッツです", "カシューナッツアレルギー", "ピスタチオアレルギー"}, {"ピスタチオアレルギーがあります。", "ピスタチオじゃなくてカシューナッツです。", "カシューナッツアレルギー", "ピスタチオアレルギー"},
		{"卵アレルギーです。", "私のアレルギーはピスタチオではなくカシューナッツです", "卵アレルギー; カシューナッツアレルギー", ""}, {"卵は食べられない。", "卵じゃなくて牛乳です。", "牛乳は食べられない", "卵は食べられない"},
		{"I'm allergic to pistachios.", "I'm allergic to cashews, not pistachios.", "is allergic to cashews", "is allergic to pistachios"}, {"I'm allergic to pistachios.", "No, I'm not allergic to pistachios but to cashews.", "is allergic to cashews", "is allergic to pistachios"},
		{"I'm allergic to pistachios.", "It's cashews, not pistachios.", "is allergic to cashews", "is allergic to pistachios"}, {"I'm allergic to pistachios.", "My allergy is cashews, not pistachios.", "is allergic to cashews", "is allergic to pistachios"},
		{"ピスタチオアレルギーです。", "アレルギーはピスタチオじゃない。", "ピスタチオアレルギー", ""}, {"ピスタチオアレルギーです。", "妹のアレルギーはピスタチオじゃなくてカシューナッツです", "ピスタチオアレルギー", ""},
	} {
		if so, past := after(t, c[0], c[1]); so != c[2] || past != c[3] {
			t.Errorf("%s / %s: it is so that %q, no longer that %q", c[0], c[1], so, past)
		}
	}
}

// What somebody told of their own family says nothing of what somebody else says next; what was asked of a
// family, or said by a companion, does.
func TestNextSpeaker(t *testing.T) {
	for said, want := range map[string]string{
		"mari: 私の妹はサクラコといいます。": "favourite:food", "mari: うちの猫は元気です。": "favourite:food", "mari: My sister is called Anna.": "favourite:food", "mari: 猫の名前はタマです。": "favourite:food",
		"mari: うちの妹の好きな食べ物、何だと思う?": "", "aya: 私の妹は元気だよ。": "", "mari: 妹さん、元気だったよ。": "", "mari: 彼女は元気?": "",
	} {
		slot := ""
		for _, n := range extract.Facts(talk(said, "ken: 好きな食べ物は水羊羹です。"), nil) {
			if n.SaidBy == "ken" {
				slot += n.Slot
			}
		}
		if slot != want {
			t.Errorf("%s: %q", said, slot)
		}
	}
}

// What everybody has one of is of whom somebody spoke of just before, in two messages, too.
func TestInTwoMessages(t *testing.T) {
	for want, turns := range map[string][]string{
		"ken name 洋子; ken pet:dog 犬":        {"ken: 私の名前は洋子です。", "ken: 犬を飼ってるよ。", "ken: 名前はポチ。"},
		"ken name 洋子; ken family:sister 妹":  {"ken: 私の名前は洋子です。", "ken: 妹がいるよ。", "aya: へえ!", "ken: 名前はサクラ。誕生日は5月2日。12歳だよ。"},
		"ken family:sister 妹; ken name 洋子":  {"ken: 妹がいるよ。", "ken: 私の名前は洋子です。"},
		"ken taste:ramen likes:ラーメン":        {"ken: うちの猫は元気だよ。", "ken: ラーメンが好き。"},
		"mari pet.name:cat タマ; ken name 健二": {"mari: 猫の名前はタマです。", "ken: 名前は健二といいます。"},
		"ken family:sister 妹; ken name 健二":  {"ken: 妹がいるよ。", "aya: へえ!", "mari: うちも。", "ken: 名前は健二です。"},
	} {
		if got := facts(extract.Facts(talk(turns...), nil)); got != want {
			t.Errorf("%q: %q, want %q", turns, got, want)
		}
	}
}
