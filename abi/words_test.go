package abi

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheckText(t *testing.T) {
	for text, tc := range map[string]struct {
		code Code
		says string
	}{
		"こんにちは！\n\tHello 🍣":            {},
		"\u200e\u200f\u200b":           {}, // marks for a letter, and where a word may break
		"a\u007f":                      {CodeInvalid, "text: character 2 is U+007F, a control character"},
		"a\u0085":                      {CodeInvalid, "text: character 2 is U+0085, a control character"},
		"猫\u202e":                      {CodeInvalid, "text: character 2 is U+202E, which turns the text behind it around"},
		"\u2066a\u2069":                {CodeInvalid, "text: character 1 is U+2066, which turns"},
		"":                             {CodeInvalid, "text: must not be empty"},
		" \n\t":                        {CodeInvalid, "text: must not be empty"},
		"a\xff":                        {CodeInvalid, "text: is not UTF-8"},
		strings.Repeat("x", MaxText):   {},
		strings.Repeat("x", MaxText+1): {CodeTooLarge, "at most 16384"},
		"\x00":                         {CodeInvalid, "text: character 1 is U+0000, a control character; only line feeds and tabs may be there"},
		"猫は\x1b[31m":                   {CodeInvalid, "text: character 3 is U+001B, "},
		"one\r\ntwo":                   {},
		"one\rtwo":                     {CodeInvalid, "text: character 4 is U+000D, "},
	} {
		if err := CheckText("text", text); CodeOf(err) != tc.code || !strings.Contains(fmt.Sprint(err), tc.says) {
			t.Errorf("%.40q: %v, want %s", text, err, tc.says)
		}
	}
	for r := rune(0); r < ' '; r++ {
		if err := CheckText("text", "a"+string(r)); (err == nil) != (r == '\n' || r == '\t') {
			t.Errorf("%U: %v", r, err)
		}
	}
}

// A backchannel is a text too.
func TestCheckVoteBackchannel(t *testing.T) {
	v := Vote{State: Listen, Backchannel: "うん\a"}
	if err := v.Check(); CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), "vote.backchannel: character 3 is U+0007") {
		t.Errorf("%v", err)
	}
}

// Names that look like another because of what no reader is shown.
func TestCheckNameIgnorable(t *testing.T) {
	for name, says := range map[string]string{
		"mika\u034f":           "from: character 5 is U+034F, which shows as nothing; leave it out",
		"aya\u3164":            "from: character 4 is U+3164, ",
		"ay\ufe0fa":            "from: character 3 is U+FE0F, ",
		"aya\u180b":            "character 4 is U+180B, ",
		"aya\u115f":            "character 4 is U+115F, ",
		"\uffa0aya":            "character 1 is U+FFA0, ",
		"あや\u17b4":             "character 3 is U+17B4, ",
		"a\u200bya":            "character 2 is U+200B, ",
		"a\u200dya":            "character 2 is U+200D, ",
		"a\u00adya":            "character 2 is U+00AD, ",
		"aya\u202e":            "character 4 is U+202E, ",
		"\u2066aya":            "character 1 is U+2066, ",
		"aya\u0085":            "character 4 is U+0085, ",
		"aya\u009b":            "character 4 is U+009B, ",
		"aya\u007f":            "character 4 is U+007F, ",
		"a\x1bya":              "character 2 is U+001B, ",
		"a\u2028ya":            "character 2 is U+2028, ",
		"aya\U000e0041":        "character 4 is U+E0041, ",
		"\u845b\U000e0100":     "character 2 is U+E0100, ", // a kanji's variant
		"aya\ufffb":            "character 4 is U+FFFB, ",  // not ignorable, not for names either
		"a ya":                 `from: "a ya" may not contain ' '`,
		"a\u3000ya":            `from: "a\u3000ya" may not contain '\u3000'`,
		"aya!":                 `from: "aya!" may not contain '!'`,
		"あや\u3099":             "",
		"き\u3087うこ":            "",
		"nguye\u0302\u0303n-2": "",
	} {
		err := CheckName("from", name)
		if says == "" && err != nil || says != "" && (CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), says)) {
			t.Errorf("%+q: %v, want %s", name, err, says)
		}
	}
}

// The ranges of Default_Ignorable_Code_Point, as DerivedCoreProperties.txt of
// Unicode 15.0 lists them, the version of Go's tables.
func TestIgnorable(t *testing.T) {
	ranges := [][2]rune{
		{0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
		{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8},
		{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
	}
	want := func(r rune) bool {
		for _, x := range ranges {
			if x[0] <= r && r <= x[1] {
				return true
			}
		}
		return false
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if Ignorable(r) != want(r) {
			t.Errorf("%U: %v", r, !want(r))
		}
		if want(r) && utf8.ValidRune(r) && (CheckName("id", string(r)) == nil || CheckName("id", "a"+string(r)) == nil) {
			t.Errorf("%U may stand in a name", r)
		}
	}
}
