package abi

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckText(t *testing.T) {
	for text, tc := range map[string]struct {
		code Code
		says string
	}{
		"こんにちは！\n\tHello 🍣":            {},
		"\u007f\u0085\u200b":           {}, // not below the space
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
