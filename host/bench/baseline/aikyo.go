package baseline

import (
	"strconv"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// aikyo is the TurnTakingManager of aikyo (https://github.com/marukun712/aikyo) as its
// documentation describes it: everybody who did not say a message votes about it, each
// companion's own manager counts the votes in the order in which they reach it, and
// the companion that finds itself chosen waits and answers that message.
//
// Left open, and taken so: votes travel for some milliseconds; a manager's time-out
// before it speaks, which the document does not number, is a second.
type aikyo struct {
	w *world.World
}

// AikyoVote is a vote as a manager of aikyo counts it.
type AikyoVote struct {
	From string
	Vote abi.Vote
}

const (
	aikyoTimeout = time.Second
	aikyoTravel  = 20 // milliseconds a vote may take to another node
)

func (a *aikyo) Start(w *world.World)  { a.w = w }
func (a *aikyo) Begins(string)         {}
func (a *aikyo) Said(t *world.Turn)    { a.heard(t) }
func (a *aikyo) Stopped(t *world.Turn) { a.heard(t) } // it is a message like any other

// travel is how long a vote takes to a node, also to the voter's own: through the topic.
func (a *aikyo) travel(n int, from, to string) time.Duration {
	return time.Duration(1+a.w.Draw("travel", strconv.Itoa(n), from, to)*aikyoTravel) * time.Millisecond
}

// heard has everybody vote about a message. Each node decides when it has the votes of
// all; where one never votes no node ever does.
func (a *aikyo) heard(t *world.Turn) {
	participants := ids(a.w, t.From)
	pending := map[string][]AikyoVote{} // by node
	for _, voter := range participants {
		a.w.Vote(voter, t.N, func(v abi.Vote) {
			for _, node := range participants {
				a.w.After(a.travel(t.N, voter, node), func() {
					pending[node] = append(pending[node], AikyoVote{voter, v})
					if len(pending[node]) == len(participants) {
						a.decide(node, t.N, pending[node])
					}
				})
			}
		})
	}
}

// decide is what a node does with all votes: it acts only if it is chosen itself.
func (a *aikyo) decide(node string, n int, votes []AikyoVote) {
	speaker, ok := Aikyo(votes)
	if !ok || speaker.From != node {
		return
	}
	if speaker.Vote.Closing == abi.ClosingTerminal {
		a.w.End()
		return
	}
	a.w.After(aikyoTimeout, func() {
		a.w.Line(node, n, 0, func(world.Line) {}, func(l world.Line) {
			if !l.Pass {
				a.heard(a.w.Say(l, world.Saying{Kind: abi.KindTurn}))
			}
		})
	})
}

// Aikyo gives the vote that wins, in the order in which the votes came: those that say
// they are selected before those that wish to speak, the more important first, of equals
// the last. ok is false when nobody speaks.
func Aikyo(votes []AikyoVote) (winner AikyoVote, ok bool) {
	for _, fits := range []func(abi.Vote) bool{
		func(v abi.Vote) bool { return v.Selected },
		func(v abi.Vote) bool { return v.State == abi.Speak },
	} {
		for _, v := range votes {
			if fits(v.Vote) && (!ok || winner.Vote.Importance <= v.Vote.Importance) {
				winner, ok = v, true
			}
		}
		if ok {
			return winner, true
		}
	}
	return winner, false
}
