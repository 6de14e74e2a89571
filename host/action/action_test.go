package action_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
)

// What a line loses is never its words.
func TestSaid(t *testing.T) {
	for _, tc := range []struct {
		parameters, text, want string
		code                   abi.Code
	}{
		{``, "a", ``, ""},
		{`{"message":"a"}`, "a", ``, ""},
		{`{"message":"a","emotion":"joy"}`, "a", `{"message":"a","emotion":"joy"}`, ""},
		{`{"message":"a ","emotion":"joy"}`, "a", `{"emotion":"joy","message":"a"}`, ""},
		{`{"message":"b","emotion":"joy"}`, "a", ``, abi.CodeInvalid},
		{`{"emotion":"joy"}`, "a", ``, abi.CodeInvalid},
		{`[`, "a", ``, abi.CodeInvalid},
	} {
		got, err := action.Said(json.RawMessage(tc.parameters), tc.text)
		if string(got) != tc.want || abi.CodeOf(err) != tc.code && err != nil || (err == nil) != (tc.code == "") {
			t.Errorf("%s of %q: %s, %v", tc.parameters, tc.text, got, err)
		}
	}
}

// The card is asked about the action, and about no perception: whoever has the floor may speak.
func TestCheckLine(t *testing.T) {
	no := errors.New("no")
	var asked abi.ActionAsk
	err := action.CheckLine(abi.Line{Text: "a", Parameters: json.RawMessage(`{"message":"a"}`)}, func(a abi.ActionAsk) (string, error) {
		asked = a
		return "", no
	})
	if err != no || asked.Action != "speak" || asked.Perception != "" || string(asked.Parameters) != `{"message":"a"}` {
		t.Errorf("%v, asked %+v", err, asked)
	}
}
