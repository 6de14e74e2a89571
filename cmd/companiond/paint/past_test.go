package paint

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// TestFolded: a text that is broken into lines has none that is too wide, and loses nothing but spaces where it is
// broken.
func TestFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab  cdefgh予算はé\u0301ー、。\n")), 0, 300, -1).Draw(t, "text")
		most := rapid.IntRange(2, 60).Draw(t, "most")
		lines := folded(text, most)
		for _, line := range lines {
			if columns(line) > most {
				t.Fatalf("%q takes %d columns of %d", line, columns(line), most)
			}
		}
		squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if squeeze(strings.Join(lines, "")) != squeeze(text) {
			t.Fatalf("%q became %q", text, lines)
		}
	})
	if got := strings.Join(folded("the budget is 4,800 yen, and no more", 20), "|"); got != "the budget is 4,800|yen, and no more" {
		t.Error(got)
	}
}

// Words of others move no cursor, wherever they stand in a compression or a turn.
func TestPastIsShownAndNotObeyed(t *testing.T) {
	const evil = "x\x1b[2J\u202e\r\n"
	c := past.Compression{
		ID: evil, Room: evil, State: evil, Policy: evil, Compresser: evil, Verifier: evil, By: evil, ApprovedBy: evil, Why: evil, Unit: evil,
		Original: []abi.PastTurn{{N: 1, From: evil, Text: evil}},
		Drafts:   []past.Draft{{N: 1, Content: evil, Feedback: evil, By: evil, VerifiedBy: evil, Verdict: evil}, {N: 2, Content: evil, Findings: []history.Finding{{ID: evil, Item: evil, Quote: evil, Status: evil}}, Lost: []history.Loss{{Kind: evil, Item: evil}}}},
	}
	for _, width := range []int{0, 120} {
		var out bytes.Buffer
		p := Painter{Out: &out, Width: width}
		for _, state := range []string{evil, "approved", "refused"} {
			c.State = state
			if err := p.Proposal(c); err != nil {
				t.Fatal(err)
			}
		}
		for _, turn := range []abi.PastTurn{{N: 1, From: evil, Text: evil}, {N: 1, Upto: 2, Text: evil}} {
			if err := p.Turn(turn, &c); err != nil {
				t.Fatal(err)
			}
		}
		if i := strings.IndexAny(out.String(), "\x1b\u202e\r"); i >= 0 {
			t.Errorf("%q", out.String()[max(0, i-40):i+20])
		}
	}
}
