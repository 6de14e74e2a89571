package conversations

import (
	"cmp"
	"context"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// human gives the person who calls, as one of a project. What it is called is its token's
// word, and a guest's own; the name of an AI of the project is nobody's.
func (d *door) human(ctx context.Context, claimed, project string) (string, error) {
	caller := identity.Of(ctx)
	if caller.Guest {
		claimed = cmp.Or(claimed, guest)
	}
	name, kind, err := caller.From(claimed, abi.KindHuman)
	if err != nil {
		return "", at("body.from", err)
	}
	if kind != abi.KindHuman {
		return "", at("body.from", abi.Errorf(abi.CodeDenied, "%s is an agent, and this is for people: agents converse at /mcp", name))
	}
	if err := abi.CheckName("from", name); err != nil {
		return "", at("body.from", err)
	}
	p, _ := d.cfg.Conversations.Project(project)
	for _, id := range p.Agents {
		if a, ok := d.cfg.Agent(id); ok && !a.Human && (address.Same(id, name) || a.Name != "" && address.Same(a.Name, name)) {
			return "", at("body.from", abi.Errorf(abi.CodeDenied, "%.64q is the name of %s, an agent of this project; take another", name, id))
		}
	}
	return name, nil
}

// member is human as the member of a project.
func (d *door) member(ctx context.Context, claimed, project string) (conversations.Member, error) {
	name, err := d.human(ctx, claimed, project)
	return conversations.Member{Project: project, Agent: name}, err
}

// only gives the agent whose conversations alone a caller may read, "" for all.
func only(ctx context.Context) string {
	if c := identity.Of(ctx); !c.Guest && c.Kind != abi.KindHuman {
		return c.Name
	}
	return ""
}

// MayRead gives why the caller may not read a room, nil where it may: that of a conversation
// is read like the conversation.
func MayRead(ctx context.Context, talk rooms.Room) error {
	if only(ctx) == "" || !strings.HasPrefix(talk.Name(), conversation.Prefix) {
		return nil
	}
	return mayRead(ctx, talk.Info().Conversation)
}

func mayRead(ctx context.Context, c *conversation.Conversation) error {
	if agent := only(ctx); agent != "" && (c == nil || c.Member(agent) == nil) {
		return conversation.Refuse(conversation.NotParticipant, "")
	}
	return nil
}

// open gives a conversation that the caller may read.
func (d *door) open(ctx context.Context, id string) (conversations.View, error) {
	v, err := d.cfg.Conversations.Get(ctx, id)
	if err == nil {
		err = mayRead(ctx, &v.Conversation)
	}
	return v, err
}
