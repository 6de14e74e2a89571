package abi

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReadDescription(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		code   Code
		says   string
	}{
		"good":                   {`{"abi":"1","name":"Aya","aliases":["あや"],"ops":["vote","speak"],"needs":["kv.get"]}`, "", ""},
		"a later minor":          {`{"abi":"1.7","name":"Aya","ops":["dance"],"more":1}`, "", ""},
		"a handler":              {`{"abi":"1","name":"A","ops":[],"kind":"line-handler"}`, "", ""},
		"an unknown kind":        {`{"abi":"1.7","name":"A","ops":[],"kind":"ghost"}`, CodeInvalid, `describe.kind: "ghost"`},
		"nothing":                {`null`, CodeInvalid, "describe.abi"},
		"no description":         {`[]`, CodeInvalid, "no description"},
		"another major":          {`{"abi":"2","name":"Aya"}`, CodeInvalid, `"2"`},
		"a strange minor":        {`{"abi":"1.x","name":"Aya"}`, CodeInvalid, `"1.x"`},
		"no name":                {`{"abi":"1"}`, CodeInvalid, "describe.name"},
		"a name with a line end": {`{"abi":"1","name":"A\ny"}`, CodeInvalid, "printed"},
		"a long alias":           {`{"abi":"1","name":"A","aliases":["` + strings.Repeat("x", MaxName+1) + `"]}`, CodeInvalid, "describe.aliases"},
		"an unknown op":          {`{"abi":"1","name":"A","ops":["dance"]}`, CodeInvalid, `"dance"`},
	} {
		_, err := ReadDescription([]byte(tc.answer))
		if CodeOf(err) != tc.code || (tc.says != "" && !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v, want %q that says %q", name, err, tc.code, tc.says)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := Errorf(CodeStale, "inner")
	for _, tc := range []struct {
		err           error
		code          Code
		retry         bool
		text          string
		field, reason string
	}{
		{Errorf(CodeInvalid, "text: empty"), CodeInvalid, false, "invalid: text: empty", "", "text: empty"},
		{Field("text", CodeInvalid, "empty"), CodeInvalid, false, "invalid: text: empty", "text", "empty"},
		{Field("a%sb", CodeExhausted, "%d: %w", 9, cause), CodeExhausted, true, "exhausted: a%sb: 9: stale: inner", "a%sb", "9: stale: inner"},
		{Errorf(CodeTimeout, "late: %w", cause), CodeTimeout, true, "timeout: late: stale: inner", "", "late: stale: inner"},
		{Wrap(CodeUnavailable, cause, "full"), CodeUnavailable, true, "unavailable: full", "", "full"},
		{AsError(strings.NewReader("").UnreadByte()), CodeInternal, false, "internal: internal error", "", "internal error"},
	} {
		e := AsError(tc.err)
		if e.Code != tc.code || e.Retry != tc.retry || e.Error() != tc.text || e.Field != tc.field || e.Reason() != tc.reason {
			t.Errorf("%v: %s, retry %v, field %q, %q", e, e.Code, e.Retry, e.Field, e.Reason())
		}
	}
	b, err := json.Marshal(Field("text", CodeInvalid, "empty"))
	if want := `{"code":"invalid","message":"text: empty","field":"text"}`; err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	if CodeOf(nil) != "" || AsError(nil) != nil {
		t.Error("no error has no code")
	}
}

func TestVoteCheck(t *testing.T) {
	good := Vote{State: Speak, Importance: 10, Closing: ClosingPre}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(*Vote){
		"vote.state":      func(v *Vote) { v.State = "shout" },
		"vote.importance": func(v *Vote) { v.Importance = 10.5 },
		"vote.closing":    func(v *Vote) { v.Closing = "soon" },
		"vote.reason":     func(v *Vote) { v.Reason = strings.Repeat("x", MaxText+1) },
	} {
		v := good
		spoil(&v)
		if err := v.Check(); AsError(err) == nil || AsError(err).Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"aya": true, "きょうこ": true, "京子": true, "アヤー": true, "a.b-c_1": true, "か\u3099": true,
		"": false, ".a": false, "a b": false, "a/b": false, "\u3099か": false, "a\x00": false, "\xff": false, strings.Repeat("あ", 22): false,
	} {
		if err := CheckName("id", name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
