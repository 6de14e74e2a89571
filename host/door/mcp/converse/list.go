package converse

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
)

// States are those that a list may be of.
var States = []conversation.State{
	conversation.Pending, conversation.Active, conversation.Terminating, conversation.Ended, conversation.Expired, conversation.Declined,
}

// ListIn asks for conversations.
type ListIn struct {
	Token  string             `json:"session_token"`
	State  conversation.State `json:"state"`
	Limit  *int               `json:"limit"`
	Before string             `json:"before"`
}

// ListOut is conversations, newest first.
type ListOut struct {
	Success       bool     `json:"success"`
	Conversations []Listed `json:"conversations"`
	More          bool     `json:"more"` // before the last of these
}

// Listed is a conversation at a glance.
type Listed struct {
	Conversation string              `json:"conversation_id"`
	State        conversation.State  `json:"state"`
	Initiator    string              `json:"initiator_agent_id"`
	Members      []string            `json:"members"`
	Purpose      string              `json:"purpose"`
	Turns        int                 `json:"current_turns"`
	MaxTurns     int                 `json:"max_turns"` // 0: any number
	Created      time.Time           `json:"created_at"`
	Ended        *time.Time          `json:"ended_at,omitempty"`
	EndedBy      string              `json:"ended_by,omitempty"`
	Reason       conversation.Reason `json:"reason,omitempty"`
}

// UsualList is how many conversations are given to whoever does not say.
const UsualList = 20

// List gives an agent the conversations it was or is in, and a human all of the project.
func (d *Desk) List(ctx context.Context, _ identity.Caller, in ListIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		limit, err := limited(in.Limit, UsualList)
		if err != nil {
			return nil, err
		}
		if in.State != conversation.None && !slices.Contains(States, in.State) {
			return nil, invalid("state: %.64q is none of %v", in.State, States)
		}
		f := conversations.Filter{Project: v.Project, Agent: v.Agent, State: in.State, Before: in.Before, Limit: limit + 1}
		if who, _ := d.Agent(v.Agent); who.Human {
			f.Agent = ""
		}
		views, err := d.Conversations.List(ctx, f)
		if err != nil {
			return nil, err
		}
		out := ListOut{Success: true, Conversations: []Listed{}, More: len(views) > limit}
		for _, view := range views[:min(limit, len(views))] {
			out.Conversations = append(out.Conversations, listed(view, v.Agent))
		}
		return out, nil
	})
}

// listed is a conversation as somebody sees it: who has left a group has an ending of its own.
func listed(v conversations.View, who string) Listed {
	l := Listed{
		Conversation: v.ID, State: v.State, Initiator: v.Initiator(), Members: v.Terms.Members, Purpose: v.Terms.Purpose,
		Turns: v.Turns, MaxTurns: v.Terms.MaxTurns, Created: v.Opened,
	}
	ending := v.Ending
	if m := v.Member(who); m != nil && m.Ending != nil {
		ending = m.Ending
	}
	if ending != nil {
		l.EndedBy, l.Reason = ending.By, ending.Reason
	}
	if !v.Over.IsZero() {
		l.Ended = &v.Over
	}
	return l
}
