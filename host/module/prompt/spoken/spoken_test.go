package spoken

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
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
			out := New(nil, nil, func(s, _ string) error { got = append(got, s); return nil })
			for _, c := range chunks(text, size) {
				if err := out.Take(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := out.End(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || out.Said() != text {
				t.Errorf("%q in chunks of %d: %q, said %q", text, size, got, out.Said())
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
		out := New(nil, nil, func(s, _ string) error { got = append(got, s); return nil })
		for _, c := range chunks(text, 1) {
			if err := out.Take(c); err != nil {
				t.Fatal(err)
			}
			if len(out.held) > maxSentence {
				t.Fatalf("%d bytes are held back", len(out.held))
			}
		}
		if err := out.End(); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != text || len(got) < 10 {
			t.Errorf("%.20q: %d segments, %d of %d bytes", text, len(got), len(out.Said()), len(text))
		}
		for _, s := range got[:len(got)-1] {
			if len(s) > maxSentence+4 || !strings.HasSuffix(s, last) {
				t.Errorf("a segment of %d bytes, ending in %q", len(s), s[len(s)-4:])
			}
		}
		out = New(nil, nil, func(string, string) error { return nil })
		if err := out.Take(text); err != nil || len(out.held) > maxSentence {
			t.Errorf("in one piece: %v, %d bytes are held back", err, len(out.held))
		}
	}
}

// TestTheLineIsOver: the talk with the model ends there, and why is known.
func TestTheLineIsOver(t *testing.T) {
	out := New(nil, []string{"Aya"}, func(string, string) error { return nil })
	if err := out.Take("やあ！\nAya: うん。そう。"); !errors.Is(err, ErrOver) || out.Said() != "やあ！" {
		t.Errorf("%v, said %q", err, out.Said())
	}
	if err := out.Take("もっと。"); !errors.Is(err, ErrOver) || out.End() != nil {
		t.Errorf("%v", err)
	}
	out = New(nil, nil, func(string, string) error { return nil })
	out.mute, out.most = true, 5
	if err := out.Take("とても長い話です。はい。"); !errors.Is(err, ErrOver) || out.Said() != "" || !strings.Contains(out.Why(), "more than the 5 characters") {
		t.Errorf("%v, said %q, %s", err, out.Said(), out.Why())
	}
	out = New(nil, nil, func(string, string) error { return nil })
	if err := out.Take(strings.Repeat("ああああ。", 2000)); !errors.Is(err, ErrOver) || len(out.Said()) > abi.MaxText || len(out.Said()) < abi.MaxText-20 {
		t.Errorf("%v, said %d bytes", err, len(out.Said()))
	}
}

// TestSegmentsAreTheLine: however the text is cut and whatever it is, the segments
// are the line, none is blank, and the line is the text without its edges.
func TestSegmentsAreTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("あい。！？!?. \n「」『』♪…a1:：Aya"))).Draw(t, "text")
		var got []string
		out := New([]string{"Aya"}, nil, func(s, _ string) error { got = append(got, s); return nil })
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if err := out.Take(string(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := out.End(); err != nil {
			t.Fatal(err)
		}
		shown := strings.Join(got, "")
		if strings.TrimRight(out.Said(), " \n") != strings.TrimRight(shown, " \n") || !strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(out.Said())) {
			t.Fatalf("%q: said %q, shown %q", text, out.Said(), got)
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
		out := New([]string{"ニコニ"}, []string{"Aya", ""}, func(s, _ string) error { got.WriteString(s); return nil })
		for len(text) > 0 {
			n := min(max(1, size), len(text))
			if err := out.Take(text[:n]); err != nil && !errors.Is(err, ErrOver) {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if err := out.End(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.Said(), got.String()) {
			t.Errorf("shown %q, said %q", got.String(), out.Said())
		}
		if !utf8.ValidString(out.Said()) || strings.ContainsAny(out.Said(), "\x00\x07\r") {
			t.Errorf("%q became %q", whole, out.Said())
		}
	})
}

func chunks(s string, size int) (all []string) {
	runes := []rune(s)
	for len(runes) > 0 {
		n := min(size, len(runes))
		all, runes = append(all, string(runes[:n])), runes[n:]
	}
	return all
}

// Tags for emotions are never said, however an answer comes, and each segment has the newest.
func TestTagsAreNotSaid(t *testing.T) {
	for text, want := range map[string]string{
		"[happy] Hi! I won. [sad] She lost.":     "happy:Hi!|happy: I won.|sad: She lost.",
		"Aya: [joy]Hi!":                          "happy:Hi!",
		"[happy] Aya: Hi!":                       "happy:Hi!",
		"Well. [surprised]":                      ":Well.",
		"［怒り］もう。知らない。":                           "angry:もう。|angry:知らない。",
		"[1] and [sic] stay. So does [Aya].":     ":[1] and [sic] stay.|: So does [Aya].",
		"She [angry] left. [HAPPY] He [x] came.": "angry:She left.|happy: He [x] came.",
	} {
		for _, size := range []int{1, 2, 3, 100} {
			var got []string
			out := New([]string{"Aya"}, nil, func(s, emotion string) error { got = append(got, emotion+":"+s); return nil })
			for _, c := range chunks(text, size) {
				if err := out.Take(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := out.End(); err != nil || strings.Join(got, "|") != want {
				t.Errorf("%q by %d: %q, want %q (%v)", text, size, strings.Join(got, "|"), want, err)
			}
			if first, _, _ := strings.Cut(strings.TrimLeft(want, ":"), ":"); strings.Contains(want, "happy:") && out.Emotion() == "" {
				t.Errorf("%q: no emotion, want %s", text, first)
			}
		}
	}
	var got []string
	out := New(nil, nil, func(s, _ string) error { got = append(got, s); return nil })
	if err := out.Take("[happy] Hi."); err != nil {
		t.Fatal(err)
	}
	if err := out.Written([]model.ToolCall{says("[happy] Hi.")}); err != nil {
		t.Fatal(err)
	}
	if err := out.Speak("[happy] Hi.", false); err != nil || out.Said() != "Hi." {
		t.Errorf("said %q, %v", out.Said(), err)
	}
}
