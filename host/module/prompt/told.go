package prompt

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
)

// maxTalks is how many rooms a character keeps a window of; of others it begins anew.
const maxTalks = 64

// talk is what a character has been told of a room.
type talk struct {
	window window.Window

	mu    sync.Mutex
	names map[string]string // as they were when somebody was first seen, so that what was told stays
	used  uint64            // counts up
}

// talkOf gives the talk of a room.
func (m *Module) talkOf(room string) *talk {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn++
	t := m.talks[room]
	if t == nil {
		if len(m.talks) >= maxTalks {
			oldest := ""
			for name, have := range m.talks {
				if oldest == "" || have.used < m.talks[oldest].used {
					oldest = name
				}
			}
			delete(m.talks, oldest)
		}
		t = &talk{names: map[string]string{}}
		m.talks[room] = t
	}
	t.used = m.turn
	return t
}

// meet learns the names of those who are there.
func (t *talk) meet(members []abi.Member) map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range members {
		if m.Name != "" && m.Name != m.ID && t.names[m.ID] == "" {
			t.names[m.ID] = m.Name
		}
	}
	names := make(map[string]string, len(t.names))
	for id, name := range t.names {
		names[id] = name
	}
	return names
}

// hearer is who is told something: a character, or several that are judged together.
type hearer struct {
	mind *layout.Mind
	talk *talk
	key  string // the same for requests that begin alike
}

// self is the character, as one who hears a room.
func (c *call) self() *hearer {
	return &hearer{c.m.mind, c.m.talkOf(c.caller.Room), c.m.id + "\n" + c.caller.Room}
}

// asking is what a model is asked for, before it is put into words.
type asking struct {
	of      *hearer // nil: the character itself
	tail    layout.Tail
	tools   []model.Tool
	reads   bool // it may read documents of the companion's
	members []abi.Member
	recent  []abi.Message // where the history cannot be read
	recall  bool          // with what the character remembers
	about   uint64
	grant   string
	urgency limits.Urgency
}

// put makes a request of it.
func (c *call) put(ctx context.Context, a asking) (Ask, error) {
	m, of := c.m, a.of
	if of == nil {
		of = c.self()
	}
	context, meter := m.engine.cfg.Models.Window(m.card.Model)
	human := func(id string) bool { return isHuman(a.members, id) }
	names := of.talk.meet(a.members)
	terms := window.Terms{
		Budget: of.mind.History(layout.Budget{Context: context, Meter: meter}),
		Meter:  meter, Line: of.mind.Line(names), Human: human,
	}
	told, err := of.talk.window.Tell(ctx, c.history, terms)
	if err != nil {
		if ctx.Err() != nil {
			return Ask{}, ctx.Err()
		}
		told = window.Told{}
	}
	if len(told.Messages) == 0 {
		told.Messages = a.recent
	}
	parts := layout.Parts{
		Budget: layout.Budget{Context: context, Meter: meter}, Tools: a.tools,
		Told: told, History: terms.Budget, Human: human, Names: names, Tail: a.tail,
	}
	if recall := m.engine.cfg.Recall; a.recall && recall != nil {
		if found, err := recall(ctx, c.caller, recallAsk(told.Messages, human)); err == nil {
			parts.Memories = found.Memories
		} else if ctx.Err() != nil {
			return Ask{}, ctx.Err()
		}
	}
	if a.reads {
		parts.Tools = append(parts.Tools, c.documents(ctx)...)
	}
	p := of.mind.Build(parts)
	c.keep(ctx, p.Told.System, p.System)
	if len(p.Tools) > 0 {
		c.keep(ctx, p.Told.Tools, layout.WriteTools(p.Tools))
	}
	return Ask{
		Request: model.Request{System: p.System, Messages: p.Messages, Tools: p.Tools, CacheKey: layout.Hash(of.key)[:32]},
		About:   a.about, Grant: a.grant, Urgency: a.urgency, Told: p.Told,
	}, nil
}

// history reads the room.
func (c *call) history(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	return host[abi.History](ctx, c, abi.HostHistoryGet, ask)
}

// recalled is how many of the newest messages say what is to be remembered.
const recalled = 4

// recallAsk asks for what has to do with what a person said last, and with what was said since.
func recallAsk(said []abi.Message, human func(string) bool) abi.MemoryAsk {
	var ask abi.MemoryAsk
	var texts []string
	for _, msg := range slices.Backward(said[max(0, len(said)-recalled):]) {
		texts = append(texts, msg.Text)
		if human(msg.From) { // what was asked before it is no matter now
			ask.About = []string{msg.From}
			break
		}
	}
	slices.Reverse(texts)
	ask.Text = strings.Join(texts, "\n")
	return ask
}

// keep keeps the house's own words of a prompt, so that it can be shown; each once.
func (c *call) keep(ctx context.Context, hash, text string) {
	keep := c.m.engine.cfg.Keep
	if keep == nil {
		return
	}
	c.m.mu.Lock()
	known := c.m.kept[hash]
	c.m.mu.Unlock()
	if known {
		return
	}
	if err := keep(ctx, hash, text); err != nil {
		if ctx.Err() == nil {
			c.m.engine.cfg.Log.Warn("what a model is told cannot be kept; why -prompt will not show all of it", "companion", c.m.id, "err", err)
		}
		return
	}
	c.m.mu.Lock()
	c.m.kept[hash] = true
	c.m.mu.Unlock()
}

// tool gives an action as a model with the floor is offered it.
func (m *Module) tool(a card.Action) model.Tool {
	t := model.Tool{Name: a.Title, Description: a.Description, Schema: a.Schema}
	if a.Query {
		t.Description = strings.TrimSpace(t.Description + "\n" + m.asks())
	}
	if a.Title == card.Speak {
		t.Description = strings.TrimSpace(t.Description + "\n" + m.how())
	}
	return t
}
