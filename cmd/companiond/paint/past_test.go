package paint

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
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

// Whoever came without a token has one word, and a draft that was never looked at, or was refused, is not said to be something else.
func TestWordsOfThePast(t *testing.T) {
	var out bytes.Buffer
	p := Painter{Out: &out}
	if err := p.Branches([]rooms.Branch{{Name: "main", Turns: 3}, {Name: "x", Of: "main", Turn: 2, Turns: 2, By: rooms.Guests}}, "main"); err != nil || !strings.HasSuffix(out.String(), "of main up to turn 2, by guest\n") {
		t.Errorf("%v %s", err, &out)
	}
	for want, c := range map[string]past.Compression{
		"a draft is being made and verified":                                  {State: "drafting", Compresser: "model"},
		"it waits for a draft from outside":                                   {State: "drafting"},
		"a verifier refused draft 2; send the next with -redraft, or deny it": {State: "drafting", Drafts: make([]past.Draft, 2)},
	} {
		if got := stands(c); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	for state, want := range map[string]string{"drafting": "no draft so far", "failed": "there is no draft that a verifier has looked at", "denied": "there is no draft that a verifier has looked at"} {
		out.Reset()
		if err := p.Draft(past.Compression{State: state}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v %s", state, err, &out)
		}
	}
	out.Reset()
	if err := p.Turn(abi.PastTurn{N: 3, From: "forgotten-1"}, nil); err != nil || !strings.HasSuffix(out.String(), "forgotten-1: (erased)\n") {
		t.Errorf("%v %s", err, &out)
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
