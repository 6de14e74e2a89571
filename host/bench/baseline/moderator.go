package baseline

import (
	"slices"
	"strconv"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// moderator hands the floor around without asking anybody: round robin, as
// Open-LLM-VTuber's groups do, and the random order of AutoGen's group chat. The next
// is asked when the last has been heard; a line is heard from its first sentence on.
//
// Given to it beyond its models, so that it has no other flaw than its rule: one that does
// not answer within ten seconds is left out, where all pass it rests for five, and a STOP
// is obeyed.
type moderator struct {
	w    *world.World
	next func(w *world.World, last string, k int) string

	last string
	k    int  // turns that were asked for
	on   bool // the talk goes on
	talk int  // number of the talk, which a STOP ends
	none int  // how many had nothing to say, in a row
}

const (
	moderatorPatience = 10 * time.Second
	moderatorRest     = 5 * time.Second // when all had nothing to say
)

func (m *moderator) Start(w *world.World) { m.w = w }
func (m *moderator) Begins(string)        {}

// Said starts the talk; where it runs the words are known to the next.
func (m *moderator) Said(*world.Turn) {
	if !m.on {
		m.on = true
		m.talk++
		m.ask(m.talk)
	}
}

// Stopped ends the talk.
func (m *moderator) Stopped(*world.Turn) {
	m.on = false
	m.w.End()
}

// runs says whether a talk still goes on.
func (m *moderator) runs(talk int) bool { return m.on && m.talk == talk }

// ask gives the floor to the next.
func (m *moderator) ask(talk int) {
	if !m.runs(talk) {
		return
	}
	m.k++
	m.last = m.next(m.w, m.last, m.k)
	var said *world.Turn
	over := false
	goOn := func(after time.Duration) {
		if !over {
			over = true
			m.w.After(after, func() { m.ask(talk) })
		}
	}
	m.w.After(moderatorPatience, func() {
		if said == nil {
			goOn(0)
		} else if !over { // the line broke off
			goOn(said.Ended - m.w.Now())
		}
	})
	m.w.Line(m.last, lastTurn(m.w), 0, func(l world.Line) {
		if m.runs(talk) && !over {
			said = m.w.Say(l, world.Saying{Kind: abi.KindTurn, Ready: l.Rest})
		}
	}, func(l world.Line) {
		switch {
		case l.Pass:
			if m.none++; m.none%len(m.w.Members()) == 0 {
				goOn(moderatorRest)
			}
			goOn(0)
		case said != nil:
			m.none = 0
			goOn(said.Ended - m.w.Now())
		}
	})
}

// inOrder is round robin.
func inOrder(w *world.World, last string, _ int) string {
	all := ids(w, "")
	return all[(slices.Index(all, last)+1)%len(all)]
}

// anybody draws one of the others.
func anybody(w *world.World, last string, k int) string {
	all := ids(w, last)
	if len(all) == 0 {
		return last
	}
	return all[int(w.Draw("next", strconv.Itoa(k))*float64(len(all)))]
}
