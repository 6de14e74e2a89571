package models

import (
	"context"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// checkOf gives what holds an answer to a schema, which a module wrote.
func checkOf(text json.RawMessage) (func(json.RawMessage) error, error) {
	const path = "schema"
	var faults tree.Faults
	n := tree.Read(text, path, &faults)
	if len(faults) > 0 {
		return nil, faults.Err(abi.CodeInvalid, path)
	}
	s := new(schema.Compiler).Compile(n, path, &faults)
	if len(faults) > 0 {
		return nil, faults.Err(abi.CodeInvalid, path)
	}
	return func(answer json.RawMessage) error {
		var faults tree.Faults
		n := tree.Read(answer, "", &faults)
		if len(faults) > 0 {
			return faults.Err(abi.CodeInvalid, "answer")
		}
		why, code := s.Check(n, "")
		return why.Err(code, "answer")
	}, nil
}

// Ask answers a module's model.generate. With a schema the answer is held to it, and
// the model has one try to mend it.
func (m *Models) Ask(ctx context.Context, c module.Caller, ask abi.ModelAsk) (abi.ModelAnswer, error) {
	req := model.Request{System: ask.System, MaxTokens: ask.MaxTokens, Schema: ask.Schema}
	if len(ask.Schema) > 0 {
		var err error
		if req.Check, err = checkOf(ask.Schema); err != nil {
			return abi.ModelAnswer{}, err
		}
	}
	for i, msg := range ask.Messages {
		role := model.Role(msg.Role)
		if role != model.RoleUser && role != model.RoleAssistant {
			return abi.ModelAnswer{}, abi.Errorf(abi.CodeInvalid, "messages[%d].role: %q is neither \"user\" nor \"assistant\"", i, msg.Role)
		}
		req.Messages = append(req.Messages, model.Message{Role: role, Text: msg.Text})
	}
	if len(req.Messages) == 0 {
		return abi.ModelAnswer{}, abi.Errorf(abi.CodeInvalid, "messages: must not be empty")
	}
	wanted := ""
	if m.cfg.Wants != nil {
		wanted = m.cfg.Wants(c.Companion)
	}
	urgency := limits.Idle
	if c.Op == abi.OpSpeak { // whether somebody called it, the module alone knows
		urgency = limits.Called
	}
	a, err := m.Generate(ctx, c, wanted, prompt.Ask{Request: req, Urgency: urgency}, nil)
	if err != nil {
		return abi.ModelAnswer{}, err
	}
	return abi.ModelAnswer{Text: a.Text, JSON: json.RawMessage(a.JSON), In: a.Usage.In, Out: a.Usage.Out}, nil
}
