package call_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/module"
)

// scribe answers both ops as it is told.
type scribe struct {
	ops    []string
	reqs   []abi.Request
	answer func(req abi.Request) (string, error)
}

func (s *scribe) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: "Scribe", Ops: s.ops}
}

func (*scribe) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (s *scribe) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	s.reqs = append(s.reqs, req)
	text, err := s.answer(req)
	return json.RawMessage(text), err
}

// of makes calls of a scribe, and tells whom was blamed.
func of(s *scribe) (calls call.Calls, at call.Context, blamed *int) {
	blamed = new(int)
	s.ops = []string{abi.OpCompress, abi.OpVerify}
	return call.Calls{
		Find:  func(id string) (call.Companion, bool) { return s, id == "scribe" },
		NewID: func() string { return "c1" },
		Blame: func(string, string, error) { *blamed++ },
	}, call.Context{ID: "p1", Room: "main", Limit: time.Now().Add(time.Hour)}, blamed
}

func past() (abi.Compressing, abi.Verifying) {
	c := abi.Compressing{Turns: []abi.PastTurn{{N: 1, From: "taro", Text: "予算は84,000円。"}}, Length: 50, Unit: abi.UnitCharacters, Keep: []abi.KeepItem{{ID: "M1", Text: "84,000円", Turn: 1}}}
	return c, abi.Verifying{Turns: c.Turns, Keep: c.Keep, Draft: "84,000円。", History: []abi.PastTurn{{N: 1, Text: "84,000円。"}}}
}

