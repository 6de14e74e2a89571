package speech

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEstimate(t *testing.T) {
	for text, ms := range map[string]int{
		"":              0,
		"…":             0,
		"🎉👏🏽":           0,
		"あ":             122,
		"あー":            244,
		"きゃっと":          366, // ゃ is nothing, っ is
		"ｷｬｯﾄﾞ":         366,
		"日本語":           630,
		"々":             210,
		"はい、そうです。":      6*122 + 470,
		"えっ！？ほんと！！":     5*122 + 470,
		"うん……そう。":       4*122 + 470,
		"「うん」":          244,
		"AIが好き":         2*250 + 2*122 + 210,
		"2026年":         4*250 + 210,
		"すごい! 本当?":      3*122 + 470 + 2*210,
		"YouTubeで見た。":   7*250 + 2*122 + 210,
		"I love 桜":      250 + 52 + 4*52 + 52 + 210,
		"Hello":         5 * 52,
		"Hello!":        6 * 52,
		"Hello there!":  12 * 52,
		"Well, yes.":    10*52 + 150,
		"Well... yes.":  10*52 + 150,
		"  hi  ":        2 * 52,
		"hi -------- a": 6 * 52,
		"Привет, мир":   11*52 + 150,
		"안녕하세요":         5 * 160,
		"안녕":            2 * 160, // decomposed
		"你好":            2 * 210,
	} {
		if got := Estimate(text); got != time.Duration(ms)*time.Millisecond {
			t.Errorf("%q: %v, want %d ms", text, got, ms)
		}
	}
	if got := Estimate(strings.Repeat("漢", 1<<20)); got != Longest {
		t.Errorf("a million kanji take %v", got)
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":            nil,
		"  \n ":       {"  \n "},
		"こんにちは！元気？うん": {"こんにちは！", "元気？", "うん"},
		"えっ！？ほんと！！やった♪":                       {"えっ！？", "ほんと！！", "やった♪"},
		"「はい。そうです。」と言った。次。":                   {"「はい。", "そうです。」", "と言った。", "次。"},
		"彼は「はい。そうです。」と言った。次。":                 {"彼は「はい。そうです。」と言った。", "次。"},
		"彼は「はい。そうです。次。":                       {"彼は「はい。", "そうです。", "次。"}, // never closed
		"「A」と「B。C」だ。「そう。うん。":                  {"「A」と「B。C」だ。", "「そう。", "うん。"},
		"Yahoo!ニュースを見た?うん!":                   {"Yahoo!ニュースを見た?", "うん!"},
		"うん……そうだね。":                           {"うん……", "そうだね。"},
		"one\ntwo\n\n":                        {"one\n", "two\n\n"},
		"はい。\nうん。":                            {"はい。", "\nうん。"},
		"one\n\"two\"":                        {"one\n", "\"two\""},
		"It is 3.14 m. Really?! Yes":          {"It is 3.14 m.", " Really?!", " Yes"},
		"Mr. Doe met Dr. Who. Bye.":           {"Mr. Doe met Dr. Who.", " Bye."},
		"Fruit, e.g. pears. At 5 p.m. we eat": {"Fruit, e.g. pears.", " At 5 p.m. we eat"},
		"J. R. Smith. So am I. No.":           {"J. R. Smith.", " So am I.", " No."},
		"1. Eat. 2. Sleep in 2020. Then":      {"1. Eat.", " 2. Sleep in 2020.", " Then"},
		"He left (at last.) Then \"so.\" Bye": {"He left (at last.)", " Then \"so.\"", " Bye"},
		"猫🐈だ。犬🐕だ。":                            {"猫🐈だ。", "犬🐕だ。"},
		"これはMr. Beanです。":                      {"これはMr. Beanです。"},
	} {
		var got []string
		at := 0
		for _, end := range Sentences(text) {
			got, at = append(got, text[at:end]), end
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSentenceStillWritten(t *testing.T) {
	for text, want := range map[string]int{
		"こんにちは": 0, "はい。": 0, "はい。う": 9, "Mr. ": 0, "Mr. Doe. ": 8, "one\n": 4, "": 0, "彼は「はい。う": 0,
	} {
		if got := Sentence(text, true); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// parts are what texts are drawn from: all scripts, marks, clusters and broken bytes.
var parts = []string{"あ", "きゃ", "っ", "ー", "ｶﾞ", "日", "々", "A", "b", "7", "don't", " ", "\n", "　", "、", "。", "！", "？", "…", ",", ".", "!", "?", "Mr.", "「", "」", "(", ")", "\"",
	"👍🏽", "🇯🇵", "👩\u200d👧", "e\u0301", "한", "\u1112\u1161", "я", "\xff", "\xe3\x81", "\u200d", "~", "〜", "-", "w", "8", "うん", "なるほど", "wait", "か"}

func draw(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 30).Draw(t, label), "")
}

// TestMoreTakesNoLess: whatever is added behind a text, it takes no less time.
func TestMoreTakesNoLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if Estimate(a) > Estimate(a+b) {
			t.Fatalf("%q takes %v, %q takes %v", a, Estimate(a), a+b, Estimate(a+b))
		}
	})
}

