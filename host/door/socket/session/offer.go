package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
)

// Offer lends a companion actions besides those of its card, for as long as the client is there, and takes
// some back before.
type Offer struct {
	Companion string // empty: the session's
	Actions   []card.Action
	Withdraw  []string
}

// Key implements [In].
func (o Offer) Key() string { return "" }

// lent is what a client lends to a companion.
type lent struct {
	*action.Game
	leave func()
}

// lends says whether a body is the one by which the client lends actions.
func (s *Session) lends(body string) bool {
	for _, g := range s.games {
		if g.ID() == body {
			return true
		}
	}
	return false
}

// offer takes what is lent. Those names that are not to be had are the error; all others are lent.
func (s *Session) offer(in Offer) error {
	who := in.Companion
	if s.Companion != "" && (who == "" || who == s.Companion) {
		who = s.Companion
	} else if s.Companion != "" || !s.mine(who) {
		return abi.Field("companion", abi.CodeNotFound, "%.64q is nobody's whose body this is", who)
	}
	g, has := s.games[who]
	if !has {
		g.Game, g.leave = s.Room.Plug(who, s.Caller.Name)
		if s.games == nil {
			s.games = map[string]lent{}
		}
		s.games[who] = g
	}
	if len(in.Withdraw) > 0 {
		g.Withdraw(in.Withdraw)
	}
	var good []card.Action
	var wrong []string
	for _, a := range in.Actions {
		if s.Owns != nil && s.Owns(who, a.Title) {
			wrong = append(wrong, fmt.Sprintf("%q is an action of the card of %s", a.Title, who))
			continue
		}
		good = append(good, a)
	}
	if len(good) > 0 {
		for _, r := range g.Offer(good) {
			wrong = append(wrong, r.Reason())
		}
	}
	if len(wrong) > 0 {
		return abi.Field("offer", abi.CodeConflict, "%w", errors.New(strings.Join(wrong, "; ")))
	}
	return nil
}

// takeBack ends what is lent.
func (s *Session) takeBack() {
	for _, g := range s.games {
		g.leave()
	}
	s.games = nil
}
