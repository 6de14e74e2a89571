package companion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

var past = []abi.PastTurn{{N: 1, From: "taro", Text: "予算は84,000円。"}, {N: 2, From: "aya", Text: "了解！"}}

// TestCompress: a character says that it compresses, is given what was asked, and what it answers is held
// to the bounds before it leaves the module.
func TestCompress(t *testing.T) {
	text := ""
	l := companion.NewLocal(companion.Character{Name: "Aya", Compress: func(h *companion.Host, c companion.Compressing) companion.Compressed {
		if c.Policy != "金額" || len(c.Turns) != 2 || c.Keep[0].ID != "M1" || c.Feedback != "M1?" {
			t.Errorf("%+v", c)
		}
		return companion.Compressed{Text: text}
	}})
	ask := companion.Compressing{Turns: past, Policy: "金額", Length: 20, Unit: abi.UnitCharacters, Keep: []abi.KeepItem{{ID: "M1", Text: "84,000円", Turn: 1}}, Draft: "x", Feedback: "M1?"}
	for give, want := range map[string]abi.Code{"84,000円です。": "", "": abi.CodeInvalid, "a\x00": abi.CodeInvalid, strings.Repeat("x", abi.MaxDigest+1): abi.CodeTooLarge} {
		text = give
		got, err := l.Compress(ask)
		if want == "" && (err != nil || got.Text != give) || want != "" && abi.CodeOf(err) != want {
			t.Errorf("%.20q: %+v, %v", give, got, err)
		}
	}
	ask.Unit = "words"
	if _, err := l.Compress(ask); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("what no daemon asks: %v", err)
	}
	if d, err := l.Describe(); err != nil || !slices.Equal(d.Ops, []string{"describe", "compress"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := l.Verify(companion.Verifying{Turns: past, Draft: "x"}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("an op that is not its: %v", err)
	}
}

// TestVerify: a verdict is about all that was asked about, and nothing else.
func TestVerify(t *testing.T) {
	var give companion.Verified
	l := companion.NewLocal(companion.Character{Name: "Aya", Verify: func(*companion.Host, companion.Verifying) companion.Verified { return give }})
	ask := companion.Verifying{Turns: past, Draft: "84,000円。", Keep: []abi.KeepItem{{ID: "M1", Text: "84,000円", Turn: 1}}}
	one := []abi.VerifiedItem{{ID: "M1", Status: abi.StatusMissing}}
	for name, c := range map[string]struct {
		give companion.Verified
		want abi.Code
	}{
		"no":      {companion.Verified{Items: one, Verdict: abi.VerdictNo, Feedback: "M1"}, ""},
		"as said": {companion.Verified{Items: one, Verdict: abi.VerdictYes}, ""}, // the daemon makes it a NO
		"nothing": {companion.Verified{}, abi.CodeInvalid},
		"no item": {companion.Verified{Verdict: abi.VerdictYes}, abi.CodeInvalid},
		"two":     {companion.Verified{Items: append(one, one...), Verdict: abi.VerdictYes}, abi.CodeInvalid},
		"maybe":   {companion.Verified{Items: one, Verdict: "MAYBE"}, abi.CodeInvalid},
	} {
		give = c.give
		got, err := l.Verify(ask)
		if c.want == "" && (err != nil || got.Verdict != c.give.Verdict || len(got.Items) != 1) || c.want != "" && abi.CodeOf(err) != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	give, ask.Keep = companion.Verified{Verdict: abi.VerdictYes}, nil
	if got, err := l.Verify(ask); err != nil || got.Items == nil {
		t.Errorf("nothing to keep: %+v, %v", got, err)
	}
	ask.Draft = ""
	if _, err := l.Verify(ask); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("what no daemon asks: %v", err)
	}
	if d, err := l.Describe(); err != nil || !slices.Equal(d.Ops, []string{"describe", "verify"}) {
		t.Errorf("%+v, %v", d, err)
	}
}
