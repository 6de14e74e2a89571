package compress_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

// reads answers as a model that reads both languages, and calls everything kept.
func reads(v abi.Verifying, out *abi.Verified) {
	for i := range out.Items {
		out.Items[i].Status, out.Items[i].Quote = abi.StatusKept, v.Draft
	}
	out.Verdict, out.Feedback = abi.VerdictYes, ""
}

// TestWhatCannotBeComparedWaits: what the policy names and a draft tells in another language is never approved in advance: whatever a
// verifier says of it, a person looks. That stands through a restart, and another policy takes it back.
func TestWhatCannotBeComparedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "みんなで昼に集まった。古い方の鍋は使わないことになった。")
		h.scribe.answers = reads
		bans := history.Standing{Mode: history.ModeAuto, At: .7, Policy: "禁止事項はすべて残す。"}
		h.set(bans)
		h.say("Please do not use the old pot", "火は使わないことにしましょう。")
		h.talks(62, 1000)
		p := h.newest()
		if p.State != history.Refused || !strings.Contains(p.Why, "火は使わない") { // this one can be compared
			t.Errorf("%+v", p)
		}
		h.scribe.drafts = []string{"みんなで昼に集まった。古い方の鍋は使わない。火も使わない。"}
		h.talks(32, 1000)
		p, d := h.stands(h.newest().ID)
		if p.State != history.Offered || !d.Look || p.ApprovedBy != "" || p.Ask.Turns.From != 1 {
			t.Errorf("%+v\n%+v", p, d)
		}
		for _, f := range d.Findings {
			if f.Policy && (f.Status == history.Unclear) != (f.Turn == 1) {
				t.Errorf("%+v", f)
			}
		}
		h.end()
		h.begin()
		defer func() { h.end() }()
		h.talks(2, 1000)
		if p, _ := h.stands(p.ID); p.State != history.Offered {
			t.Errorf("%+v", p)
		}
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatNamesNothingWaits: a word in advance has no meaning for a policy that names nothing of the turns that code finds: a draft that is held
// to nothing waits for a person, through a restart too. One that the policy has something of is approved.
func TestWhatNamesNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "They talked.")
		h.set(history.Standing{Mode: history.ModeAuto, At: .7, Policy: "Keep the colour of the boat."})
		h.talks(64, 1000)
		p, d := h.stands(h.newest().ID)
		if p.State != history.Offered || !d.Look || !p.Ask.Look || p.ApprovedBy != "" {
			t.Errorf("%+v\n%+v", p, d)
		}
		h.end()
		h.begin()
		defer func() { h.end() }()
		h.talks(40, 1000)
		h.stood("1-32 offered")
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); err != nil {
			t.Fatal(err)
		}
		h.scribe.drafts = []string{"They talked. The boat has 12 colours."}
		h.say("The boat has 12 colours.")
		h.talks(64, 1000)
		if p, d := h.stands(h.newest().ID); p.State != history.Approved || d.Look {
			t.Errorf("%+v\n%+v", p, d)
		}
	})
}
