package speech

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var listeners = strings.Fields(`うん はい ええ ああ へえ ほう ふうん ふむ なるほど なるほどね そうだね そうですね そうね そうですか そうなんだ そうなんですね そっか だよね ですよね たしかに ほんと ほんとに
本当 本当に まじ まじか すごい いいね おお わあ わかる わかります 了解 うける 笑 草 www 888
mhm mm uh-huh hm huh yeah yep yup yes ok okay right sure true exactly totally indeed i_see oh ah aha wow cool nice really got_it gotcha makes_sense fair_enough no_way lol haha`)

func TestBackchannel(t *testing.T) {
	all := slices.Concat(listeners, []string{
		"うんうん", "はいはい。", "うん、うん…", "はーい", "へー", "へぇ〜", "ふーん", "ふぅーん", "おー！", "わぁ", "えー", "あー、なるほど", "あーなるほど！", "そーだねー", "そだねー", "ナルホド", "ﾅﾙﾎﾄﾞ", "ＯＫ", "ｗｗｗ", "８８８８８８",
		"すごーい！！", "すごいｗ", "なるほど😊", "(笑)", "うんっ", "マジ？", "ほんと！？", "ほんとう？", "うんそうだよね", "確かに…", "そっかそっか",
		"Yeah!", "yeah yeah", "YEAHHH", "Hmmm...", "mm-hmm", "Oh, wow!", "oh okay", "Ah, I see.", "hahaha", "HAHAHAHA", "loool", "okok", "No way!", "really?", "oh?", "coool", "yeah、なるほど", strings.Repeat("８", 300),
	})
	for _, text := range all {
		text = strings.ReplaceAll(text, "_", " ")
		if !Backchannel(text) {
			t.Errorf("%q is no backchannel", text)
		}
	}
	for _, text := range strings.Split(`|うーん|うーーん|う〜ん|うぅん|ううん|うーん、なるほど|えっと|えーっと|えーと|あの|あのー|ねえ|ねぇ|いや|いやー|違う|ちょっと|待って|ちょっと待って|はい、えーっと|うん、でも|え、ちょっと|なるほど、じゃあ次は|はいそうです|うんち|おえ|あお
um|uhm|well|but|no|wait|stop|hold on|actually|yeah but wait|yeah, but|oh no|right now|ok stop|ok google|okra|wok|yesterday|sureness|real|col|hazard|i see you|see|got|8|88|8881|…|！？|👍|  |はい？|うん？|え？|huh?|ok?|right?|なるほど？|アヤ、すごい|하하`, "|") {
		for text := range strings.SplitSeq(text, "\n") {
			if Backchannel(text) {
				t.Errorf("%q is a backchannel", text)
			}
		}
	}
	if Backchannel(strings.Repeat("うん", 1000)) {
		t.Error("2,000 letters are a backchannel")
	}
}

// TestListenersRepeat: words of listeners in any number, drawn out and with marks
// between, are a backchannel; with one word of somebody who wants to speak they are not.
func TestListenersRepeat(t *testing.T) {
	never := []string{"うーん", "えっと", "あの", "ねえ", "いや", "違う", "ちょっと", "待って", "um", "well", "but", "wait", "stop", "hold on", "actually"}
	rapid.Check(t, func(t *rapid.T) {
		var words []string
		for range rapid.IntRange(1, 5).Draw(t, "n") {
			w := strings.ReplaceAll(rapid.SampledFrom(listeners).Draw(t, "word"), "_", " ")
			words = append(words, w+rapid.SampledFrom([]string{"", "ー", "っ", "〜"}).Draw(t, "drawn out"))
		}
		between := rapid.SampledFrom([]string{" ", "、", "。", "…", "! "}).Draw(t, "between")
		if text := strings.Join(words, between) + between; !Backchannel(text) {
			t.Fatalf("%q is no backchannel", text)
		}
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		words = slices.Insert(words, at, rapid.SampledFrom(never).Draw(t, "never"))
		if text := strings.Join(words, between); Backchannel(text) {
			t.Fatalf("%q is a backchannel", text)
		}
	})
}

func TestQuestion(t *testing.T) {
	for _, text := range []string{"元気？", "元気?", "元気？？", "本当に！？", "「元気？」", "そう思う？…", "なんで？笑", "元気ですか。", "行きますか", "どうしようかな〜", "いいかなぁ…", "そうだっけ。", "何て言ったっけ", "どこ行くの", "そうなの。", "いいの！", "食べたの",
		"できるのかしら", "今日は晴れ。明日はどうでしょうか。", "Really?", "How are you? :)", "Is it “true?”", "元気？🎉", "カナ"} {
		if !Question(text) {
			t.Errorf("%q is no question", text)
		}
	}
	for _, text := range []string{"", "元気。", "元気？うん、元気。", "そうか。", "そっか…", "まじか！", "海は静か。", "アニメとか", "わたしの", "この", "もの", "だけ", "いいわけ。", "Really? Yes.", "what", "もうバカ！", "？と書く", "…", strings.Repeat("あ", 500)} {
		if Question(text) {
			t.Errorf("%q is a question", text)
		}
	}
	if !Question(strings.Repeat("あ", 500) + "ですか。") {
		t.Error("a long question is none")
	}
}

// TestWidthAndCaseDoNotMatter: what is asked of a text is answered alike however it is
// written.
func TestWidthAndCaseDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := draw(t, "text")
		if f := fold(text); fold(f) != f || Backchannel(f) != Backchannel(text) || len(text) < 200 && Question(f) != Question(text) {
			t.Fatalf("%q and %q differ", text, f)
		}
	})
}
