package compress_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
)

// TestWhatIsCheapFirst: what is in the way however the turns read is said before they are gone through: whoever is not there, a proposal that is open, a
// length that is too much. The policy here names more than a draft is held to, which is found last.
func TestWhatIsCheapFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{slow: time.Hour}, whole)
		defer func() { h.end() }()
		for i := range abi.MaxKeep + 1 {
			h.say(fmt.Sprintf("予算%dは%d円にしよう", i, 1000+i*7))
		}
		ask := compress.Request{Turns: history.Range{From: 1, To: abi.MaxKeep + 1}, Policy: "everything"}
		refused := func(what string, code abi.Code, field string) {
			t.Helper()
			if _, err := h.propose(ask); abi.CodeOf(err) != code || abi.AsError(err).Field != field {
				t.Errorf("%s: %v", what, err)
			}
		}
		refused("too many things", abi.CodeTooLarge, "turns")
		ask.Verifier = "nobody"
		refused("no verifier", abi.CodeNotFound, "verifier")
		ask.Verifier, ask.Length = "", history.Length{N: 70_000, Unit: history.Characters}
		refused("too long", abi.CodeInvalid, "target_length")
		ask.Length = history.Length{N: 70_000, Unit: history.Tokens}
		refused("too long", abi.CodeInvalid, "target_length")
		ask.Length = history.Length{N: 10, Unit: "words"}
		refused("no unit", abi.CodeInvalid, "unit")
		ask.Length = history.Length{}
		if _, err := h.propose(compress.Request{Turns: history.Range{From: 5, To: 6}}); err != nil {
			t.Fatal(err)
		}
		refused("another is open", abi.CodeConflict, "turns")
		ask.Turns.To++
		refused("no such turn", abi.CodeNotFound, "turns")
	})
}

// TestNoLongerThanTheTurns: a text that says more than its turns, with who said them, is refused, whoever verifies it, and its maker is told. Two
// hundred characters may always be asked for.
func TestNoLongerThanTheTurns(t *testing.T) {
	long := whole + strings.Repeat("そうだね。", 20) // within 200 characters
	for _, c := range []struct {
		draft string
		state history.State
	}{{long, history.Refused}, {whole, history.Offered}} {
		for _, own := range []bool{false, true} {
			for _, verifier := range []string{"scribe", compress.Extract} {
				synctest.Test(t, func(t *testing.T) {
					h := newHouse(t, new(scribe), c.draft)
					defer func() { h.end() }()
					h.say(talk...)
					ask := compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Verifier: verifier, Length: history.Length{N: 200, Unit: history.Characters}}
					state := c.state
					if own {
						if ask.Text = c.draft; state == history.Refused {
							state = history.BeingDrafted // until there were three
						}
					}
					p, err := h.propose(ask)
					if err != nil {
						t.Fatal(err)
					}
					p, d := h.stands(p.ID)
					if p.State != state || strings.Contains(d.Feedback, "it is to be shorter than they are") != (c.state == history.Refused) {
						t.Errorf("%d characters, %v, %s: %s, %q", len(c.draft), own, verifier, p.State, d.Feedback)
					}
				})
			}
		}
	}
}

// TestSomebodyElsesDraft: a draft for what somebody else asked for is denied, however that stands.
func TestSomebodyElsesDraft(t *testing.T) {
	const bad = "締切は3月28日です。予算は85,000円にしよう。"
	denied := func(t *testing.T, h *house, what string, id string) {
		t.Helper()
		if _, err := h.service.Redraft(t.Context(), "main", id, whole, "mika"); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
	for text, want := range map[string]history.State{whole: history.Offered, bad: history.BeingDrafted} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, &scribe{verifying: time.Minute}, whole)
			defer func() { h.end() }()
			h.say(talk...)
			p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Text: text})
			if err != nil {
				t.Fatal(err)
			}
			denied(t, h, "while it is verified", p.ID)
			if _, err := h.service.Redraft(t.Context(), "main", p.ID, whole, "taro"); abi.CodeOf(err) != abi.CodeConflict {
				t.Errorf("one's own while it is verified: %v", err)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if p, d := h.stands(p.ID); p.State != want {
				t.Errorf("%s, %+v", p.State, d)
			}
			denied(t, h, string(want), p.ID)
			if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, ""); err != nil {
				t.Fatal(err)
			}
			denied(t, h, "denied", p.ID)
		})
	}
}

// TestFirstOfVeryMany: where the first thousand turns have far more than a draft is held to, the refusal speaks of these; where they have not, all are
// gone through.
func TestFirstOfVeryMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{slow: time.Hour}, whole)
		defer func() { h.end() }()
		for i := range 1100 {
			h.say(fmt.Sprintf("予算%dは%d円にしよう", i, 1000+i*7))
		}
		for policy, says := range map[string]string{"everything": "names 1000 things in turns 1-1000, ", "": ""} {
			p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 1100}, Policy: policy})
			if p, _ := h.service.Decide(t.Context(), "main", p.ID, "taro", false, ""); p.ID == "" && says == "" {
				t.Error("it cannot be denied")
			}
			if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "take fewer turns at once, 1-200")) {
				t.Errorf("%s: %v", policy, err)
			}
		}
	})
}
