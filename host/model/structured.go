package model

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/wire"
)

// byTool is the way of [Config.Structured] for Anthropic's API: the model must call a tool with the
// schema.
const byTool = "tool"

// ladder gives the ways in which an API is asked, in the order in which it may refuse them.
func ladder(api, structured string) []string {
	switch {
	case structured == StructuredPrompt:
		return []string{StructuredPrompt}
	case api == Anthropic && (structured == StructuredSchema || structured == StructuredObject):
		return []string{byTool}
	case api == Anthropic: // some of its models refuse a forced tool, older ones know nothing else
		return []string{byTool, StructuredSchema, StructuredPrompt}
	case structured == StructuredSchema || structured == StructuredObject:
		return []string{structured}
	}
	return []string{StructuredSchema, StructuredObject, StructuredPrompt}
}

// way gives the first way of the ladder that was not refused, or the last. refused is what to know, when
// this one is refused too, to get to the next; 0 where there is none.
func (e *endpoint) way(q quirks) (way string, refused quirks) {
	last := len(e.ladder) - 1
	for _, way := range e.ladder[:last] {
		refused := map[string]quirks{StructuredSchema: noSchema, StructuredObject: noObject, byTool: noForce}[way]
		if !q.has(refused) {
			return way, refused
		}
	}
	return e.ladder[last], 0
}

// structured asks for a structured answer and, when it cannot be used, once more with what is wrong.
func (e *endpoint) structured(ctx context.Context, req Request, used *Usage) (Answer, error) {
	var wrong error
	for range 2 {
		t, err := e.ask(ctx, req, nil, used)
		if err != nil {
			return Answer{}, err
		}
		a := e.answer(req, t)
		if a.Stop == StopRefused {
			return Answer{}, wire.Failed(abi.CodeInvalid, false, errUseless, "the model would not answer: %s", wire.Readable(a.Text))
		}
		if a.JSON, wrong = req.object(a); wrong == nil {
			a.Calls = nil // of the tool that was none
			if a.Stop == StopTools {
				a.Stop = StopEnd
			}
			return a, nil
		}
		req = req.repaired(a, wrong)
	}
	return Answer{}, wire.Failed(abi.CodeInvalid, false, errors.Join(errUseless, wrong), "the model's answer cannot be used, and it could not mend it: %s", wire.Readable(wrong.Error()))
}

// errUseless is in the chain of the error of an answer that is of no use: the model did answer.
var errUseless = errors.New("the answer is of no use")

// ErrCut is in the chain of the error of a structured answer that was cut off at its bound, twice.
var ErrCut = errors.New("it is too long and was cut off")

// ErrRefused is in the chain of the error of a request that the endpoint refuses: that says nothing about an answer.
var ErrRefused = wire.ErrRefused

// object finds the structured answer and checks it.
func (r Request) object(a Answer) (json.RawMessage, error) {
	text, all := a.Text, a.Text
	for _, c := range a.Calls {
		if c.Name == r.SchemaName {
			text = string(c.Arguments)
			all += "\n" + text
		}
	}
	found, ok := shape.Object(text)
	switch {
	case !ok && a.Stop == StopLength:
		return nil, ErrCut
	case !ok:
		return nil, errors.New("it is not a JSON object")
	case r.Sole && shape.Differ(all):
		return nil, errors.New("it has several JSON objects that differ, and which one counts is not clear")
	}
	if r.Check != nil {
		if err := r.Check(found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

const (
	maxWrong   = 1000 // bytes that the model is told of what is wrong
	maxQuoted  = 8000 // bytes of its own answer that it is shown again
	moreTokens = 4    // times as many for the second answer, when the first was cut off
)

// repaired gives the request for the second answer.
func (r Request) repaired(a Answer, wrong error) Request {
	said := strings.ToValidUTF8(wrong.Error()[:min(len(wrong.Error()), maxWrong)], "")
	told := "That answer cannot be used: " + quote.Plain(said) + ". Answer again, with one JSON object that is valid against the schema and nothing else."
	messages := r.Messages[:len(r.Messages):len(r.Messages)]
	if i := slices.IndexFunc(a.Calls, func(c ToolCall) bool { return c.Name == r.SchemaName }); i >= 0 {
		r.Messages = append(messages,
			Message{Role: RoleAssistant, Calls: a.Calls[i : i+1]},
			Message{Role: RoleTool, CallID: a.Calls[i].ID, Text: told, Failed: true})
	} else {
		text := quote.Plain(strings.ToValidUTF8(a.Text[:min(len(a.Text), maxQuoted)], ""))
		r.Messages = joined(append(messages, Message{Role: RoleAssistant, Text: text}, Message{Role: RoleUser, Text: told}))
	}
	if a.Stop == StopLength {
		r.MaxTokens *= moreTokens
	}
	return r
}

// withInstruction gives the system prompt of a request whose schema the model is told.
func (r Request) withInstruction() string {
	return strings.TrimPrefix(r.System+"\n\nAnswer with one JSON object and nothing else: no words around it, no code fence. "+
		"It must be valid against this JSON Schema:\n"+string(r.Schema), "\n\n")
}
