package converse

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
)

// StartIn asks for a conversation. Either of the targets is an id, or a list of ids.
type StartIn struct {
	Token       string          `json:"session_token"`
	Target      json.RawMessage `json:"target_agent_id"`
	Participant json.RawMessage `json:"participant_agent_id"`
	Purpose     string          `json:"purpose"`
	Text        string          `json:"initial_message"`
	MaxTurns    *int            `json:"max_turns"`
	InTurn      bool            `json:"in_turn"`
	Pending     *float64        `json:"pending_seconds"`
	Idle        *float64        `json:"idle_seconds"`
}

// LifeOut is what became of a conversation.
type LifeOut struct {
	Success      bool               `json:"success"`
	Conversation string             `json:"conversation_id"`
	Status       conversation.State `json:"status"`
	Target       string             `json:"target_agent_id,omitempty"`
	Targets      []string           `json:"target_agent_ids,omitempty"` // of a group
	Turns        *int               `json:"current_turns,omitempty"`
	MaxTurns     *int               `json:"max_turns,omitempty"`
	Earlier      *Earlier           `json:"earlier,omitempty"`
	Instruction  string             `json:"instruction"`
}

// LongestSeconds bounds the time-outs that may be asked for.
const LongestSeconds = 24 * 60 * 60

// Start asks others for a conversation.
func (d *Desk) Start(ctx context.Context, _ identity.Caller, in StartIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		ask, err := in.ask()
		if err != nil {
			return nil, err
		}
		view, err := d.Conversations.Start(ctx, v.Member, ask)
		if err != nil {
			return nil, err
		}
		out := LifeOut{
			Success: true, Conversation: view.ID, Status: view.State, Target: ask.Targets[0],
			Turns: &view.Turns, MaxTurns: &view.Terms.MaxTurns, Earlier: d.earlier(ctx, view.ID), Instruction: toldStarted.text(),
		}
		if view.State == conversation.Active { // a companion has answered already
			out.Instruction = toldActive.text()
		}
		if len(ask.Targets) > 1 {
			out.Targets = ask.Targets
		}
		return out, nil
	})
}

func (in StartIn) ask() (a conversations.Ask, err error) {
	if a.Targets, err = in.targets(); err != nil {
		return a, err
	}
	if a.Pending, err = seconds("pending_seconds", in.Pending); err != nil {
		return a, err
	}
	if a.Idle, err = seconds("idle_seconds", in.Idle); err != nil {
		return a, err
	}
	if in.MaxTurns != nil {
		if a.MaxTurns = *in.MaxTurns; a.MaxTurns < conversation.MinTurns || a.MaxTurns > conversation.MaxMaxTurns {
			return a, invalid("max_turns: is %d to %d, not %d", conversation.MinTurns, conversation.MaxMaxTurns, a.MaxTurns)
		}
	}
	a.Purpose, a.Text, a.InTurn = in.Purpose, in.Text, in.InTurn
	return a, cmp.Or(checkText("purpose", a.Purpose), checkText("initial_message", a.Text))
}

// targets gives whom the conversation is to be with, by whichever of the two names.
func (in StartIn) targets() ([]string, error) {
	target, err := ids("target_agent_id", in.Target)
	if err != nil {
		return nil, err
	}
	participant, err := ids("participant_agent_id", in.Participant)
	switch {
	case err != nil:
		return nil, err
	case target == nil && participant == nil:
		return nil, invalid("target_agent_id: is missing: give the id of whom you want to talk with")
	case target != nil && participant != nil && !slices.Equal(target, participant):
		return nil, invalid("participant_agent_id: is another than target_agent_id; give one of the two")
	case target == nil:
		return participant, nil
	}
	return target, nil
}

// ids reads an id or a list of ids; nil for neither.
func ids(name string, raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` || string(raw) == "[]" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var all []string
	if json.Unmarshal(raw, &all) != nil {
		return nil, invalid(`%s: must be an id, or a list of ids such as ["worker-b","worker-c"]`, name)
	}
	return all, nil
}

// seconds reads a time-out; 0 for the usual one.
func seconds(name string, of *float64) (time.Duration, error) {
	if of == nil {
		return 0, nil
	}
	if !(*of >= 1 && *of <= LongestSeconds) {
		return 0, invalid("%s: %v is outside 1..%d", name, *of, LongestSeconds)
	}
	return time.Duration(*of * float64(time.Second)).Truncate(time.Millisecond), nil
}

// EndIn ends a conversation.
type EndIn struct {
	Token        string `json:"session_token"`
	Conversation string `json:"conversation_id"`
	Final        string `json:"final_message"`
}

// End ends a conversation, or leaves a group.
func (d *Desk) End(ctx context.Context, _ identity.Caller, in EndIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		if err := checkText("final_message", in.Final); err != nil {
			return nil, err
		}
		view, err := d.Conversations.End(ctx, v.Member, in.Conversation, in.Final)
		if err != nil {
			return nil, err
		}
		out := LifeOut{Success: true, Conversation: view.ID, Status: view.State, Instruction: toldEnd.text()}
		if view.Open() {
			out.Instruction = toldLeft.text()
		}
		return out, nil
	})
}

// DeclineIn refuses a request.
type DeclineIn struct {
	Token        string `json:"session_token"`
	Conversation string `json:"conversation_id"`
	Reason       string `json:"reason"`
}

// Decline refuses a request.
func (d *Desk) Decline(ctx context.Context, _ identity.Caller, in DeclineIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		if in.Conversation == "" {
			return nil, invalid("conversation_id: is missing: give that of the request")
		}
		if err := checkText("reason", in.Reason); err != nil {
			return nil, err
		}
		view, err := d.Conversations.Decline(ctx, v.Member, in.Conversation, in.Reason)
		if err != nil {
			return nil, err
		}
		return LifeOut{Success: true, Conversation: view.ID, Status: view.State, Instruction: toldDeclined.text()}, nil
	})
}
