package address

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// The grammar tests build sentences from parts, so that the rule at Addressed
// is held for far more of them than a table can list.

// written are ways to write each name of the cast.
var written = map[string][]string{
	"aya":        {"Aya", "aya", "AYA", "Ａｙａ", "あや", "アヤ", "ｱﾔ"},
	"kyoko":      {"Kyoko", "京子", "きょうこ", "キョウコ", "ｷｮｳｺ"},
	"natsumi":    {"なつみ", "ナツミ", "夏美", "natsumi"},
	"nikoni_bot": {"Nikoni", "ニコニ", "にこに", "nikoni_bot"},
}

var writtenIDs = []string{"aya", "kyoko", "natsumi", "nikoni_bot"}

func drawName(t *rapid.T, label string) (id, name string) {
	id = rapid.SampledFrom(writtenIDs).Draw(t, label)
	return id, rapid.SampledFrom(written[id]).Draw(t, label+" written")
}

func isLatin(name string) bool { return !japanese(fold(name).class(0)) }

func check(t *rapid.T, text string, want ...string) {
	if got := addressed("mika", text); got != strings.Join(want, " ") {
		t.Fatalf("%q: got [%s], want %q", text, got, want)
	}
}

var (
	callEnds  = []string{"、", "！", "!", "？", "?", ", ", "。", "…", "、、"}
	politely  = []string{"さん", "ちゃん", "くん", "さま", "様", "先輩", "せんぱい", "先生", "さーん", "ちゃーん", "サン", "ﾁｬﾝ", "姉さん", "たん", "っち"}
	remarks   = []string{"どう思う？", "聞いて", "おはよう", "元気だった？", "次の曲は？", "what do you think?", "歌って！"}
	topics    = []string{"の歌すごかったね", "の話を聞いた", "が来た", "は元気そう", "と会ったよ", "も呼ぼう", "に会いたい", "から聞いた", "なら大丈夫", "って面白い"}
	openings  = []string{"ねえ", "ねぇ", "おーい", "あのね、", "おはよう、", "ねえ、", "ところで、", "hey ", "じゃあ、", "うん。"}
	unrelated = []string{"", "今日はいい天気。", "Nice weather. ", "そうなんだ！", "うん、"}
)

// TestCallsAreFound: a call at the start or end of a sentence, with or without
// an honorific and an opening, addresses that one alone, whoever else is the
// object of the talk.
func TestCallsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, name := drawName(t, "called")
		_, other := drawName(t, "mentioned")
		if rapid.Bool().Draw(t, "honorific") {
			name += rapid.SampledFrom(politely).Draw(t, "with")
		}
		before := rapid.SampledFrom(unrelated).Draw(t, "before")
		remark := rapid.SampledFrom(remarks).Draw(t, "remark")
		topic := other + rapid.SampledFrom(topics).Draw(t, "topic")
		opening := rapid.SampledFrom(append(openings, "")).Draw(t, "opening")
		end := rapid.SampledFrom(callEnds).Draw(t, "end")
		check(t, before+opening+name+end+remark, id)
		check(t, before+opening+name+end+topic, id)
		check(t, before+topic+"。"+opening+name+end, id)
		check(t, before+topic+"、"+name, id)
	})
}

// TestQuestionsAreCalls: a name asked with は？ or はどう is called.
func TestQuestionsAreCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, name := drawName(t, "asked")
		_, other := drawName(t, "mentioned")
		ask := rapid.SampledFrom([]string{"は？", "はどう？", "はどう思う？", "はいかが？", "ならどう？", "もどう？"}).Draw(t, "ask")
		topic := other + rapid.SampledFrom(topics).Draw(t, "topic")
		check(t, topic+"。"+name+ask, id)
		check(t, "次は、"+name+"さん"+ask+topic, id)
	})
}

// TestMentionsMeanNobody: a name in a statement is no call, and what follows it no topic.
func TestMentionsMeanNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, name := drawName(t, "mentioned")
		if rapid.Bool().Draw(t, "honorific") {
			name += rapid.SampledFrom(politely).Draw(t, "with")
		}
		before := rapid.SampledFrom([]string{"", "昨日、", "「", "Well. ", "…"}).Draw(t, "before")
		check(t, before+name+rapid.SampledFrom(topics).Draw(t, "topic"))
	})
}

