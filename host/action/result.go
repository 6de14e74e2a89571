package action

import (
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// MaxAnswer is how many bytes a body may answer to a query: more and all that is around it would be
// no message that a door reads.
const MaxAnswer = 32 << 10

// CheckAnswer holds what a body answers to its bounds: it is JSON that others can read, too.
func CheckAnswer(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > MaxAnswer {
		return abi.Field("body", abi.CodeTooLarge, "%d bytes, at most %d", len(raw), MaxAnswer)
	}
	var faults tree.Faults
	if n := tree.Read(raw, "body", &faults); n == nil || len(faults) > 0 {
		return faults.Err(abi.CodeInvalid, "body")
	} else if n.Kind != tree.Object && n.Kind != tree.Text {
		return abi.Field("body", abi.CodeInvalid, "is %s, must be an object or a string", n.Kind.Called())
	}
	return nil
}

// CheckReason holds why a body did not do something to its bound.
func CheckReason(why string) error {
	const most = 1000
	if len(why) > most {
		return abi.Field("reason", abi.CodeTooLarge, "%d bytes, at most %d", len(why), most)
	}
	return nil
}
