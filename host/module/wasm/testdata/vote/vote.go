// Package vote is the work that the benchmarks compare: the same function runs
// in a guest and in the test itself.
package vote

import (
	"encoding/json"
	"strings"

	"github.com/companiond/companiond/abi"
)

// Answer reads a request with a scene and writes a reply with a vote.
func Answer(request []byte) []byte {
	var req abi.Request
	if err := json.Unmarshal(request, &req); err != nil {
		return refuse(abi.Errorf(abi.CodeInvalid, "request: %v", err))
	}
	var scene abi.Scene
	if err := json.Unmarshal(req.Data, &scene); err != nil {
		return refuse(abi.Errorf(abi.CodeInvalid, "scene: %v", err))
	}
	vote := abi.Vote{State: abi.Listen, Importance: float64(len(strings.Fields(scene.Message.Text)) % 8)}
	if scene.Addressed || strings.Contains(strings.ToLower(scene.Message.Text), req.Self) {
		vote.State, vote.Importance = abi.Speak, vote.Importance+2
	}
	vote.Reason = "said by " + scene.Message.From
	data, err := json.Marshal(vote)
	if err != nil {
		return refuse(abi.Errorf(abi.CodeInternal, "vote: %v", err))
	}
	reply, _ := json.Marshal(abi.Reply{OK: data})
	return reply
}

func refuse(err *abi.Error) []byte {
	reply, _ := json.Marshal(abi.Reply{Error: err})
	return reply
}
