package converse

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
)

// SayIn is something to be said. The text is content; message is what other tools call it.
type SayIn struct {
	Token        string `json:"session_token"`
	Target       string `json:"target_agent_id"`
	Content      string `json:"content"`
	Message      string `json:"message"`
	Conversation string `json:"conversation_id"`
	ID           string `json:"message_id"`
	AutoStart    bool   `json:"auto_start_conversation"`
}

// SayOut is what became of it.
type SayOut struct {
	Success      bool   `json:"success"`
	Conversation string `json:"conversation_id"`
	ID           string `json:"message_id"`
	Turns        int    `json:"current_turns"`
	MaxTurns     int    `json:"max_turns"` // 0: any number
	Started      bool   `json:"conversation_started,omitempty"`
	Reminder     string `json:"reminder,omitempty"`
	Ended        bool   `json:"conversation_ended,omitempty"`
	Warning      string `json:"warning,omitempty"`
	Instruction  string `json:"instruction"`
}

// Send says something to an agent.
func (d *Desk) Send(ctx context.Context, _ identity.Caller, in SayIn) (any, error) {
	return d.beside(ctx, in.Token, func(v *visit) (any, error) {
		if in.Target == "" && in.Conversation == "" {
			return nil, invalid("target_agent_id: is missing: give the id of whom you write to, or a conversation_id")
		}
		return d.say(ctx, v, in)
	})
}

// Respond answers whoever wrote last, where nobody else is named.
func (d *Desk) Respond(ctx context.Context, _ identity.Caller, in SayIn) (any, error) {
	return d.beside(ctx, in.Token, func(v *visit) (any, error) { return d.say(ctx, v, in) })
}

func (d *Desk) say(ctx context.Context, v *visit, in SayIn) (any, error) {
	text := in.Content
	switch {
	case text == "":
		text = in.Message
	case in.Message != "" && in.Message != text:
		return nil, invalid("message: is another than content; give one of the two")
	}
	if text == "" {
		return nil, invalid("content: is missing: give what you want to say")
	}
	if err := checkText("content", text); err != nil {
		return nil, err
	}
	said, err := d.Conversations.Say(ctx, v.Member, conversations.Words{
		Conversation: in.Conversation, Target: in.Target, Text: text, MessageID: in.ID, AutoStart: in.AutoStart,
	})
	if abi.CodeOf(err) == abi.CodeConflict && !errors.As(err, new(*conversation.Fault)) {
		return nil, invalid("message_id: another message has this one; give each a name of its own")
	} else if err != nil {
		return nil, err
	}
	view := said.View
	out := SayOut{
		Success: true, Conversation: view.ID, ID: said.Message.ID, Turns: view.Turns, MaxTurns: view.Terms.MaxTurns,
		Started: said.Started, Instruction: toldSaid.text(),
	}
	switch {
	case !view.Open():
		out.Ended, out.Instruction = true, toldEnded.text()
		if view.Ending != nil && view.Ending.Reason == conversation.MaxTurns {
			out.Warning = toldLimit.of(view.Terms.MaxTurns)
		}
	case view.Reminds():
		out.Reminder = toldReminder.of(view.Turns, view.Terms.MaxTurns, view.Left())
	}
	return out, nil
}

// PendingIn asks for what was not read.
type PendingIn struct {
	Token       string  `json:"session_token"`
	Acknowledge *string `json:"acknowledge"`
}

// PendingOut is what was not read.
type PendingOut struct {
	Success     bool   `json:"success"`
	Context     []Line `json:"context_messages"`
	Pending     []Line `json:"pending_messages"`
	Total       int    `json:"total_pending_count"`
	Truncated   bool   `json:"truncated"`
	Cursor      string `json:"cursor,omitempty"`
	Instruction string `json:"instruction"`
}

// Line is a message as agents are shown it.
type Line struct {
	Conversation string    `json:"conversation_id"`
	ID           string    `json:"message_id"`
	Seq          uint64    `json:"seq"`
	From         string    `json:"from_agent_id"`
	Name         string    `json:"from_agent_name"`
	Content      string    `json:"content"`
	At           time.Time `json:"created_at"`
	Cut          string    `json:"cut,omitempty"` // people heard no more of it than this
}

// Pending gives what an agent has not read.
func (d *Desk) Pending(ctx context.Context, _ identity.Caller, in PendingIn) (any, error) {
	return d.visit(ctx, in.Token, in.Acknowledge, func(v *visit) (any, error) {
		w, err := d.Conversations.Waiting(ctx, v.Member)
		if err != nil {
			return nil, err
		}
		v.cursor = w.Cursor
		out := PendingOut{
			Success: true, Context: d.lines(w.Context), Pending: d.lines(w.New), Total: w.Total, Truncated: w.Total > len(w.New),
			Cursor: w.Cursor, Instruction: toldNothing.text(),
		}
		switch {
		case out.Truncated:
			out.Instruction = toldMore.text()
		case w.Total > 0:
			out.Instruction = d.answering(ctx, v.Agent, w.New)
		}
		return out, nil
	})
}

