package host

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// card gives a companion's card, nil where it has none.
func (h *Host) card(companion string) (*card.Card, error) { return h.house.Card(companion) }

// modelOf gives which model a companion's card names, "" for the usual one.
func (h *Host) modelOf(companion string) string {
	if def, _ := h.card(companion); def != nil {
		return def.Model
	}
	return ""
}

// cards gives those who have a card, as agents over MCP see them.
func (h *Host) cards() []cards.Card {
	var all []cards.Card
	usual := h.usual()
	for _, c := range h.folder.Companions() {
		def := c.Card()
		if def == nil {
			continue
		}
		one := cards.Card{ID: c.ID(), Name: def.Name, Source: def.Source(), Usual: c.ID() == usual}
		for _, a := range def.Actions {
			one.Actions = append(one.Actions, cards.Action{Name: a.Title, Description: a.Description, Schema: a.Schema})
		}
		all = append(all, one)
	}
	return all
}

// wakeSenses has judged what waits for those who are here and perceive.
func (h *Host) wakeSenses() {
	for _, c := range h.folder.Companions() {
		if def := c.Card(); def != nil && (len(def.Perceptions) > 0 || slices.ContainsFunc(def.Actions, func(a card.Action) bool { return a.Query })) {
			h.perceptions.Wake(c.ID())
		}
	}
}

// act is what a companion does by itself, in the room of the call or in its own.
func (h *Host) act(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error) {
	talk, err := h.rooms.Home(ctx, c.Companion)
	if c.Room != "" {
		talk, err = h.rooms.Room(ctx, c.Room)
	}
	if err != nil {
		return abi.ActionPlayed{}, err
	}
	return talk.Act(ctx, c.Companion, rooms.Player{Call: c.Call, Op: c.Op}, a)
}

// waitingForModels gives which companions wait for a model, and why.
func (h *Host) waitingForModels() map[string]string {
	waits := map[string]string{}
	for _, c := range h.folder.Companions() {
		if def := c.Card(); def != nil && c.Engine() == "prompt" {
			if why := h.models.Waits(c.ID(), def.Model); why != "" {
				waits[c.ID()] = why
			}
		}
	}
	return waits
}
