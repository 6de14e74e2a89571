package room

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/rooms"
)

// A room that is for a conversation of agents: what happens to that comes in like anything
// else, and companions that are invited answer by their votes.

// mayConverse says why somebody may not speak here who comes from outside: an agent that is not
// known to be a member, and a person under the name of an AI. What holds everywhere is asked
// besides.
func (r *Room) mayConverse(u rooms.Utterance) error {
	switch {
	case r.terms == nil || u.Member:
		return nil
	case u.By != abi.KindHuman:
		return abi.Field("from", abi.CodeDenied, "agents speak in a conversation by authenticate and send_message at /mcp")
	case r.isAI(u.From):
		return abi.Field("from", abi.CodeDenied, "%.64q is the name of an AI; take another name", u.From)
	}
	return nil
}

// isAI says whether an AI of the conversation, or of any project, has a name.
func (r *Room) isAI(name string) bool {
	return r.cfg.Named(name) || slices.ContainsFunc(r.terms.Members, func(id string) bool {
		return !slices.Contains(r.terms.Humans, id) && address.Same(id, name)
	})
}

// Converse has something happen to the conversation that the room is for.
//
// # Errors
//
// CodeNotFound in a room that is for none; a *conversation.Fault, found by errors.As, for
// what the table has no row for.
func (r *Room) Converse(ctx context.Context, in conversation.Input) (conversation.Conversation, error) {
	return loop.Ask(ctx, r.loop, loop.Late, func() (now conversation.Conversation, err error) {
		c := r.state().Life.Conversation
		if c == nil {
			return now, faulty(conversation.Refuse(conversation.NotFound, ""))
		}
		in.At = r.loop.Now()
		if err := cmp.Or(r.closed(), faulty(c.Check(in))); err != nil {
			return now, err
		}
		r.happens(in)
		return r.state().Life.Conversation.Clone(), nil
	})
}

// Talk gives the conversation that the room is for, as it is in the journal.
func (r *Room) Talk(ctx context.Context) (conversation.Conversation, error) {
	return loop.Ask(ctx, r.loop, loop.Late, func() (now conversation.Conversation, err error) {
		c := r.state().Life.Conversation
		if c == nil {
			return now, faulty(conversation.Refuse(conversation.NotFound, ""))
		}
		return c.Clone(), nil
	})
}

// faulty gives what the table refuses as doors have errors.
func faulty(err error) error {
	var f *conversation.Fault
	if !errors.As(err, &f) {
		return err
	}
	code := map[int]abi.Code{403: abi.CodeDenied, 404: abi.CodeNotFound, 409: abi.CodeConflict}[f.Status]
	return abi.Wrap(cmp.Or(code, abi.CodeInvalid), f, f.Error())
}

// happens writes down what the table has a row for now; anything else has been overtaken.
func (r *Room) happens(in conversation.Input) {
	in.At = r.loop.Now()
	then := r.state().Life.Conversation.Clone()
	if r.loop.Trouble() != nil || then.Apply(in) != nil {
		return
	}
	if !then.Open() && r.state().Life.Conversation.Open() {
		r.voice.BreakOff(entry.EndStopped, "the conversation is over") // what went out is said
	}
	if r.loop.Trouble() == nil {
		r.loop.Input(entry.KindConversation, in)
	}
}

// absent gives the members that nobody could tell anything.
func (r *Room) absent() (ids []string) {
	t := &r.state().Life.Conversation.Terms
	for _, id := range t.Members {
		if !slices.Contains(t.Humans, id) && !slices.Contains(t.Hosted, id) && !r.cfg.Here(t.Project, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// stay keeps the members that come from outside in the cast.
func (r *Room) stay() {
	t := r.settings.Terms
	if t == nil {
		return
	}
	for _, id := range t.Members {
		if !slices.Contains(t.Humans, id) && !slices.Contains(t.Hosted, id) {
			r.present.Stay(id)
		}
	}
}

// converse draws what follows for the conversation from what companions answered, and tells
// those of an ending whom the house tells.
func (r *Room) converse() {
	c := r.state().Life.Conversation
	if c == nil || r.closed() != nil {
		return
	}
	for _, e := range slices.Clone(r.loop.Made()) {
		switch e.Kind {
		case entry.KindVote:
			if b, err := entry.Decode[entry.Voted](e); err == nil {
				r.answers(b)
			}
		case entry.KindSaid:
			b, err := entry.Decode[entry.Said](e)
			if err == nil && b.By == abi.KindCompanion && b.Closing == abi.ClosingTerminal {
				r.happens(conversation.Input{Kind: conversation.End, Who: b.From, Absent: r.absent()})
			}
		}
	}
	for _, id := range append(slices.Clone(c.Terms.Humans), c.Terms.Hosted...) {
		if r.state().Life.Conversation.Untold(id) != nil {
			r.happens(conversation.Input{Kind: conversation.Tell, Who: id})
		}
	}
}

// answers takes a companion's vote for its answer to a request, and one that would rather
// listen, and sees no more to come, for its leave.
func (r *Room) answers(b entry.Voted) {
	m := r.state().Life.Conversation.Member(b.Voter)
	if m == nil || m.Ending != nil {
		return
	}
	in := conversation.Input{Who: b.Voter, Why: b.Reason, Absent: r.absent()}
	switch {
	case !m.Joined && b.State == abi.Speak:
		in = conversation.Input{Kind: conversation.Join, Who: b.Voter}
	case !m.Joined:
		in.Kind = conversation.Decline
	case b.State == abi.Listen && b.Closing == abi.ClosingTerminal:
		in.Kind = conversation.End
	default:
		return
	}
	r.happens(in)
}

// stopTalk ends the conversation on the word of a human. Agents end theirs by a call.
func (r *Room) stopTalk(from string) {
	c := r.state().Life.Conversation
	if c == nil || r.loop.Trouble() != nil {
		return
	}
	r.happens(conversation.Input{Kind: conversation.Stop, Who: from, Absent: r.absent()})
}
