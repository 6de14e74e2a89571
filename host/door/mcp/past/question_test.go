package past

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
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
