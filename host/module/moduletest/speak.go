package moduletest

import (
	"context"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Answering makes a module that is called v and answers every op with it.
func Answering(v string) *Module {
	return &Module{Desc: abi.Description{ABI: "1", Name: v}, Bytes: 7, OnCall: func(context.Context, abi.Request) (json.RawMessage, error) {
		return json.Marshal(v)
	}}
}

// Held makes a module whose calls wait for let, or for the end of their ctx,
// which costs an instance and is held against nobody.
func Held(v string, let <-chan struct{}) *Module {
	m := Answering(v)
	m.OnCall = func(ctx context.Context, _ abi.Request) (json.RawMessage, error) {
		select {
		case <-let:
			return json.Marshal(v)
		case <-ctx.Done():
			return nil, &module.Fault{Kind: module.FaultTimeout, Cause: context.Cause(ctx)}
		}
	}
	return m
}

// Vote asks a companion for a vote and gives the string it answers.
func Vote(c *module.Companion) (string, error) {
	data, err := c.Call(context.Background(), abi.Request{Op: abi.OpVote})
	if err != nil {
		return "", err
	}
	var s string
	return s, json.Unmarshal(data, &s)
}
