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

func TestUntil(t *testing.T) {
	for _, c := range []struct {
		text  string
		ms    int
		heard string
	}{
		{"はい、そうです。", -5, ""},
		{"はい、そうです。", 0, ""},
		{"はい、そうです。", 121, ""},
		{"はい、そうです。", 122, "は"},
		{"はい、そうです。", 244, "はい、"},
		{"はい、そうです。", 244 + 470, "はい、"},
		{"はい、そうです。", 244 + 470 + 122, "はい、そ"},
		{"はい、そうです。", 9999, "はい、そうです。"},
		{"うん。「そう」", 244, "うん。"},
		{"「うん」そう", 244, "「うん」"},
		{"きゃあ", 122, "きゃ"},
		{"ｶﾞﾝだよ", 122, "ｶﾞ"},
		{"か\u3099んば", 122, "か\u3099"},
		{"うん👩\u200d👩\u200d👧そう", 244, "うん👩\u200d👩\u200d👧"},
		{"Hi there you", 2 * 52, "Hi"},
		{"Hi there you", 4 * 52, "Hi t"},
		{"e\u0301e\u0301e", 52, "e\u0301"},
		{"…", 0, "…"},
		{"", 0, ""},
	} {
		if got := c.text[:Until(c.text, time.Duration(c.ms)*time.Millisecond)]; got != c.heard {
			t.Errorf("%q after %d ms: %q, want %q", c.text, c.ms, got, c.heard)
		}
	}
}

func TestCluster(t *testing.T) {
	for _, c := range []string{"a", "あ", "e\u0301", "\r\n", "👍🏽", "👩\u200d👩\u200d👧", "🇯🇵", "❤\ufe0f", "ｶﾞ", "1\ufe0f\u20e3", "\u1112\u1161\u11ab", "\xff", "🏴\U000e0067\U000e007f"} {
		for _, behind := range []string{"", "a", "あ", "🇯🇵", "\n"} {
			if got := cluster(c + behind); got != len(c) {
				t.Errorf("%+q before %+q: %d bytes, want %d", c, behind, got, len(c))
			}
		}
	}
}

func TestSentenceAt(t *testing.T) {
	const ja = "はい。「…」そうです。うん…" // 244, rest, 488, rest, 244
	const en = "Hi. Go on!"
	for _, c := range []struct {
		text    string
		ms      int
		said    string
		seconds int // ms
	}{
		{ja, 0, "はい。", 244},
		{ja, 243, "はい。", 244},
		{ja, 244, "はい。", 244}, // resting
		{ja, 244 + 469, "はい。", 244},
		{ja, 244 + 470, "はい。「…」そうです。", 244 + 470 + 488},
		{ja, 244 + 470 + 488 + 470, ja, 244 + 470 + 488 + 470 + 244},
		{ja, 5000, ja, 244 + 470 + 488 + 470 + 244},
		{ja, -1, "はい。", 244},
		{en, 0, "Hi.", 156},
		{en, 156 + 150, "Hi.", 156},
		{en, 156 + 202, en, 156 + 202 + 6*52},
		{"", 0, "", 0},
		{"…", 0, "…", 0},
	} {
		end, at := SentenceAt(c.text, time.Duration(c.ms)*time.Millisecond)
		if c.text[:end] != c.said || at != time.Duration(c.seconds)*time.Millisecond {
			t.Errorf("%q after %d ms: %q at %v, want %q at %d ms", c.text, c.ms, c.text[:end], at, c.said, c.seconds)
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
func hold(t interface{ Fatalf(string, ...any) }, text string, heard time.Duration) {
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
	at := Until(text, heard)
	if !starts[at] || Until(text, all) != len(text) || Until(text, heard+time.Second) < at {
		t.Fatalf("%q: heard until %d after %v", text, at, heard)
	}
	end, then := SentenceAt(text, heard)
	switch {
	case text != "" && !slices.Contains(ends, end), then < 0, then > all:
		t.Fatalf("%q: the sentence after %v ends at %d, %v", text, heard, end, then)
	case end < len(spoken(text[:at])):
		t.Fatalf("%q: after %v %q was heard, and the sentence ends at %d", text, heard, text[:at], end)
	case Until(text, then) < len(spoken(text[:end])):
		t.Fatalf("%q: %q is said at %v, and then %q was heard", text, text[:end], then, text[:Until(text, then)])
	}
	for i := 0; i < len(text); {
		n := cluster(text[i:])
		if n <= 0 {
			t.Fatalf("%q: a cluster of %d bytes", text, n)
		}
		i += n
	}
}

// spoken leaves out what takes no time at the end of a text.
func spoken(text string) string {
	return strings.TrimRightFunc(text, func(r rune) bool { return !isLetter(r) || extends(r) || nativeTime(r) == 0 })
}

func TestWhatHoldsOfEveryText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := draw(t, "text")
		hold(t, text, time.Duration(rapid.IntRange(-10, 8000).Draw(t, "ms"))*time.Millisecond)
	})
}

// TestHeardTextIsWhole: what was heard, and what was not, are clusters of the text.
func TestHeardTextIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := draw(t, "text")
		at := Until(text, time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms"))*time.Millisecond)
		for i := 0; i < at; {
			if i += cluster(text[i:]); i > at {
				t.Fatalf("%q is cut at %d", text, at)
			}
		}
	})
}

func FuzzSpeech(f *testing.F) {
	f.Add("はい、そうです。「え？」Mr. Doe said 3.14!", int64(1200))
	f.Add("\xff。\xe3\x81\r\n🇯🇵🇯", int64(-1))
	f.Add("「「「。", int64(1)<<62)
	f.Fuzz(func(t *testing.T, text string, ms int64) {
		hold(t, text, time.Duration(ms%3_600_000)*time.Millisecond)
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

func BenchmarkSentenceAt(b *testing.B) {
	for b.Loop() {
		SentenceAt(line, 3*time.Second)
	}
}
