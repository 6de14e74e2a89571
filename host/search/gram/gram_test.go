package gram_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/host/search/gram"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Ｌｉｖｅ２Ｄ": "live2d", "ﾊﾞｽ": "バス", "か\u3099": "が", "㍿": "株式会社", " a\u3000\n b ": "a b", "ΣΑΣ": "σασ", "σας": "σασ",
		"zero\u200bwidth": "zerowidth", "❤\ufe0f": "❤", "猫": "猫", "": "", "\x00a": "a", "\U000F0020": "\ufffd", "Straße": "straße",
	} {
		if got := gram.Fold(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestGrams(t *testing.T) {
	if got := strings.Fields(gram.Index("天気 予報!")); !slices.Equal(got, []string{"天", "気", "天気", "予", "報", "予報", "\U000F0021", "報\U000F0021"}) {
		t.Errorf("%q", got)
	}
	for in, want := range map[string][]string{"天気予報": {"予報", "天気", "気予"}, "猫": {"猫"}, "a b": {"a", "b"}, "ああああ": {"ああ"}, "": nil} {
		if got := gram.Of(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
	for in, want := range map[string][]string{
		"天気　北海道": {"北海道", "天気"}, `"new  york" 天気`: {"new york", "天気"}, `say "a`: {`"a`, "say"}, "  ": nil, `""`: nil, "“a b”c": {"a b", "c"}, "猫 猫": {"猫"},
	} {
		if got := gram.Phrases(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// holds says that a text has all grams of a phrase that stands in it, and that folding twice is folding once.
func holds(t interface{ Errorf(string, ...any) }, text, phrase string) {
	folded, looked := gram.Fold(text), gram.Fold(phrase)
	if again := gram.Fold(folded); again != folded {
		t.Errorf("%q folds to %q and that to %q", text, folded, again)
	}
	if !utf8.ValidString(folded) {
		t.Errorf("%q", folded)
	}
	index := strings.Fields(gram.Index(folded))
	for _, g := range index {
		if n := utf8.RuneCountInString(g); n > 2 || n == 0 {
			t.Errorf("%q is a gram", g)
		}
		for _, b := range []byte(g) {
			if b < 0x80 && (b < '0' || b > '9') && (b < 'a' || b > 'z') {
				t.Errorf("a tokenizer cuts %q", g)
			}
		}
	}
	if !strings.Contains(folded, looked) {
		return
	}
	for _, g := range gram.Of(looked) {
		if !slices.Contains(index, g) {
			t.Errorf("%q stands in %q, and %q is missing", looked, folded, g)
		}
	}
}

func TestEveryGramIsThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("天気予報あいうアｱﾞab cＡ!。 　🐈")))).Draw(rt, "text")
		rs := []rune(text)
		from := rapid.IntRange(0, len(rs)).Draw(rt, "from")
		to := rapid.IntRange(from, len(rs)).Draw(rt, "to")
		holds(rt, text, string(rs[from:to]))
	})
}

func FuzzGrams(f *testing.F) {
	f.Add("明日の天気予報は Live2D で!", "天気")
	f.Add("ｶﾞ か\u3099 İ ς K", "が")
	f.Fuzz(func(t *testing.T, text, phrase string) {
		holds(t, text, phrase)
		holds(t, text+phrase+text, phrase)
		gram.Phrases(phrase)
	})
}
