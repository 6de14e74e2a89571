package past

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/history"
)

// What others wrote stays in its line, and moves nothing on a screen.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb": "a b", "\x1b[2Jx": "[2Jx", "a\u202eb\u2066": "ab", "天気\u2028です": "天気 です", "\xff": "", "": "",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := short(rapid.String().Draw(t, "words"))
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || unicode.Is(unicode.Bidi_Control, r) }) || len([]rune(got)) > shownText+1 {
			t.Fatalf("%q", got)
		}
	})
}

// What the policy names is counted apart, and what of it is not kept stands in lines of its own, as words of others do.
func TestNamed(t *testing.T) {
	for want, s := range map[string]Standing{
		"": {},
		"\nThere is no policy: nothing has to stay.\n": {Verification: &Verification{}},
		"\nThe policy names nothing that code finds in these turns: no draft is held to it.\n" + "Of what may matter besides, and may be left out, 1 of 2 are there.\n": {
			Policy: "Keep all.", Verification: &Verification{Findings: []history.Finding{{Status: history.Kept}, {Status: history.Missing}}}},
		"\nOf what the policy names 1 of 3 are there.\n> missing of turn 4: a b\n> not needed of turn 5: x\nOf what may matter besides, and may be left out, 0 of 1 are there.\n": {
			Policy: "Keep all.", Verification: &Verification{Findings: []history.Finding{{Status: history.Kept, Policy: true}, {Item: "a\nb", Turn: 4, Status: history.Missing, Policy: true},
				{Item: "\u202ex", Turn: 5, Status: history.NotNeeded, Policy: true}, {Status: history.Changed}}}},
	} {
		if s.Verification != nil {
			s.Verification.Named = namedIn(s.Verification.Findings)
		}
		var b strings.Builder
		if named(&b, s); b.String() != want {
			t.Errorf("%q, not %q", b.String(), want)
		}
	}
	var b strings.Builder
	many := Standing{Verification: &Verification{Named: Named{Of: 30, Not: make([]history.Finding, 30)}}}
	if named(&b, many); !strings.HasSuffix(b.String(), "and 10 more\n") {
		t.Errorf("%q", b.String())
	}
}

// The form is one that clients can show: texts and a choice, at the root.
func TestForm(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(form), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range []string{approve, revert, later} {
		var back jsonschema.Schema
		if err := json.Unmarshal([]byte(formOfRevert), &back); err != nil {
			t.Fatal(err)
		}
		r, err := back.Resolve(nil)
		if err != nil || (r.Validate(map[string]any{fieldDecision: decision}) == nil) != (decision != approve) {
			t.Errorf("%s: %v", decision, err)
		}
	}
	for _, decision := range []string{approve, deny, later, "yes", ""} {
		of := map[string]any{fieldDecision: decision}
		if ok := r.Validate(of) == nil; ok != (decision == approve || decision == deny || decision == later) {
			t.Errorf("%s: %v", decision, ok)
		}
		if got := AnswerOf(true, of); got != (Answer{true, decision, ""}) {
			t.Errorf("%+v", got)
		}
	}
	if AnswerOf(true, map[string]any{fieldDecision: 1, fieldWhy: []any{}}) != (Answer{Accepted: true}) || r.Validate(map[string]any{}) == nil {
		t.Error("what is no text is taken for one")
	}
}

// TestDocumentOfStatuses holds docs/HISTORY.md to what a proposal's status is called here.
func TestDocumentOfStatuses(t *testing.T) {
	got := map[string]string{}
	for _, row := range doortest.Table(t, "../../../../docs/HISTORY.md", "status over MCP | state") {
		for _, state := range doortest.Code(row[1]) {
			got[state+" "+doortest.Code(row[0])[0]] = row[1]
		}
	}
	handed := history.Proposal{State: history.BeingDrafted, Drafts: make([]history.Drafting, 1)} // of which the next is awaited
	want := map[string]bool{"drafting " + status(handed): true}
	for _, state := range []history.State{history.BeingDrafted, history.Offered, history.Refused, history.Approved, history.Denied, history.Failed, history.Reverted} {
		want[string(state)+" "+status(history.Proposal{State: state})] = true
	}
	for row := range want {
		if got[row] == "" {
			t.Errorf("docs/HISTORY.md has no %s", row)
		}
	}
	if len(got) != len(want) || !strings.Contains(got["drafting rejected"], "the next one is awaited") {
		t.Errorf("docs/HISTORY.md has %v, the door %v", got, want)
	}
}
