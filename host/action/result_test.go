package action

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestCheckAnswer(t *testing.T) {
	for raw, code := range map[string]abi.Code{
		``: "", `{}`: "", `"a cat"`: "", `{"a":[1,{"b":null}]}`: "",
		`null`: abi.CodeInvalid, `7`: abi.CodeInvalid, `[]`: abi.CodeInvalid, `true`: abi.CodeInvalid, `{"a":1,"a":2}`: abi.CodeInvalid, `{"a":`: abi.CodeInvalid, "\"\x80\"": abi.CodeInvalid,
		strings.Repeat(`{"a":`, 65) + "{}" + strings.Repeat("}", 65): abi.CodeInvalid,
		`"` + strings.Repeat("x", MaxAnswer) + `"`:                   abi.CodeTooLarge,
	} {
		err := CheckAnswer([]byte(raw))
		if abi.CodeOf(err) != code || err != nil && !strings.HasPrefix(abi.AsError(err).Field, "body") {
			t.Errorf("%.40q: %v", raw, err)
		}
	}
}

func TestCheckReason(t *testing.T) {
	if err := CheckReason(strings.Repeat("x", 1000)); err != nil {
		t.Error(err)
	}
	if err := CheckReason(strings.Repeat("x", 1001)); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
}
