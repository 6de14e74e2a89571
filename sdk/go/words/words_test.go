package words

import (
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	for s, want := range map[string]Lang{
		"こんにちは": Japanese, "P2Pって何？": Japanese, "ﾈｺ": Japanese, "Hello there": English, "What does 分散 mean in plain English please": English,
		"": "", "🐱🐱": "", "123 ...": "", "ＡＢＣ": English, "don't": English,
	} {
		if got := Language(s); got != want {
			t.Errorf("Language(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestNormalAndHas(t *testing.T) {
	for s, want := range map[string]string{
		"ＡｂＣ！": "abc!", "ラーメン": "らーめん", "ﾈｺ": "ねこ", "  a \t b　c ": "a b c", "Ünï": "ünï", "": "",
	} {
		if got := Normal(s); got != want {
			t.Errorf("Normal(%q) = %q, want %q", s, got, want)
		}
	}
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"education", "cat", false}, {"two cats", "cat", true}, {"the cat.", "cat", true}, {"catsup", "cat", false}, {"concat cat", "cat", true},
		{"子猫がいる", "猫", true}, {"raftって何", "raft", true}, {"aircraft", "raft", false}, {"x", "", false},
	} {
		if got := Has(c.text, c.word); got != c.want {
			t.Errorf("Has(%q, %q) = %v", c.text, c.word, got)
		}
	}
}

func TestSimilarity(t *testing.T) {
	if s := Similarity("猫は好きだよ。", "ネコは好きだよ"); s < 0.4 || s >= 1 {
		t.Errorf("kanji and kana: %v", s)
	}
	if Similarity("ラーメン！", "らーめん") != 1 || Similarity("猫", "犬") != 0 || Similarity("猫", "猫") != 1 || Similarity("分散システム", "お腹すいた") != 0 {
		t.Error("ends of the scale")
	}
}

func TestIntents(t *testing.T) {
	for s, want := range map[string][]Intent{
		"こんにちは！あなたたちは誰ですか？": {Greet, Who}, "Hi, who are you?": {Greet, Who}, "this thing": nil, "じゃあまたね": {Bye}, "good bye!": {Bye},
		"ありがとう！": {Thanks}, "🐱": {Emoji}, "…": {Wordless}, "": {Wordless}, "   ": {Wordless}, "ばーか": {Rude}, "やあ。最近どう？": {Greet, HowAreYou},
		strings.Repeat("あのね", 100): {Long},
	} {
		got := Intents(s)
		for _, w := range want {
			if !got[w] {
				t.Errorf("Intents(%.20q) = %v, want %v", s, got, want)
			}
		}
		if len(got) != len(want) {
			t.Errorf("Intents(%.20q) = %v, want %v", s, got, want)
		}
	}
}

func TestHello(t *testing.T) {
	for _, c := range []struct {
		s    string
		lang Lang
		want string
	}{{"おはよー、おはよう", Japanese, "おはよう！"}, {"good morning", English, "Good morning!"}, {"ただいま", Japanese, "おかえり！"}, {"猫", Japanese, ""}, {"hello", English, "Hello!"}, {"よろしく", Japanese, "こんにちは！"}} {
		if got := Hello(c.s, c.lang); got != c.want {
			t.Errorf("Hello(%q) = %q, want %q", c.s, got, c.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for s, want := range map[string]bool{"猫は好き？": true, "教えてください。": true, "好きですか": true, "明日は雨かなあ": true, "猫が好き": false, "Tell me more": true, "I see": false, "What a day": true} {
		if got := Question(s); got != want {
			t.Errorf("Question(%q) = %v", s, got)
		}
	}
}

func TestWord(t *testing.T) {
	for s, want := range map[string]string{
		"量子もつれについてどう思う？": "量子もつれ", "ねえ、ルービックキューブって知ってる？": "ルービックキューブ", "それって本当？": "", "What is Rust?": "Rust",
		"Taro here. What is Rust?": "Rust", "": "", "どう思う？": "", "好きな映画は？": "映画",
	} {
		if got := Word(s); got != want {
			t.Errorf("Word(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"データやリソースを一極集中させず、全体で柔軟に助け合うんだ。": "全体で柔軟に助け合う", "こんにちは！": "", "ほんと？": "", "ブロックチェーンは。": "",
		"「引用」の中は、引かない": "引かない", "If it rains, my umbrella stays dry.": "my umbrella stays dry", "": "",
	} {
		if got := Quote(s); got != want {
			t.Errorf("Quote(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestIntroduced(t *testing.T) {
	for s, want := range map[string]string{
		"私はタロウです": "タロウ", "はじめまして！田中と申します。": "田中", "僕の名前は健太。": "健太", "my name is Taro": "Taro", "I'm Hanako, hello": "Hanako", "ハナコって呼んで！": "ハナコ",
		"私は学生です": "", "私は元気です": "", "私は猫が好きです": "", "I'm fine": "", "I am tired": "", "私はタロウですか？": "", "俺は眠いよ": "", "call me taro": "taro", "": "",
		"ところで猫を飼いはじめたんだ、名前はミケ": "", "妹がいるよ。名前はハナだよ": "", "猫が好きです。私の名前はケンです": "ケン", "犬を飼ったよ！ポチっていうよ": "", "名前はケン、猫が好き": "ケン",
		"私は研究者です": "",
	} {
		got, ok := Introduced(s)
		if got != want || ok != (want != "") {
			t.Errorf("Introduced(%q) = %q, %v, want %q", s, got, ok, want)
		}
	}
	for s, want := range map[string]string{"ハナコ": "ハナコ", "ケンだよ！": "ケン", "。\nタロウ": "タロウ", " ハナコ です。": "ハナコ", "猫": "", "こんにちは": "", "I do not know": ""} {
		if got, _ := BareName(s); got != want {
			t.Errorf("BareName(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestTopicsOf(t *testing.T) {
	for s, want := range map[string]string{"ねこがね": "cat", "ラーメン食べながらゲーム": "food", "ちゃんとしよう": "", "P2P": "p2p", "Did you see it": ""} {
		got := TopicsOf(s)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("TopicsOf(%q) = %v, want %q", s, got, want)
		}
	}
}

// A bad script is refused with the line and the reason.
func FuzzText(f *testing.F) {
	for _, s := range []string{"こんにちは！", "私はタロウです", "I'm Taro", "ﾈｺ?", "\xff\xfe", "İstanbul i'm X", strings.Repeat("あ、", 700)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := Normal(s); Normal(n) != n {
			t.Errorf("Normal is not stable: %q -> %q -> %q", s, n, Normal(n))
		}
		Intents(s)
		TopicsOf(Clip(s))
		Question(s)
		Word(s)
		Introduced(s)
		BareName(s)
		Similarity(s, s)
		if q := Quote(s); q != "" && !strings.Contains(s, q) {
			t.Errorf("Quote(%q) = %q is not in it", s, q)
		}
	})
}