// answering says how messages are answered: in the newest conversation of them, unless that is
// over for their reader, or somebody else has the turn.
func (d *Desk) answering(ctx context.Context, reader string, of []conversations.Line) string {
	if len(of) == 0 {
		return toldNothing.text()
	}
	v, err := d.Conversations.Get(ctx, of[len(of)-1].Conversation)
	switch next := v.Next(); {
	case err != nil || !takes(v, reader):
		return toldOver.text()
	case next != "" && next != reader:
		return toldAfter.of(next)
	}
	return toldRespond.text()
}

func (d *Desk) lines(of []conversations.Line) []Line {
	all := make([]Line, 0, len(of))
	for _, l := range of {
		all = append(all, d.line(l.Conversation, l.Message))
	}
	return all
}

func (d *Desk) line(conversation string, m abi.Message) Line {
	return Line{conversation, m.ID, m.Seq, m.From, d.name(m.From), m.Text, m.At, m.Cut}
}

// Earlier is the last conversation of the same members.
type Earlier struct {
	Conversation string              `json:"conversation_id"`
	Purpose      string              `json:"purpose"`
	Ended        time.Time           `json:"ended_at"`
	EndedBy      string              `json:"ended_by"` // "" for a time-out
	Reason       conversation.Reason `json:"reason"`
	Turns        int                 `json:"turns"`
	Last         []Line              `json:"last_messages"`
}

// earlier gives it, nil where there is none, or where it cannot be read now: what was asked
// for was something else.
func (d *Desk) earlier(ctx context.Context, id string) *Earlier {
	e, err := d.Conversations.Earlier(ctx, id)
	if err != nil || e == nil {
		return nil
	}
	out := &Earlier{Conversation: e.ID, Purpose: e.Purpose, Ended: e.Ended, Turns: e.Turns, Last: []Line{}}
	if e.Ending != nil {
		out.EndedBy, out.Reason = e.Ending.By, e.Ending.Reason
	}
	for _, m := range e.Last {
		out.Last = append(out.Last, d.line(e.ID, m))
	}
	return out
}

// HistoryIn asks for what was said in a conversation.
type HistoryIn struct {
	Token        string `json:"session_token"`
	Conversation string `json:"conversation_id"`
	Since        uint64 `json:"since"`
	Limit        *int   `json:"limit"`
}

// HistoryOut is what was said.
type HistoryOut struct {
	Success  bool   `json:"success"`
	Listed          // the conversation
	Messages []Line `json:"messages"`
	Head     uint64 `json:"head"`
	More     bool   `json:"more"`
}

// UsualHistory is how many messages are given to whoever does not say.
const UsualHistory = 50

// History gives what was said in a conversation to its members, and to the humans of its project.
func (d *Desk) History(ctx context.Context, _ identity.Caller, in HistoryIn) (any, error) {
	return d.visit(ctx, in.Token, nil, func(v *visit) (any, error) {
		limit, err := limited(in.Limit, UsualHistory)
		if err != nil {
			return nil, err
		}
		if in.Conversation == "" {
			return nil, invalid("conversation_id: is missing: list_conversations gives those that you were in")
		}
		view, err := d.Conversations.Get(ctx, in.Conversation)
		if err != nil {
			return nil, err
		}
		if who, _ := d.Agent(v.Agent); view.Terms.Project != v.Project || !who.Human && !slices.Contains(view.Terms.Members, v.Agent) {
			return nil, conversation.Refuse(conversation.NotParticipant, "")
		}
		messages, head, err := d.Conversations.History(ctx, view.ID, in.Since, limit)
		if err != nil {
			return nil, err
		}
		out := HistoryOut{Success: true, Listed: listed(view, v.Agent), Messages: []Line{}, Head: head}
		for _, m := range messages {
			out.Messages = append(out.Messages, d.line(view.ID, m))
		}
		if len(messages) < limit {
			return out, nil
		}
		last := messages[limit-1].Seq
		rest, _, err := d.Conversations.History(ctx, view.ID, last, 1)
		if out.More = len(rest) > 0; out.More {
			out.Head = last
		}
		return out, err
	})
}

// limited reads how many are wanted.
func limited(of *int, usual int) (int, error) {
	switch {
	case of == nil:
		return usual, nil
	case *of < 1 || *of > abi.MaxHistory:
		return 0, invalid("limit: %d is outside 1..%d", *of, abi.MaxHistory)
	}
	return *of, nil
}
