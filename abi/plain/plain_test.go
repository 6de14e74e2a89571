package plain

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestCheck: what a person decides by has nothing in it that the person is not shown, and keeps what scripts and emoji need.
func TestCheck(t *testing.T) {
	for text, says := range map[string]string{
		"決定: 84,000円。\n\tKeep it 🍣": "", "می\u200cخواهم": "", "क्\u200dष": "", "👩\u200d👧 👨🏽\u200d🚀 🏳\ufe0f\u200d🌈": "", "1\ufe0f\u20e3 ❤\ufe0f 葛\U000e0100": "", "one\r\ntwo": "",
		"⠓⠊\u2800⠁⠇⠇": "", "ᠠ\u180b": "", "▶\ufe0e ⛹🏻\u200d♂\ufe0f ❤\ufe0f\u200d🔥": "", "श\u094d\u200dर \u0645\u0650\u200c\u062e": "", "辻\U000e0101 侮\ufe00": "",
		"a\u200bb":              "text: character 2 is U+200B, which shows as nothing; leave it out",
		"\ufeffa":               "text: character 1 is U+FEFF, ",
		"ab\u200c":              "text: character 3 is U+200C, ",
		"あ\u200dい":              "text: character 2 is U+200D, ",
		"👩\u200d\u200d👧":        "text: character 2 is U+200D, ",
		"\u200d":                "text: character 1 is U+200D, ",
		"a\ufe0f\ufe0e":         "text: character 2 is U+FE0F, ",
		"❤\ufe0f\ufe0e":         "text: character 3 is U+FE0E, ",
		"1\ufe0f":               "text: character 2 is U+FE0F, ",
		"あ\U000e0100":           "text: character 2 is U+E0100, ",
		"葛\U000e01ef":           "text: character 2 is U+E01EF, ",
		"a\ufff9b":              "text: character 2 is U+FFF9, which shows as nothing",
		"a\ufffb":               "text: character 2 is U+FFFB, which shows as nothing",
		"a\u2800b":              "text: character 2 is U+2800, which shows as nothing",
		"a\ufffc":               "text: character 2 is U+FFFC, which stands where something was no text",
		"a\u0301\u200d":         "text: character 3 is U+200D, ",
		"👩\u200dx":              "text: character 2 is U+200D, ",
		" \ufe0f":               "text: character 2 is U+FE0F, ",
		"yes\U000e0041":         "text: character 4 is U+E0041, ",
		"a\u00ad\u2060b":        "text: character 2 is U+00AD, ",
		"\u3164":                "text: character 1 is U+3164, ",
		"a\u200f":               "text: character 2 is U+200F, which turns text around",
		"\u061c":                "text: character 1 is U+061C, which turns text around",
		"a\u202e":               "text: character 2 is U+202E, which turns the text behind it around",
		"a\u2028b":              "text: character 2 is U+2028, a line feed of another kind",
		"a\ufffd":               "text: character 2 is U+FFFD, which stands where something was no text",
		"a\x1b":                 "text: character 2 is U+001B, a control character",
		"a\xff":                 "text: is not UTF-8",
		" \n":                   "text: must not be empty",
		strings.Repeat("x", 41): "text: 41 bytes, at most 40",
	} {
		most := 40
		if len(text) > 41 {
			most = 100
		}
		if err := Check("text", text, most); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}

// TestPlain: what was made here loses what nobody sees, and no more.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"The budget is\u200b 5000\u00ad yen.\ufeff": "The budget is 5000 yen.",
		"yes\U000e0041\U000e0042":                   "yes", "a\u202eb\u2066c": "abc", "x\ufe0f\U000e0101": "x", "❤\ufe0f葛\U000e0100": "❤\ufe0f葛\U000e0100",
		"a\u2028b\rc\r\nd\fe\u0085f": "a\nb\nc\r\nd\ne\nf", "a\x00\x1b[31m": "a[31m", "\ufffda\xffb\ufffc": "ab", "\u200b": "", "": "",
		"می\u200cخواهم 👩\u200d👧 1\ufe0f\u20e3": "می\u200cخواهم 👩\u200d👧 1\ufe0f\u20e3", "👩\u200b\u200d\u200b👧": "👩👧",
	} {
		if got := Text(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}

// texts are of code points that tell readers nothing, among those that do.
func texts() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]rune("\u00ad\u034f\u061c\u180b\u180e\u200b\u200c\u200d\u200e\u2028\u202e\u2060\u2066\u2800\u3164\ufe00\ufe0e\ufe0f\ufeff\ufff9\ufffb\ufffc\ufffd\r\n\f\x1b\u20e3\u0301\U00013430\U0001d159\U000e0041\U000e0100\U000e01ef"))
	plain := rapid.SampledFrom([]rune("aé1#あ漢한яα ⠓ᠠमم\u094d\u0650👩🏽❤♂\U00013000"))
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOf(rapid.OneOf(odd, plain, rapid.Rune())).Draw(t, "runes")) + rapid.SampledFrom([]string{"", "\xff", "\xed\xa0\x80"}).Draw(t, "end")
	})
}

// TestTextIsChecked: what Text gives Check takes, what that takes is left as it is, and nothing that is seen is lost.
func TestTextIsChecked(t *testing.T) {
	visible := func(s string) string {
		return strings.Map(func(r rune) rune {
			if hidden(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Z) || r == unicode.ReplacementChar || r == '\ufffc' {
				return -1
			}
			return r
		}, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		got := Text(s)
		if err := Check("text", got, 1<<20); err != nil && strings.TrimSpace(got) != "" {
			t.Fatalf("%+q became %+q: %v", s, got, err)
		}
		if Check("text", s, 1<<20) == nil && got != s {
			t.Fatalf("%+q is well, and became %+q", s, got)
		}
		if Text(got) != got || visible(got) != visible(s) {
			t.Fatalf("%+q became %+q, and that %+q", s, got, Text(got))
		}
	})
}

// TestPlainHidesNothing: whatever is hidden in a text that is taken stands behind something that is seen and that it changes: one behind each at
// most, and none behind the letters of scripts that join nothing.
func TestPlainHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := ' '
		for _, r := range Text(texts().Draw(t, "text")) {
			if hidden(r) && hidden(before) && !(before == '\ufe0f' && r == '\u200d') {
				t.Fatalf("%U stands behind %U", r, before)
			}
			if hidden(r) && unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Z, unicode.P) {
				t.Fatalf("%U stands behind %U", r, before)
			}
			before = r
		}
	})
}

// FuzzPlain holds the same for any bytes.
func FuzzText(f *testing.F) {
	f.Add("a\u200b\xff\r")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if err := Check("text", got, len(s)); err != nil && strings.TrimSpace(got) != "" {
			t.Errorf("%+q became %+q: %v", s, got, err)
		}
	})
}
