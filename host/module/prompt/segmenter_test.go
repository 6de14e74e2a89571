package prompt

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"こんにちは！元気？うん。":                 {"こんにちは！", "元気？", "うん。"},
		"「はい。そうです。」と言った。次。":            {"「はい。", "そうです。」", "と言った。", "次。"},
		"彼は「はい。そうです。」と言った。次。":          {"彼は「はい。そうです。」と言った。", "次。"},
		"えっ！？ほんと！！やった♪":                {"えっ！？", "ほんと！！", "やった♪"},
		"I am 1.5 m tall. Really?":     {"I am 1.5 m tall.", " Really?"},
		"Mr. Doe eats, e.g. pears. OK": {"Mr. Doe eats, e.g. pears.", " OK"},
		"one\ntwo":                     {"one\n", "two"},
		"うれしいな！♪ また来てね。":               {"うれしいな！♪", " また来てね。"},
		"猫🐈だ。犬🐕だ。":                     {"猫🐈だ。", "犬🐕だ。"},
		"「こんにちは！どこに行く？」":               {"「こんにちは！", "どこに行く？」"},
		"「こんにちは！それは『何？』ですか。":           {"「こんにちは！", "それは『何？』ですか。"},
		"Yahoo!ニュースを見た?うん!":            {"Yahoo!ニュースを見た?", "うん!"},
	} {
		for _, size := range []int{1, 2, 100} {
			var got []string
			out := newSegmenter(nil, nil, func(s string) error { got = append(got, s); return nil })
			for _, c := range chunks(text, size) {
				if err := out.take(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := out.end(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || out.said() != text {
				t.Errorf("%q in chunks of %d: %q, said %q", text, size, got, out.said())
			}
		}
	}
}

// TestAnEndlessSentence is cut where one would breathe, and costs no more the
// longer it is: the part that is held back has a bound.
func TestAnEndlessSentence(t *testing.T) {
	for text, last := range map[string]string{
		strings.Repeat("あ", 5000): "あ", strings.Repeat("あいう、", 1200): "、", strings.Repeat("「la la ", 1500): " ",
	} {
		var got []string
		out := newSegmenter(nil, nil, func(s string) error { got = append(got, s); return nil })
		for _, c := range chunks(text, 1) {
			if err := out.take(c); err != nil {
				t.Fatal(err)
			}
			if len(out.held) > maxSentence {
				t.Fatalf("%d bytes are held back", len(out.held))
			}
		}
		if err := out.end(); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != text || len(got) < 10 {
			t.Errorf("%.20q: %d segments, %d of %d bytes", text, len(got), len(out.said()), len(text))
		}
		for _, s := range got[:len(got)-1] {
			if len(s) > maxSentence+4 || !strings.HasSuffix(s, last) {
				t.Errorf("a segment of %d bytes, ending in %q", len(s), s[len(s)-4:])
			}
		}
		out = newSegmenter(nil, nil, func(string) error { return nil })
		if err := out.take(text); err != nil || len(out.held) > maxSentence {
			t.Errorf("in one piece: %v, %d bytes are held back", err, len(out.held))
		}
	}
}

// TestTheLineIsOver: the talk with the model ends there, and why is known.
func TestTheLineIsOver(t *testing.T) {
	out := newSegmenter(nil, []string{"Aya"}, func(string) error { return nil })
	if err := out.take("やあ！\nAya: うん。そう。"); !errors.Is(err, errOver) || out.said() != "やあ！" {
		t.Errorf("%v, said %q", err, out.said())
	}
	if err := out.take("もっと。"); !errors.Is(err, errOver) || out.end() != nil {
		t.Errorf("%v", err)
	}
	out = newSegmenter(nil, nil, func(string) error { return nil })
	out.mute, out.most = true, 5
	if err := out.take("とても長い話です。はい。"); !errors.Is(err, errOver) || out.said() != "" || !strings.Contains(out.why(), "more than the 5 characters") {
		t.Errorf("%v, said %q, %s", err, out.said(), out.why())
	}
	out = newSegmenter(nil, nil, func(string) error { return nil })
	if err := out.take(strings.Repeat("ああああ。", 2000)); !errors.Is(err, errOver) || len(out.said()) > abi.MaxText || len(out.said()) < abi.MaxText-20 {
		t.Errorf("%v, said %d bytes", err, len(out.said()))
	}
}

// TestSegmentsAreTheLine: however the text is cut and whatever it is, the segments
// are the line, none is blank, and the line is the text without its edges.
func TestSegmentsAreTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("あい。！？!?. \n「」『』♪…a1:：Aya"))).Draw(t, "text")
		var got []string
		out := newSegmenter([]string{"Aya"}, nil, func(s string) error { got = append(got, s); return nil })
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if err := out.take(string(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := out.end(); err != nil {
			t.Fatal(err)
		}
		shown := strings.Join(got, "")
		if strings.TrimRight(out.said(), " \n") != strings.TrimRight(shown, " \n") || !strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(out.said())) {
			t.Fatalf("%q: said %q, shown %q", text, out.said(), got)
		}
		if slices.ContainsFunc(got, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			t.Fatalf("%q: a blank segment in %q", text, got)
		}
	})
}

func FuzzSegmenter(f *testing.F) {
	f.Add("ニコニ: やあ。\nAya: うん", 3)
	f.Add("\xff。\xe3\x81\a", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		var got strings.Builder
		whole := text
		out := newSegmenter([]string{"ニコニ"}, []string{"Aya", ""}, func(s string) error { got.WriteString(s); return nil })
		for len(text) > 0 {
			n := min(max(1, size), len(text))
			if err := out.take(text[:n]); err != nil && !errors.Is(err, errOver) {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if err := out.end(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.said(), got.String()) {
			t.Errorf("shown %q, said %q", got.String(), out.said())
		}
		if !utf8.ValidString(out.said()) || strings.ContainsAny(out.said(), "\x00\x07\r") {
			t.Errorf("%q became %q", whole, out.said())
		}
	})
}
