package converse

import (
	"context"
	"strings"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
)

// stateActive is what seed E's agents are told of a conversation that they may speak in, also
// where nobody has answered yet.
const stateActive = "conversation_active"

// NextIn asks what is to be done.
type NextIn struct {
	Token       string   `json:"session_token"`
	Timeout     *float64 `json:"timeout_seconds"`
	Acknowledge *string  `json:"acknowledge"`
}

// NextOut is what is to be done. Which of it is there the action says.
type NextOut struct {
	Action conversations.Doing `json:"action"`
	*Request
	Conversation string              `json:"conversation_id,omitempty"`
	State        string              `json:"state,omitempty"`
	Real         conversation.State  `json:"conversation_state,omitempty"`
	EndedBy      *string             `json:"ended_by,omitempty"` // "" for a time-out
	Reason       conversation.Reason `json:"reason,omitempty"`
	Why          string              `json:"why,omitempty"`
	Target       string              `json:"target,omitempty"`
	Turn         string              `json:"next_agent_id,omitempty"`
	Unread       int                 `json:"unread,omitempty"`
	Left         []string            `json:"left_agent_ids,omitempty"`
	Others       []Request           `json:"others,omitempty"`
	Earlier      *Earlier            `json:"earlier,omitempty"`
	Instruction  string              `json:"instruction"`
	Cursor       string              `json:"cursor,omitempty"`
}

// Request is a conversation that somebody wants.
type Request struct {
	Conversation string   `json:"conversation_id"`
	From         string   `json:"from_agent_id"`
	Name         string   `json:"from_agent_name"`
	Purpose      string   `json:"purpose"`
	Members      []string `json:"members"`
}

// NextAction gives what an agent is to do next, at once or as soon as there is something.
func (d *Desk) NextAction(ctx context.Context, c identity.Caller, in NextIn) (any, error) {
	wait := conversations.MaxWait
	if in.Timeout != nil {
		if most := conversations.MaxWait.Seconds(); !(*in.Timeout >= 0 && *in.Timeout <= most) {
			return nil, invalid("timeout_seconds: %v is outside 0..%v", *in.Timeout, most)
		}
		wait = time.Duration(*in.Timeout * float64(time.Second))
	}
	return d.visit(ctx, in.Token, in.Acknowledge, func(v *visit) (any, error) {
		if wait > 0 {
			leave, err := d.waits.Enter(v.Member, c.Sharer, time.Now().Add(wait))
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		a, err := d.next(ctx, v, wait)
		if err != nil {
			return nil, err
		}
		v.cursor = a.Cursor
		return d.shown(ctx, a, v.Agent), nil
	})
}

// next waits for something to do.
func (d *Desk) next(ctx context.Context, v *visit, wait time.Duration) (conversations.Action, error) {
	poll, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.stopping, func() { cancel(errStopping) })()
	defer context.AfterFunc(v.at.ended, func() { cancel(errLoggedOut) })()
	var a conversations.Action
	leave, err := v.at.wait(poll, cancel)
	if err == nil {
		defer leave()
		a, err = d.Conversations.Next(poll, v.Member, &v.at.seen, wait)
		if ctx.Err() != nil { // nobody hears the answer, so nothing was seen
			v.at.seen = conversations.Seen{}
		}
	}
	if err == nil {
		return a, nil
	}
	switch context.Cause(poll) {
	case errOvertaken, errStopping:
		return conversations.Action{Do: conversations.DoWait}, nil
	case errLoggedOut:
		return a, conversation.Refuse(conversation.NoSession, "")
	}
	return a, err
}

// shown is an action as an agent is told of it.
func (d *Desk) shown(ctx context.Context, a conversations.Action, to string) NextOut {
	out := NextOut{Action: a.Do, Conversation: a.View.ID, Cursor: a.Cursor}
	if takes(a.View, to) {
		out.State, out.Real, out.Turn = stateActive, a.View.State, a.View.Next()
	} else if by := a.View.Member(a.Ending.By); by != nil {
		out.Why = by.Why
	}
	switch a.Do {
	case conversations.DoRequest:
		first := d.request(a.View)
		out.Request = &first
		for _, other := range a.Others {
			out.Others = append(out.Others, d.request(other))
		}
		out.Earlier = d.earlier(ctx, a.View.ID)
		out.Instruction = toldRequest.of(first.From)
	case conversations.DoEnded:
		out.EndedBy, out.Reason, out.Instruction = &a.Ending.By, a.Ending.Reason, toldEnded.text()
	case conversations.DoExpired:
		out.Reason, out.Target, out.Instruction = conversation.Timeout, a.Target, toldExpired.of(a.Target)
	case conversations.DoExit:
		out.EndedBy, out.Reason, out.Instruction = &a.Ending.By, a.Ending.Reason, toldExit.text()
	case conversations.DoRead:
		out.Unread, out.Instruction = a.Unread, toldRead.text()
		switch {
		case out.State == "":
			out.Instruction = toldLast.text()
		case out.Turn != "" && out.Turn != to:
			out.Instruction = toldTurn.of(out.Turn)
		}
	default:
		out.Left, out.Instruction = a.Left, toldWait.text()
		switch {
		case a.Left != nil:
			out.Instruction = toldParted.of(strings.Join(a.Left, ", "))
		case a.View.ID != "":
			out.Instruction = toldActive.text()
		}
	}
	return out
}

// takes says whether an agent may yet say something in a conversation.
func takes(v conversations.View, who string) bool {
	m := v.Member(who)
	return v.Open() && (m == nil || m.Ending == nil)
}

// request is a conversation as whoever is invited is shown it.
func (d *Desk) request(v conversations.View) Request {
	from := v.Initiator()
	return Request{Conversation: v.ID, From: from, Name: d.name(from), Purpose: v.Terms.Purpose, Members: v.Terms.Members}
}
