// Package digest has a language model tell a part of a room's past in fewer words, and has one
// verify that nothing was lost by it. It makes the requests, keeps them within the model's
// context, in parts where need be, and reads the answers: one that is not all of what was asked
// for is an error, and never a YES.
//
// It reaches no model itself, and never decides what becomes of a draft or a verdict. What
// others said, called themselves or asked for is JSON in the user's message, one value a line,
// and never in the system prompt.
package digest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// Model is who is asked. It is safe for concurrent use where Ask is.
type Model struct {
	Ask     func(ctx context.Context, req model.Request) (model.Answer, error)
	Context int           // tokens that a prompt may come to; the answer has room in it too
	Meter   *tokens.Meter // guesses them
}

// What a model is told, a line each. All texts in them but the task's are words of others.
type (
	policyLine struct {
		Policy string `json:"policy"`
	}
	keepLine struct {
		Keep   string `json:"keep"` // its id
		Turn   uint64 `json:"turn"`
		Policy bool   `json:"policy,omitempty"`
		Text   string `json:"text"`
	}
	turnLine struct {
		Turn uint64 `json:"turn"`
		Upto uint64 `json:"upto,omitempty"`
		From string `json:"from,omitempty"`
		At   string `json:"at,omitempty"`
		Text string `json:"text"`
	}
	historyLine struct {
		History uint64 `json:"history"`
		Upto    uint64 `json:"upto,omitempty"`
		From    string `json:"from,omitempty"`
		Draft   bool   `json:"draft,omitempty"`
		Text    string `json:"text"`
	}
	draftLine struct {
		Draft string `json:"draft"`
	}
	refusedLine struct {
		Refused  string `json:"refused_draft,omitempty"`
		Feedback string `json:"feedback"`
	}
	task struct {
		Task     string    `json:"task"`
		Turns    [2]uint64 `json:"turns"`
		Part     int       `json:"part,omitempty"`
		Parts    int       `json:"parts,omitempty"`
		Length   int       `json:"length,omitempty"`
		Unit     string    `json:"unit,omitempty"`
		Language string    `json:"language,omitempty"`
	}
)

func lineOf(t abi.PastTurn) turnLine {
	l := turnLine{Turn: t.N, Upto: t.Upto, From: t.From, Text: t.Text}
	if !t.At.IsZero() {
		l.At = t.At.UTC().Format(time.RFC3339)
	}
	return l
}

func keepOf(k abi.KeepItem) keepLine {
	return keepLine{Keep: k.ID, Turn: k.Turn, Policy: k.Policy, Text: k.Text}
}

// sheet is a user's message that is written.
type sheet []byte

func (s *sheet) add(line any) { *s = append(append(*s, quote.JSON(line)...), '\n') }

// request makes a request of it; most is how long the answer may be.
func (s sheet) request(system, name string, schema json.RawMessage, most int) model.Request {
	return model.Request{
		System: system, Messages: []model.Message{{Role: model.RoleUser, Text: string(s[:max(0, len(s)-1)])}},
		Schema: schema, SchemaName: name, MaxTokens: most,
	}
}

// perLine is what a line takes beside its words, in tokens: rounding, and the line's end.
const perLine = 2

// line guesses what a line comes to.
func (m Model) line(v any) int { return m.Meter.Tokens(tokens.Of(quote.JSON(v))) + perLine }

// ofTurn and ofItem guess what is told of each.
func (m Model) ofTurn(t abi.PastTurn) int { return m.line(lineOf(t)) }

func (m Model) ofItem(k abi.KeepItem) int { return m.line(keepOf(k)) }

func (m Model) ofAll(turns []abi.PastTurn, keep []abi.KeepItem) (n int) {
	for _, t := range turns {
		n += m.ofTurn(t)
	}
	for _, k := range keep {
		n += m.ofItem(k)
	}
	return n
}

// instruction is what an endpoint is told of the schema that cannot be held to one.
const instruction = 60

// ofRules guesses what the rules come to, with the schema.
func (m Model) ofRules(system string, schema json.RawMessage) int {
	return m.Meter.Tokens(tokens.Of(system).Plus(tokens.Of(string(schema)))) + instruction
}

// usable is how much of the context may be used, by the prompt and the answer together.
func (m Model) usable() int { return int(float64(m.Context) * (1 - m.Meter.Reserve())) }

// tooSmall says that a context has no room.
func (m Model) tooSmall(what string) error {
	return abi.Errorf(abi.CodeTooLarge, "%s leaves no room for the turns in the model's context of %d tokens: make it shorter, or set a larger context for the model", what, m.Context)
}

// ask asks, and has no use for an answer that was cut off, though what is there of it may be read. An endpoint that
// refuses the request, and an answer that has no room in its bound, are no answers that are wrong: another draft would not help.
func (m Model) ask(ctx context.Context, req model.Request) (json.RawMessage, error) {
	a, err := m.Ask(ctx, req)
	switch {
	case errors.Is(err, model.ErrCut):
		err = abi.Wrap(abi.CodeTooLarge, err, fmt.Sprintf("the model's answer was cut off, with room for %d tokens and then for more: take fewer turns at once, or another model", req.MaxTokens))
	case errors.Is(err, model.ErrRefused) && abi.CodeOf(err) == abi.CodeInvalid:
		err = abi.Wrap(abi.CodeUnavailable, err, abi.AsError(err).Message)
	case err == nil && a.Stop == model.StopLength:
		err = abi.Errorf(abi.CodeInvalid, "the model's answer was cut off")
	}
	return a.JSON, err
}

// span is the numbers of the first and the last turn.
func span(turns []abi.PastTurn) [2]uint64 {
	last := turns[len(turns)-1]
	return [2]uint64{turns[0].N, max(last.N, last.Upto)}
}
