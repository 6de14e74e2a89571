package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

func (d *desks) Start(_ context.Context, m conversations.Member, a conversations.Ask) (conversations.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.start(m, a)
	if err != nil {
		return conversations.View{}, err
	}
	if a.Text != "" {
		if _, err := d.say(t, m.Agent, a.Text, ""); err != nil {
			return conversations.View{}, err
		}
	}
	return t.view(), nil
}

func (d *desks) start(m conversations.Member, a conversations.Ask) (*talk, error) {
	terms := conversation.Terms{
		Project: m.Project, Purpose: a.Purpose, MaxTurns: cmp.Or(a.MaxTurns, conversation.UsualTurns), InTurn: a.InTurn,
		Pending: cmp.Or(a.Pending, conversation.UsualPending).Milliseconds(), Idle: cmp.Or(a.Idle, conversation.UsualIdle).Milliseconds(), Members: append([]string{m.Agent}, a.Targets...),
	}
	p, _ := d.Project(m.Project)
	for _, id := range a.Targets {
		who, ok := d.agent(id)
		switch {
		case id == m.Agent:
			return nil, conversation.Refuse(conversation.WithSelf, "")
		case !ok:
			return nil, conversation.Refuse(conversation.AgentNotFound, id)
		case !slices.Contains(p.Agents, id):
			return nil, conversation.Refuse(conversation.NotInProject, id)
		case who.Human && !d.agents[m.Agent].Human:
			return nil, conversation.Refuse(conversation.WithHuman, id)
		}
		if open := d.open(m.Agent, id); len(open) > 0 {
			return nil, conversation.Refuse(conversation.AlreadyActive, open[0].id)
		}
	}
	t := &talk{id: fmt.Sprintf("conv_%032d", len(d.talks)+1)}
	if err := d.apply(t, conversation.Input{Kind: conversation.Start, Who: m.Agent, Terms: &terms}); err != nil {
		return nil, err
	}
	d.talks = append(d.talks, t)
	return t, nil
}

func (d *desks) input(id string, in conversation.Input) (conversations.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.find(id)
	if err == nil {
		err = d.apply(t, in)
	}
	if err != nil {
		return conversations.View{}, err
	}
	return t.view(), nil
}

func (d *desks) Join(_ context.Context, m conversations.Member, id string) (conversations.View, error) {
	return d.input(id, conversation.Input{Kind: conversation.Join, Who: m.Agent})
}

func (d *desks) Decline(_ context.Context, m conversations.Member, id, why string) (conversations.View, error) {
	return d.input(id, conversation.Input{Kind: conversation.Decline, Who: m.Agent, Why: why})
}

func (d *desks) End(_ context.Context, m conversations.Member, id, final string) (conversations.View, error) {
	if id == "" {
		d.mu.Lock()
		open := d.open(m.Agent, "")
		d.mu.Unlock()
		if len(open) == 0 {
			return conversations.View{}, conversation.Refuse(conversation.NoneActive, "")
		}
		id = open[0].id
	}
	if final != "" {
		d.mu.Lock()
		t, err := d.find(id)
		if err == nil {
			_, err = d.say(t, m.Agent, final, "")
		}
		d.mu.Unlock()
		if err != nil {
			return conversations.View{}, err
		}
	}
	return d.input(id, conversation.Input{Kind: conversation.End, Who: m.Agent})
}

func (d *desks) Say(_ context.Context, m conversations.Member, w conversations.Words) (said conversations.Said, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var t *talk
	if w.Conversation != "" {
		if t, err = d.find(w.Conversation); err != nil {
			return said, err
		}
	} else if open := d.open(m.Agent, w.Target); len(open) > 0 {
		t = open[0]
	}
	switch {
	case t == nil && w.AutoStart && w.Target != "":
		if t, err = d.start(m, conversations.Ask{Targets: []string{w.Target}}); err != nil {
			return said, err
		}
		said.Started = true
	case t == nil:
		return said, conversation.Refuse(conversation.Required, "")
	}
	said.Message, err = d.say(t, m.Agent, w.Text, w.MessageID)
	said.View = t.view()
	return said, err
}

func (d *desks) say(t *talk, who, text, id string) (abi.Message, error) {
	for _, m := range t.said {
		if id != "" && m.ID == id {
			return m, nil
		}
	}
	if err := d.apply(t, conversation.Input{Kind: conversation.Say, Who: who}); err != nil {
		return abi.Message{}, err
	}
	d.n++
	m := abi.Message{Seq: uint64(d.n), ID: cmp.Or(id, fmt.Sprint("m", d.n)), From: who, Text: text, Kind: abi.KindTurn, At: d.tick}
	t.said = append(t.said, m)
	return m, nil
}
