package digest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt/digest"
)

// TestWaysToAnswer: what says the same as a verdict is one, however its words are written.
func TestWaysToAnswer(t *testing.T) {
	yes := abi.Verified{Verdict: abi.VerdictYes, Items: []abi.VerifiedItem{{ID: "M1", Status: abi.StatusKept, Quote: "84,000円"}, {ID: "M2", Status: abi.StatusNotNeeded}}}
	plain := `{"items":[{"id":"M1","status":"kept","quote":"84,000円"},{"id":"M2","status":"not_needed","quote":""}],"added":[],"feedback":"","verdict":"YES"}`
	for _, change := range [][2]string{
		{`"YES"`, `"yes"`}, {`"YES"`, `"Yes."`}, {`"YES"`, `"はい"`}, {`"YES"`, `"はい。"`}, {`"YES"`, `"**YES**"`}, {`"YES"`, `"ＹＥＳ"`}, {`"YES"`, `"YES","reason":"all is there"`},
		{`"M1"`, `1`}, {`"M1"`, `"1"`}, {`"M1"`, `"m1"`},
		{`"kept"`, `"Kept"`}, {`"not_needed"`, `"not needed"`}, {`"not_needed"`, `"Not-Needed."`},
		{`"quote":""`, `"quote":null`}, {`"not_needed","quote":""`, `"not_needed"`},
		{`"added":[]`, `"added":null`}, {`"added":[]`, `"added":[""]`}, {`"added":[]`, `"added":["None."]`}, {`"added":[]`, `"added":["なし","特になし"]`}, {`"feedback":""`, `"feedback":null`},
	} {
		raw := strings.Replace(plain, change[0], change[1], 1)
		v, err := digest.ReadVerified(json.RawMessage(raw), keep)
		got, _ := json.Marshal(v)
		if want, _ := json.Marshal(yes); err != nil || string(got) != string(want) || raw == plain {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	if v, err := digest.ReadVerified(json.RawMessage(strings.Replace(plain, `"YES"`, `"いいえ"`, 1)), keep); err != nil || v.Verdict != abi.VerdictNo {
		t.Errorf("%+v, %v", v, err)
	}
	long := strings.Replace(plain, `"feedback":""`, `"feedback":"`+strings.Repeat("長", abi.MaxFeedback)+`"`, 1)
	if v, err := digest.ReadVerified(json.RawMessage(long), keep); err != nil || len(v.Feedback) > abi.MaxFeedback || len(v.Feedback) < abi.MaxFeedback-3 {
		t.Errorf("%d bytes of feedback, %v", len(v.Feedback), err)
	}
}

// TestLeftOut: a model that answers about some of the things is asked about the rest, a few times; all of it has to be YES.
func TestLeftOut(t *testing.T) {
	ask := words{text: "話", draft: "案 84,000円"}.verifying()
	ask.Keep = nil
	for i := range 10 {
		ask.Keep = append(ask.Keep, abi.KeepItem{ID: fmt.Sprint("M", i+1), Text: fmt.Sprint(i), Turn: 7})
	}
	answers := func(at int, last string) *asked {
		a := &asked{}
		a.answer = func(req model.Request) (string, error) {
			var v struct {
				abi.Verified
				Added    []string `json:"added"`
				Feedback string   `json:"feedback"`
			}
			v.Verdict, v.Added = abi.VerdictYes, []string{}
			for _, l := range linesOf(t, req) {
				if l.Keep != "" && len(v.Items) < at {
					v.Items = append(v.Items, abi.VerifiedItem{ID: l.Keep, Status: abi.StatusKept, Quote: "案"})
				}
				if l.Keep == "M10" {
					v.Verdict = last
				}
			}
			text, err := json.Marshal(v)
			return string(text), err
		}
		return a
	}
	for _, c := range []struct {
		at    int
		last  string
		calls int
	}{{10, abi.VerdictYes, 1}, {4, abi.VerdictYes, 3}, {9, abi.VerdictYes, 2}, {4, abi.VerdictNo, 3}} {
		a := answers(c.at, c.last)
		v, err := a.model(8000).Verify(t.Context(), ask)
		if err != nil || v.Verdict != c.last || v.Answers(ask.Keep) != nil || len(a.reqs) != c.calls {
			t.Errorf("%d at once: %+v, %v; %d calls", c.at, v, err, len(a.reqs))
		}
	}
	for _, at := range []int{2, 0} { // five calls were needed, and none helps
		a := answers(at, abi.VerdictYes)
		if v, err := a.model(8000).Verify(t.Context(), ask); abi.CodeOf(err) != abi.CodeInvalid || v.Verdict != "" || len(a.reqs) > 4 {
			t.Errorf("%d at once: %+v, %v; %d calls", at, v, err, len(a.reqs))
		}
	}
}

// TestNoAnswers: an endpoint that refuses, and an answer that has no room, are not taken for answers that are wrong.
func TestNoAnswers(t *testing.T) {
	for _, c := range []struct {
		err  error
		code abi.Code
		says string
	}{
		{abi.Wrap(abi.CodeInvalid, model.ErrCut, "it could not mend it"), abi.CodeTooLarge, "was cut off, with room for "},
		{abi.Wrap(abi.CodeInvalid, model.ErrRefused, "the endpoint does not know the model (404)"), abi.CodeUnavailable, "does not know the model"},
		{abi.Wrap(abi.CodeDenied, model.ErrRefused, "the endpoint refuses the key (401)"), abi.CodeDenied, "refuses the key"},
		{abi.Wrap(abi.CodeInvalid, errors.New("it is not a JSON object"), "it could not mend it: it is not a JSON object"), abi.CodeInvalid, "no"},
	} {
		a := &asked{answer: func(model.Request) (string, error) { return "", c.err }}
		w := words{text: "話", draft: "案", keep: "話"}
		if _, err := a.model(8000).Verify(t.Context(), w.verifying()); abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("verify: %v, want %s %q", err, c.code, c.says)
		}
		if _, err := a.model(8000).Compress(t.Context(), w.compressing()); abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("compress: %v, want %s %q", err, c.code, c.says)
		}
	}
}

// TestUnnamedMayBeMissing: a model is told that a draft which is to be short may lack what the policy does not name.
func TestUnnamedMayBeMissing(t *testing.T) {
	reqs := words{"方", "名", "文", "留", "案", "評", "隣"}.requests(t)
	for name, says := range map[string]string{"compress": `as many as the length allows`, "verify": `is no reason for a "NO"`} {
		if !strings.Contains(reqs[name].System, says) {
			t.Errorf("%s: %s", name, reqs[name].System)
		}
	}
}
