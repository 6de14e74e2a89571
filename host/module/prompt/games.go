package prompt

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// games are what connected games offer during a call, and what one of them wants.
type games struct {
	offers   []abi.Offer
	force    *abi.Force // nil: they want nothing
	answered string     // the action that was played for it
}

// How much it is worth to speak about what a game wants, by its priority: it has to be said
// before the next thing happens there.
var urgencies = map[string]float64{"low": 4, "medium": 6, "high": 8, "critical": 9}

// importance is that of words that are said about a perception.
func (g games) importance() float64 {
	if g.force == nil {
		return judgementImportance
	}
	if n, ok := urgencies[g.force.Priority]; ok {
		return n
	}
	return urgencies["low"]
}

// answered is what an answer to a query is called.
const answered = "the answer to its query"

// unasked says what was perceived that no event is about, "" for nothing: what games tell, or what queries are
// answered.
func unasked(p abi.Perceiving) (what string) {
	for _, x := range append(slices.Clone(p.More), p.Perception) {
		switch {
		case x.Game != "":
			return "what a game told"
		case x.Answers != "":
			what = answered
		}
	}
	return what
}

// only are the actions that may be played, nil for all.
func (g games) only() []string {
	if g.force == nil {
		return nil
	}
	return append([]string{}, g.force.Actions...)
}

// offer says whether a name is that of an action that games offer, and none of the card's.
func (g games) offer(c *card.Card, name string) bool {
	_, own := c.Action(name)
	return !own && slices.ContainsFunc(g.offers, func(o abi.Offer) bool { return o.Name == name })
}

// playOffered plays an action that a game offers. Where one wants an action it is to be one of
// those, and no more than one.
func (c *call) playOffered(ctx context.Context, name string, args json.RawMessage) (string, error) {
	if c.games.answered != "" {
		return "", abi.Errorf(abi.CodeDenied, "action: %s was played already, and one is enough", c.games.answered)
	}
	if _, err := c.emit(ctx, abi.ActionAsk{Action: name, Parameters: args}); err != nil {
		return "", err
	}
	if f := c.games.force; f != nil && slices.Contains(f.Actions, name) {
		c.games.answered = name
	}
	return c.m.mind.Pick("ゲームに送りました。どうなったかは、まだわかりません", "sent to the game; what becomes of it is not known yet"), nil
}
