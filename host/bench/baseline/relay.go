// Package baseline is the turn rules of others, written from their documents, for
// companiond bench to measure its own against: chat-relay's pool, aikyo's vote, round
// robin, a random order and SillyTavern's natural order.
//
// Each has what its document promises and nothing that it does not; where a
// document leaves something open, the reading that is best for it is taken, and the
// comment says which. They run in host/bench/world and know nothing of the house.
package baseline

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// Names gives the names of the baselines.
func Names() []string { return []string{"chat-relay", "aikyo", "natural", "random", "round-robin"} }

// New gives the baseline of that name, nil for another.
func New(name string) world.Rule {
	switch name {
	case "chat-relay":
		return &relay{level: relaySize, busy: map[string]bool{}, nodded: map[nod]int{}}
	case "aikyo":
		return &aikyo{}
	case "natural":
		return &natural{}
	case "random":
		return &moderator{next: anybody}
	case "round-robin":
		return &moderator{next: inOrder}
	}
	return nil
}

// relay is chat-relay (https://github.com/marukun712/chat-relay) as its author
// describes it: a pool of 100 points, each message costs what its sender says and
// the points come back 5 s later; each message wakes every agent that is not busy.
//
// Left open, and taken so: an agent reads history and pool once, after the time of a
// vote; one whose turn the pool refuses, or could not pay for, says a backchannel
// instead, of the six in its prompt each once about a turn, and a listener one. Each
// line is heard as soon as it is in the history.
type relay struct {
	w      *world.World
	level  float64
	busy   map[string]bool
	nodded map[nod]int
}

// nod is a backchannel about a turn.
type nod struct {
	who   string
	about int
}

// The figures of chat-relay's server and of the prompt of its agents.
const (
	relaySize     = 100
	relayRecovery = 5 * time.Second

	shortCost, turnCost, longCost = 5, 60, 80
	turnFrom, longFrom            = 55, 75 // points there must be
	shortChars                    = 10
	turnChars, longChars          = 50, 100
	longImportance                = 8 // of a wish that is worth a long line
	replies                       = 6 // backchannels in the prompt, which are not to be repeated
)

func (r *relay) Start(w *world.World)  { r.w = w }
func (r *relay) Begins(string)         {}
func (r *relay) Said(*world.Turn)      { r.notify() }
func (r *relay) Stopped(t *world.Turn) { r.notify() } // it is a message like any other

// notify wakes the agents. One that is busy never hears of it.
func (r *relay) notify() {
	for _, m := range r.w.Members() {
		if !r.busy[m.ID] {
			r.generate(m.ID)
		}
	}
}

// generate has an agent look at history and pool and do what its prompt says.
func (r *relay) generate(who string) {
	r.busy[who] = true
	about := lastTurn(r.w)
	r.w.Vote(who, about, func(abi.Vote) {
		about = lastTurn(r.w) // history is read now
		v := r.w.Wish(who, about)
		switch long := v.Importance >= longImportance && r.level >= longFrom; {
		case v.State == abi.Speak && long:
			r.write(who, about, longCost, longChars)
		case v.State == abi.Speak && r.level >= turnFrom:
			r.write(who, about, turnCost, turnChars)
		case v.State == abi.Speak:
			r.nod(who, about, replies)
		case v.Backchannel != "":
			r.nod(who, about, 1)
		default:
			r.busy[who] = false
		}
	})
}

func (r *relay) write(who string, about int, cost float64, chars int) {
	r.w.Line(who, about, chars, func(world.Line) {}, func(l world.Line) {
		switch {
		case l.Pass:
			r.busy[who] = false
		case !r.consume(l, cost, abi.KindTurn):
			r.nod(who, about, replies)
		}
	})
}

// nod says a backchannel, so often at most about a turn. It has to be written, too.
func (r *relay) nod(who string, about, most int) {
	key := nod{who, about}
	if r.nodded[key] >= most {
		r.busy[who] = false
		return
	}
	r.nodded[key]++
	r.w.Line(who, about, shortChars, func(world.Line) {}, func(l world.Line) {
		l.To = nil
		if l.Pass || !r.consume(l, shortCost, abi.KindBackchannel) {
			r.busy[who] = false
		}
	})
}

// consume is the server's tool. The agent is done before others are told.
func (r *relay) consume(l world.Line, cost float64, kind abi.MessageKind) bool {
	if cost > r.level {
		return false
	}
	r.level -= cost
	r.w.After(relayRecovery, func() { r.level = min(relaySize, r.level+cost) })
	r.busy[l.From] = false
	r.w.Say(l, world.Saying{Kind: kind})
	r.notify()
	return true
}

// lastTurn gives the number of the newest turn that took the floor.
func lastTurn(w *world.World) int {
	for n := w.Newest(); n > 0; n-- {
		if w.Turn(n).Kind == abi.KindTurn {
			return n
		}
	}
	return 0
}

// ids gives the members of a world.
func ids(w *world.World, but string) (all []string) {
	for _, m := range w.Members() {
		all = append(all, m.ID)
	}
	return slices.DeleteFunc(all, func(id string) bool { return id == but })
}
