package action_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
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

// TestWordsAreChecked: the action "speak" is a message, and its words are held to what a message may have; another action, and a speak without
// words, is none.
func TestWordsAreChecked(t *testing.T) {
	for parameters, wrong := range map[string]bool{
		`{"message":"hello"}`: false, `{}`: false, `{"message":5}`: false, `{"message":"a\u202e b"}`: true, `{"message":"a\u0000"}`: true,
		`{"message":" \n"}`: true, `{"message":"` + strings.Repeat("a", abi.MaxText+1) + `"}`: true,
	} {
		a := entry.Action{Action: card.Speak, Parameters: json.RawMessage(parameters)}
		if err := action.CheckWords(a); (err != nil) != wrong {
			t.Errorf("%.40s: %v", parameters, err)
		}
		a.Action = "wave"
		if err := action.CheckWords(a); err != nil {
			t.Errorf("%.40s: %v", parameters, err)
		}
	}
}
