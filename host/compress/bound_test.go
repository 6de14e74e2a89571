package compress_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
)

// TestTooManyTurns: a proposal is for so many turns at most, and the refusal says what to ask for.
func TestTooManyTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		_, err := h.propose(compress.Request{Turns: history.Range{From: 5, To: 5 + compress.MaxTurns}})
		if abi.CodeOf(err) != abi.CodeTooLarge || abi.AsError(err).Field != "turns" || !strings.Contains(err.Error(), "ask for 5-10004 first") {
			t.Error(err)
		}
		if _, err = h.propose(compress.Request{Turns: history.Range{From: 5, To: 4 + compress.MaxTurns}}); abi.CodeOf(err) != abi.CodeNotFound {
			t.Error(err)
		}
	})
}

// TestDeniedIsLeft: whoever drafts or verifies is told that nobody wants it any more, and not left to go on for an hour; nothing is
// written of it, in the journal or the log.
func TestDeniedIsLeft(t *testing.T) {
	for what, s := range map[string]*scribe{"drafting": {slow: time.Hour}, "verifying": {verifying: time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, s, whole)
			defer func() { h.end() }()
			h.say(talk...)
			p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, ""); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := s.left; n != 1 {
				t.Errorf("%s: it goes on", what)
			}
			if p, _ := h.stands(p.ID); p.State != history.Denied || len(p.Drafts) != 0 {
				t.Errorf("%s: %+v", what, p)
			}
			if log := h.log.String(); strings.Contains(log, "cannot be compressed") || strings.Contains(log, "internal error") {
				t.Errorf("%s: %s", what, log)
			}
		})
	}
}

// TestDraftThatShowsNothing: a draft of signs that show as nothing is an empty one, whoever verifies it.
func TestDraftThatShowsNothing(t *testing.T) {
	for _, verifier := range []string{"scribe", compress.Extract} {
		for _, draft := range []string{"\ufeff", "\u200b\u200b \n", "\U000e0041\U000e007f", "\u3164\u2800", ""} {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, new(scribe), draft)
				defer func() { h.end() }()
				h.say(talk...)
				p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Verifier: verifier})
				if err != nil {
					t.Fatal(err)
				}
				p, d := h.stands(p.ID)
				if p.State != history.Refused || d.Verdict != history.No || !strings.Contains(d.Feedback, "the text is empty") {
					t.Errorf("%q, %s: %s, %+v", draft, verifier, p.State, d)
				}
			})
		}
	}
}

// TestNobodySees: what a reader sees nothing of is out of a draft before it is verified, offered and told, whoever made it; what scripts and
// emoji need stays.
func TestNobodySees(t *testing.T) {
	const seen = "予算は84,000円にしよう。👩\u200d👧 締切は3月28日です。"
	for _, verifier := range []string{"scribe", compress.Extract} {
		for _, hidden := range []string{"\u200b", "\u00ad", "\ufeff", "\U000e0041\U000e0042", "\ufe0f", "\U000e0101", "\ufff9", "\u2800", "\u200f", "\ufffd"} {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, new(scribe), hidden+strings.Replace(seen, "に", "に"+hidden, 1)+hidden)
				defer func() { h.end() }()
				h.say(talk...)
				p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Verifier: verifier})
				if err != nil {
					t.Fatal(err)
				}
				if p, d := h.stands(p.ID); p.State != history.Offered || d.Text != seen {
					t.Errorf("%+q: %s, %+q, %s", hidden, p.State, d.Text, d.Feedback)
				}
				for _, v := range h.scribe.judged {
					if v.Draft != seen || v.History[0].Text != seen {
						t.Errorf("%+q: the verifier saw %+q", hidden, v.Draft)
					}
				}
			})
		}
	}
}

// TestExtractOfHidden: what people said with signs that nobody sees is drafted without these, and kept all the same.
func TestExtractOfHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		for _, said := range talk {
			h.say(strings.Join(strings.Split(said, ""), "\u200b"))
		}
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: "everything", Compresser: compress.Extract, Verifier: compress.Extract, Length: history.Length{N: 60, Unit: history.Characters}})
		if err != nil {
			t.Fatal(err)
		}
		if p, d := h.stands(p.ID); p.State != history.Offered || strings.Contains(d.Text, "\u200b") {
			t.Errorf("%s, %s, %+q, %s", p.State, p.Why, d.Text, d.Feedback)
		}
	})
}