// A mark that is counted as a character of English and as none of Japanese would.
func TestOneKanaMakesNothingShorter(t *testing.T) {
	for _, text := range []string{"a b" + strings.Repeat("！？", 50), strings.Repeat("a !? ", 50), "\"\"''(((--", strings.Repeat("word, ", 50), strings.Repeat("a b…", 50)} {
		if Estimate(text) > Estimate(text+"あ") {
			t.Errorf("%q takes %v, and %v with あ", text, Estimate(text), Estimate(text+"あ"))
		}
	}
}

// hold holds whatever is true of every text.
func hold(t interface{ Fatalf(string, ...any) }, text string) {
	all := Estimate(text)
	if all < 0 || all > Longest || all%time.Millisecond != 0 {
		t.Fatalf("%q takes %v", text, all)
	}
	if half := text[:len(text)/2]; Estimate(half) > all {
		t.Fatalf("%q takes %v, its half %v", text, all, Estimate(half))
	}
	ends := Sentences(text)
	if (len(ends) == 0) != (text == "") || len(ends) > 0 && ends[len(ends)-1] != len(text) {
		t.Fatalf("%q: the ends are %v", text, ends)
	}
	starts := map[int]bool{len(text): true}
	for i := range text {
		starts[i] = true
	}
	before := 0
	for _, end := range ends {
		if end <= before || !starts[end] {
			t.Fatalf("%q: the ends are %v", text, ends)
		}
		if strings.TrimSpace(text[before:end]) == "" && len(ends) > 1 {
			t.Fatalf("%q: a blank sentence in %v", text, ends)
		}
		before = end
	}
}

func TestWhatHoldsOfEveryText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hold(t, draw(t, "text"))
	})
}

func FuzzSpeech(f *testing.F) {
	f.Add("はい、そうです。「え？」Mr. Doe said 3.14!")
	f.Add("\xff。\xe3\x81\r\n🇯🇵🇯")
	f.Add("「「「。")
	f.Fuzz(func(t *testing.T, text string) {
		hold(t, text)
		if n := Sentence(text, true); n < 0 || n > len(text) {
			t.Fatalf("%q: %d", text, n)
		}
		Backchannel(text)
		Question(text)
		p := Shape(text, []string{"aya", text})
		if !Alike(p, p) {
			t.Fatalf("%q is not alike to itself", text)
		}
	})
}

const line = "今日は駅前の新しい喫茶店に行ってきたんだけど、すごく静かで居心地がよくて、気がついたら三時間も本を読んでたよ。また行きたいな！"

func BenchmarkEstimate(b *testing.B) {
	for b.Loop() {
		Estimate(line)
	}
}
