// Package life is how the conversation stands which a room is for, as part of the room's
// state. It is pure: the table of host/conversation says what follows from what happens, and
// nothing here decides who speaks.
package life

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
)

// Life is that part of the state. In rooms that are for no conversation it is zero.
type Life struct {
	Conversation *conversation.Conversation `json:"conversation,omitempty"`
	Shown        conversation.State         `json:"shown,omitempty"` // the one that the newest KindLifecycle told
}

// Happens is the fold of what happens to the conversation; asked says whether that is its
// start. What the table refuses, which this version would not have written, changes nothing.
func (l *Life) Happens(in conversation.Input, at time.Time) (asked bool) {
	in.At = at
	if in.Kind != conversation.Start {
		if l.Conversation != nil {
			_ = l.Conversation.Apply(in)
		}
		return false
	}
	c := new(conversation.Conversation)
	if l.Conversation != nil || c.Apply(in) != nil {
		return false
	}
	l.Conversation = c
	return true
}

// Hears is the fold of a line. What a human says who is no member is no turn.
func (l *Life) Hears(b entry.Said, at time.Time) {
	switch c := l.Conversation; {
	case c == nil:
	case c.Member(b.From) == nil:
		c.Heard = at
	default:
		_ = c.Apply(conversation.Input{Kind: conversation.Say, Who: b.From, At: at})
	}
}

// Refuses says why somebody may not say something in the conversation now, nil where it
// may.
func (l *Life) Refuses(who string, by abi.ParticipantKind, at time.Time) error {
	c := l.Conversation
	switch {
	case c.Member(who) != nil:
		return c.Check(conversation.Input{Kind: conversation.Say, Who: who, At: at})
	case by != abi.KindHuman:
		return conversation.Refuse(conversation.NotParticipant, "")
	case !c.Open():
		return conversation.Refuse(conversation.NotOpen, "it is "+string(c.State))
	}
	return nil
}

// Asked leaves of those who vote the ones that are still in the conversation, and whose turn
// it is.
func (l *Life) Asked(voters []string) []string {
	c := l.Conversation
	if c == nil {
		return voters
	}
	next := c.Next()
	return slices.DeleteFunc(voters, func(id string) bool {
		m := c.Member(id)
		return m == nil || m.Ending != nil || next != "" && next != id && (m.Joined || c.State == conversation.Pending)
	})
}

// Scene tells a companion which conversation it is asked for, by the room's name; nil in a
// room that is for none.
func (l *Life) Scene(room, who string) *abi.Conversing {
	c := l.Conversation
	if c == nil {
		return nil
	}
	s := &abi.Conversing{
		ID: room, Project: c.Terms.Project, Purpose: c.Terms.Purpose, From: c.Initiator(),
		State: abi.ConversationActive, Turns: c.Turns, MaxTurns: c.Terms.MaxTurns,
	}
	if m := c.Member(who); m != nil && !m.Joined || c.State == conversation.Pending {
		s.State = abi.ConversationPending
	}
	return s
}

// Over says whether the conversation is, which is so for no room without one.
func (l *Life) Over() bool { return l.Conversation != nil && !l.Conversation.Open() }

// Moved says whether the state of the conversation is not the one that was told.
func (l *Life) Moved() bool { return l.Conversation != nil && l.Conversation.State != l.Shown }

// Telling gives what is to be told of it.
func (l *Life) Telling() entry.Lifecycle {
	c := l.Conversation
	b := entry.Lifecycle{From: string(l.Shown), To: string(c.State)}
	if c.Ending != nil {
		b.EndedBy, b.Reason = c.Ending.By, string(c.Ending.Reason)
	}
	return b
}