// TestQuestionsWithMentionsAreReplies: a question in which somebody is only named goes to
// whoever spoke before, and to nobody where nobody did.
func TestQuestionsWithMentionsAreReplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, name := drawName(t, "mentioned")
		before, _ := drawName(t, "before")
		text := name + rapid.SampledFrom([]string{"の歌聞いた？", "に会った？", "から何か聞いた？", "のことどう思う？", "と仲いいの？", "を知ってる？"}).Draw(t, "question")
		if who, how := Meant(abi.Message{From: "mika", Text: text}, cast, before); how != Reply || len(who) != 1 || who[0] != before {
			t.Fatalf("%q after %s: got %q by %q", text, before, who, how)
		}
		check(t, text)
	})
}

// TestPairsAreCalledTogether: names joined by と, ・, and, & share a call.
func TestPairsAreCalledTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, first := drawName(t, "first")
		b, second := drawName(t, "second")
		_, other := drawName(t, "mentioned")
		if a == b {
			t.Skip("the same")
		}
		join := rapid.SampledFrom([]string{"と", "・", " and ", " & ", "、"}).Draw(t, "join")
		want := []string{min(a, b), max(a, b)}
		check(t, first+join+second+"、"+other+"の歌どうだった？", want...)
	})
}

// TestEverybodyIsNobody: to call to all is to call to nobody in particular.
func TestEverybodyIsNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, other := drawName(t, "mentioned")
		all := rapid.SampledFrom([]string{"みんな", "みなさん", "皆さん", "皆様", "全員", "二人とも", "ミンナ", "everyone", "Everybody", "Hi all", "you guys"}).Draw(t, "all")
		topic := other + rapid.SampledFrom(topics).Draw(t, "topic")
		check(t, all+"、"+topic)
		check(t, all+"!"+topic)
	})
}

// TestWordsAreNoNames: words that begin or end like a name.
func TestWordsAreNoNames(t *testing.T) {
	words := []string{
		"あやしい", "あやしく", "アヤシイ", "あやとり", "あやめ", "あやつり", "あやうい", "あやまり", "あやす", "なつみかん", "ナツミカン", "京子園", "東京子会社",
		"夏美人", "ニコニコ", "にこにこ", "ayaka", "Himalaya", "papaya", "kyokos", "nikonikoni", "ayaya", "aya_fan", "aya.wasm", "aya7", "7aya",
	}
	after := []string{"", "。", "！", " ", "な人", "が好き", " is nice", "、ね"}
	for _, w := range words {
		for _, a := range after {
			if isLatin(w) && strings.HasSuffix(w, "aya") && a == "な人" {
				continue
			}
			if got := addressed("mika", w+a); got != "" {
				t.Errorf("%q: got [%s]", w+a, got)
			}
		}
	}
}

// TestTheMemberMayBeAnybody: no name, however odd, names another member, and a
// name alone is always found.
func TestTheMemberMayBeAnybody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[a-z]{2,8}`).Draw(t, "id")
		name := rapid.StringMatching(`[ぁ-んァ-ヶ一-鿋A-Za-z]{2,6}`).Draw(t, "name")
		members := []Member{{ID: id, Names: []string{name}}, {ID: "other-member"}}
		if _, all := newNames("x", nil).called(fold(id).folded); all {
			t.Skip("a word for everybody")
		}
		if got := meantIn(members, abi.Message{From: "x", To: []string{name}}); len(got) != 1 || got[0] != id {
			t.Fatalf("to %q: got %q", name, got)
		}
		if got := meantIn(members, abi.Message{From: "x", Text: "@" + id + " hello"}); len(got) != 1 || got[0] != id {
			t.Fatalf("@%s: got %q", id, got)
		}
		if got := meantIn(members, abi.Message{From: id, Text: name + "、" + id}); len(got) != 0 {
			t.Fatalf("%s says %q: got %q", id, name, got)
		}
	})
}
