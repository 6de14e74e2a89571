package host

import (
	"context"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// TestLinesAreForTheSpeaker: a piece of a line is taken while a line is asked for.
func TestLinesAreForTheSpeaker(t *testing.T) {
	calls := &hostCalls{}
	for _, op := range []string{abi.OpVote, abi.OpPerceive, abi.OpResult, abi.OpDescribe} {
		if _, err := calls.HostCall(context.Background(), module.Caller{Op: op}, abi.HostSay, []byte(`{"text":"x"}`)); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("say while %s: %v", op, err)
		}
	}
}
