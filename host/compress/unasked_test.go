package compress_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
)

// TestVerifierWithoutRoom: a verifier that cannot be asked, or has no room for its answer, refuses no draft: the proposal fails and says
// why. One whose answer is none refuses the draft.
func TestVerifierWithoutRoom(t *testing.T) {
	for code, want := range map[abi.Code]history.State{
		abi.CodeTooLarge: history.Failed, abi.CodeUnavailable: history.Failed, abi.CodeTimeout: history.Failed, abi.CodeInvalid: history.Refused,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, &scribe{mute: abi.Errorf(code, "the model's answer was cut off")}, whole)
			defer func() { h.end() }()
			h.say(talk...)
			p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
			if err != nil {
				t.Fatal(err)
			}
			p, d := h.stands(p.ID)
			if p.State != want || !strings.Contains(p.Why, "the model's answer was cut off") {
				t.Errorf("%s: %+v", code, p)
			}
			if want == history.Failed && (len(p.Drafts) > 0 || !strings.HasPrefix(p.Why, "the draft cannot be verified: ")) || want == history.Refused && d.Verdict != history.No {
				t.Errorf("%s: %+v %+v", code, p, d)
			}
		})
	}
}
