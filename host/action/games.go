package action

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/room/queue"
)

// lender is whom games lend their actions to.
type lender struct{ room, companion string }

// lending are the actions that games lend to a companion in a room.
type lending struct {
	names   force.Names
	actions map[string]card.Action // by name
}

// Game is a body of a game that is connected.
type Game struct {
	bodies  *Bodies
	room    string
	who     string
	id      string
	owner   string // whoever connected it
	mu      sync.Mutex
	name    string // by its own word; empty: it has not said
	changed func()
}

// Refusal is why a game does not get a name.
type Refusal struct {
	Name string
	Rule force.Rule
}

// Reason says it in words for whoever offered the name.
func (r Refusal) Reason() string {
	switch r.Rule {
	case force.RegisterName:
		return fmt.Sprintf("%q is the house's: it is how a companion speaks", r.Name)
	case force.RegisterAgain:
		return fmt.Sprintf("%q is offered already, and stays as it is; take it back first", r.Name)
	case force.RegisterConflict:
		return fmt.Sprintf("%q is another's, which came first", r.Name)
	}
	return fmt.Sprintf("%q is too much: a companion has %d offered actions at most, of 256 KiB", r.Name, force.MaxNames)
}

// Plug says that a game is connected to a companion in a room, until leave is called. changed is
// called whenever what it offers has changed, and as it leaves. owner is who connected it: a
// game of another's is another game, however it is called.
func (b *Bodies) Plug(room, companion, owner string, changed func()) (g *Game, leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[string][]entry.Body{}
	}
	if b.lent == nil {
		b.lent, b.games = map[lender]*lending{}, map[string]*Game{}
	}
	g = &Game{bodies: b, room: room, who: companion, owner: owner, changed: changed}
	g.id = b.join(room, entry.Body{Who: companion, Mute: true})
	b.games[g.id] = g
	return g, sync.OnceFunc(g.leave)
}

// ID is that of the body.
func (g *Game) ID() string { return g.id }

func (g *Game) leave() {
	g.with(func(l *lending) { l.leave(g.id) })
	g.bodies.leave(g.room, g.id)
	g.bodies.unplug(g.id)
	g.changed()
}

func (b *Bodies) unplug(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.games, id)
}

// with does something to what is lent where this game is. What nobody lends any more is
// forgotten.
func (g *Game) with(do func(*lending)) {
	at := lender{g.room, g.who}
	g.bodies.mu.Lock()
	defer g.bodies.mu.Unlock()
	l := g.bodies.lent[at]
	if l == nil {
		l = &lending{actions: map[string]card.Action{}}
		g.bodies.lent[at] = l
	}
	if do(l); len(l.names.All()) == 0 {
		delete(g.bodies.lent, at)
	}
}

// by is whose the names of the game are: its owner's, so that nobody else takes them by
// giving a game the same name.
func (g *Game) by() force.Owner {
	g.mu.Lock()
	defer g.mu.Unlock()
	return force.Owner{Body: g.id, Game: g.owner + "\n" + g.name}
}

// Name gives what the game calls itself.
func (g *Game) Name() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.name
}

// Start says that the game begins, by a name: it offers nothing. Nor does it on bodies that it
// had before, whose ids are answered.
func (g *Game) Start(name string) (elsewhere []string) {
	g.mu.Lock()
	g.name = name
	g.mu.Unlock()
	by := g.by()
	g.with(func(l *lending) {
		elsewhere = l.names.Anew(by)
		l.forget()
	})
	g.changed()
	return elsewhere
}

// Offer lends actions, as far as their names are to be had; the others are answered, each with
// why. The action "speak" is the house's.
func (g *Game) Offer(all []card.Action) (refused []Refusal) {
	by := g.by()
	g.with(func(l *lending) {
		for _, a := range all {
			rule := force.RegisterName
			switch _, held := l.names.Of(a.Title); {
			case a.Title == card.Speak:
			case !held && l.size()+size(a) > maxLent:
				rule = force.RegisterFull
			default:
				rule = l.names.Take(a.Title, by)
			}
			if rule != "" {
				refused = append(refused, Refusal{a.Title, rule})
				continue
			}
			l.actions[a.Title] = a
		}
	})
	g.changed()
	return refused
}

// Withdraw takes actions back.
func (g *Game) Withdraw(names []string) {
	g.with(func(l *lending) {
		for _, n := range names {
			l.names.Drop(n, g.id)
		}
		l.forget()
	})
	g.changed()
}

// maxLent is how many bytes all that games lend to a companion may come to: it goes along with
// whatever the companion is asked.
const maxLent = 256 << 10

func size(a card.Action) int { return len(a.Title) + len(a.Description) + len(a.Schema) }

func (l *lending) size() (n int) {
	for _, a := range l.actions {
		n += size(a)
	}
	return n
}

func (l *lending) leave(body string) {
	l.names.Leave(body)
	l.forget()
}

// forget drops the actions of which nobody has the name any more.
func (l *lending) forget() {
	for name := range l.actions {
		if _, held := l.names.Of(name); !held {
			delete(l.actions, name)
		}
	}
}

// Lent gives the action of a name that a game lends a companion in a room, and which body's it
// is.
func (b *Bodies) Lent(room, companion, name string) (a card.Action, body string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lent[lender{room, companion}]
	if l == nil {
		return a, "", false
	}
	by, ok := l.names.Of(name)
	return l.actions[name], by.Body, ok
}

// Offers gives how what games lend in a room has changed since it was offered so. game says
// how a body's game is called.
func (b *Bodies) Offers(room string, had []queue.Offered, here func(body string) bool) (change []entry.Offered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.of[room] {
		if !x.Mute || !here(x.ID) {
			continue
		}
		one := entry.Offered{Who: x.Who, Body: x.ID}
		l := b.lent[lender{room, x.Who}]
		offers := l.of(x.ID)
		for _, h := range had {
			if h.Body == x.ID && !slices.ContainsFunc(offers, func(a card.Action) bool { return same(a, h.Offer) }) {
				one.Withdrawn = append(one.Withdrawn, h.Name)
			}
		}
		for _, a := range offers {
			if !slices.ContainsFunc(had, func(h queue.Offered) bool { return h.Body == x.ID && same(a, h.Offer) }) {
				one.Actions = append(one.Actions, abi.Offer{Name: a.Title, Description: a.Description, Schema: a.Schema})
			}
		}
		if len(one.Actions)+len(one.Withdrawn) > 0 {
			one.By = b.games[x.ID].Name()
			change = append(change, one)
		}
	}
	return change
}

// of gives the actions of a body, in the order in which it lent them.
func (l *lending) of(body string) (all []card.Action) {
	if l == nil {
		return nil
	}
	for _, h := range l.names.All() {
		if h.Body == body {
			all = append(all, l.actions[h.Name])
		}
	}
	return all
}

// same says whether an action is the one that was offered.
func same(a card.Action, o abi.Offer) bool {
	return a.Title == o.Name && a.Description == o.Description && bytes.Equal(a.Schema, o.Schema)
}