// TestPastAnswers: what is no text, and no verdict on just what was asked about, is an error, and the
// companion's fault.
func TestPastAnswers(t *testing.T) {
	ask, verify := past()
	for name, c := range map[string]struct {
		answer string
		text   abi.Code
		whole  abi.Code
	}{
		"a text":        {`{"text":"84,000円。"}`, "", abi.CodeInvalid},
		"no text":       {`{"text":" "}`, abi.CodeInvalid, abi.CodeInvalid},
		"a bell":        {`{"text":"a\u0007"}`, abi.CodeInvalid, abi.CodeInvalid},
		"a long text":   {`{"text":"` + strings.Repeat("a", abi.MaxDigest+1) + `"}`, abi.CodeTooLarge, abi.CodeInvalid},
		"a word":        {`"YES"`, abi.CodeInvalid, abi.CodeInvalid},
		"a verdict":     {`{"items":[{"id":"M1","status":"kept"}],"verdict":"YES"}`, abi.CodeInvalid, ""},
		"not borne out": {`{"items":[{"id":"M1","status":"missing"}],"verdict":"YES","added":["a cat"]}`, abi.CodeInvalid, ""},
		"no item":       {`{"items":[],"verdict":"YES"}`, abi.CodeInvalid, abi.CodeInvalid},
		"another item":  {`{"items":[{"id":"M2","status":"kept"}],"verdict":"YES"}`, abi.CodeInvalid, abi.CodeInvalid},
		"twice":         {`{"items":[{"id":"M1","status":"kept"},{"id":"M1","status":"missing"}],"verdict":"YES"}`, abi.CodeInvalid, abi.CodeInvalid},
		"no verdict":    {`{"items":[{"id":"M1","status":"kept"}]}`, abi.CodeInvalid, abi.CodeInvalid},
	} {
		s := &scribe{answer: func(abi.Request) (string, error) { return c.answer, nil }}
		calls, at, blamed := of(s)
		text, err := calls.Compress(t.Context(), "scribe", at, ask)
		if c.text == "" && (err != nil || text.Text == "") || c.text != "" && (abi.CodeOf(err) != c.text || text.Text != "") {
			t.Errorf("%s: %.40q, %v", name, text, err)
		}
		v, err := calls.Verify(t.Context(), "scribe", at, verify)
		if c.whole == "" && (err != nil || v.Verdict != abi.VerdictYes || v.Items[0].Status == "") || c.whole != "" && (abi.CodeOf(err) != c.whole || v.Verdict != "") {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		want := 0
		for _, code := range []abi.Code{c.text, c.whole} {
			if code != "" {
				want++
			}
		}
		if *blamed != want || len(s.reqs) != 2 || s.reqs[0].ID != "p1" || s.reqs[0].Room != "main" {
			t.Errorf("%s: blamed %d times of %d; %d requests", name, *blamed, want, len(s.reqs))
		}
	}
}

// TestNobodyForThePast: whoever does not answer, is not there or may not be asked so is told in words.
func TestNobodyForThePast(t *testing.T) {
	ask, verify := past()
	s := &scribe{answer: func(req abi.Request) (string, error) { return "", abi.Errorf(abi.CodeUnknownOp, "no %s", req.Op) }}
	calls, at, blamed := of(s)
	check := func(name string, want abi.Code) {
		t.Helper()
		if _, err := calls.Compress(t.Context(), "scribe", at, ask); abi.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := calls.Verify(t.Context(), "scribe", at, verify); abi.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("says that it does not know the op", abi.CodeUnavailable)
	s.ops = []string{abi.OpVote}
	check("does not list the op", abi.CodeUnavailable)
	s.ops = []string{abi.OpCompress, abi.OpVerify}
	for name, c := range map[string]struct {
		err  error
		want abi.Code
	}{
		"breaks down":       {&module.Fault{Kind: module.FaultTrap, Cause: errors.New("unreachable")}, abi.CodeUnavailable},
		"is stopped":        {&module.Fault{Kind: module.FaultTimeout, Cause: context.DeadlineExceeded}, abi.CodeTimeout},
		"is late":           {context.DeadlineExceeded, abi.CodeTimeout},
		"has its own words": {abi.Errorf(abi.CodeExhausted, "enough for today"), abi.CodeExhausted},
	} {
		s.answer = func(abi.Request) (string, error) { return "", c.err }
		check(name, c.want)
		if _, err := calls.Verify(t.Context(), "scribe", at, verify); !errors.Is(err, c.err) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
	}
	s.answer = func(abi.Request) (string, error) { return "", context.Canceled }
	if _, err := calls.Compress(t.Context(), "scribe", at, ask); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	calls.Find = func(string) (call.Companion, bool) { return nil, false }
	check("is not loaded", abi.CodeUnavailable)
	n := len(s.reqs)
	calls, at, _ = of(s)
	ask.Turns, verify.Turns = nil, nil
	check("no turns", abi.CodeInvalid)
	ask, verify = past()
	ask.Policy = strings.Repeat("x", abi.MaxPolicy+1)
	verify.Policy = ask.Policy
	check("a long policy", abi.CodeTooLarge)
	if *blamed != 0 || len(s.reqs) != n {
		t.Errorf("blamed %d times, %d requests", *blamed, len(s.reqs)-n)
	}
}

// TestMind: a companion is asked as a mind of a room, for as long as a model may take for all parts.
func TestMind(t *testing.T) {
	ask, verify := past()
	synctest.Test(t, func(t *testing.T) {
		s := &scribe{answer: func(req abi.Request) (string, error) {
			return `{"text":"84,000円。","items":[{"id":"M1","status":"kept"}],"verdict":"YES"}`, nil
		}}
		calls, _, _ := of(s)
		m := call.Mind{Calls: calls, Who: "scribe", Now: time.Now}
		if c, err := m.Compress(t.Context(), "stage", ask); err != nil || c.Text != "84,000円。" {
			t.Errorf("%+v, %v", c, err)
		}
		if v, err := m.Verify(t.Context(), "stage", verify); err != nil || v.Verdict != abi.VerdictYes {
			t.Errorf("%+v, %v", v, err)
		}
		for _, r := range s.reqs {
			if r.Room != "stage" || r.ID != "c1" || r.Self != "scribe" || !r.Now.Equal(time.Now()) {
				t.Errorf("%+v", r)
			}
		}
		calls.Find = func(string) (call.Companion, bool) { return slow{time.Hour}, true }
		begun := time.Now()
		_, err := call.Mind{Calls: calls, Who: "slow", Now: time.Now}.Verify(t.Context(), "stage", verify)
		if abi.CodeOf(err) != abi.CodeUnavailable || time.Since(begun) != 0 { // it does not answer the op
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		calls.Find = func(string) (call.Companion, bool) { return listed{slow{time.Hour}}, true }
		if _, err = (call.Mind{Calls: calls, Who: "slow", Now: time.Now}).Verify(t.Context(), "stage", verify); abi.CodeOf(err) != abi.CodeTimeout || time.Since(begun) != call.LongestPast {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// listed is a slow one that says it answers all.
type listed struct{ slow }

func (listed) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: "Slow", Ops: []string{abi.OpCompress, abi.OpVerify}}
}

// TestLongPast: more than one request may have is asked about in several, none of which is too long.
func TestLongPast(t *testing.T) {
	ask, verify := past()
	ask.Turns, ask.Keep = nil, nil
	for i := range 2500 {
		n := uint64(i + 1)
		ask.Turns = append(ask.Turns, abi.PastTurn{N: n, From: "taro", Text: strings.Repeat("設計の話です。", 60)})
		if i%10 == 0 {
			ask.Keep = append(ask.Keep, abi.KeepItem{ID: fmt.Sprint("M", n), Text: "設計", Turn: n})
		}
	}
	ask.Length = 1000
	verify.Turns, verify.Keep = ask.Turns, ask.Keep
	verify.History = []abi.PastTurn{{N: 1, Upto: 2500, Text: verify.Draft}}
	for i := range 3000 {
		verify.History = append(verify.History, abi.PastTurn{N: uint64(2501 + i), Text: strings.Repeat("<", 500)})
	}
	last := "YES"
	s := &scribe{answer: func(req abi.Request) (string, error) {
		if len(req.Data) > abi.MaxRequest {
			t.Errorf("a request of %d bytes", len(req.Data))
		}
		if req.Op == abi.OpCompress {
			var c abi.Compressing
			if err := json.Unmarshal(req.Data, &c); err != nil || c.Check() != nil {
				t.Errorf("%v, %v", err, c.Check())
			}
			return fmt.Sprintf(`{"text":%q}`, strings.Repeat("短", c.Length)), nil
		}
		var v abi.Verifying
		if err := json.Unmarshal(req.Data, &v); err != nil || v.Check() != nil || v.History[0].Text != verify.Draft {
			t.Errorf("%v, %v", err, v.Check())
		}
		answer := abi.Verified{Verdict: abi.VerdictYes}
		if v.Part == v.Parts {
			answer.Verdict, answer.Feedback = last, last
		}
		for _, k := range v.Keep {
			answer.Items = append(answer.Items, abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept})
		}
		b, err := json.Marshal(answer)
		return string(b), err
	}}
	calls, at, _ := of(s)
	text, err := calls.Compress(t.Context(), "scribe", at, ask)
	if n := len([]rune(text.Text)); err != nil || len(s.reqs) < 3 || n > 1000 || n < 990 || s.reqs[1].ID != "p1/2" {
		t.Errorf("%d characters of %d requests, %v", n, len(s.reqs), err)
	}
	for _, last = range []string{"YES", "NO"} {
		s.reqs = nil
		v, err := calls.Verify(t.Context(), "scribe", at, verify)
		if err != nil || v.Verdict != last || v.Feedback != last || len(s.reqs) < 3 || v.Answers(ask.Keep) != nil {
			t.Errorf("%s %q, %d items of %d requests, %v", v.Verdict, v.Feedback, len(v.Items), len(s.reqs), err)
		}
	}
	if slices.ContainsFunc(s.reqs, func(r abi.Request) bool { return r.Op != abi.OpVerify }) {
		t.Error("asked for something else")
	}
}
