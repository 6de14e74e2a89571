package host

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/identity"
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

// judge lets a companion perceive something in its room. One that is not loaded wakes
// no room: what was kept waits for it.
func (h *Host) judge(ctx context.Context, companion string, all ...abi.Percept) (abi.Judged, error) {
	if _, err := h.card(companion); err != nil {
		return abi.Judged{}, err
	}
	talk, err := h.rooms.Home(ctx, companion)
	if err != nil {
		return abi.Judged{}, err
	}
	return talk.Perceive(ctx, companion, all...)
}

// keep writes down in a companion's room what it is to judge.
func (h *Host) keep(ctx context.Context, companion string, p abi.Percept, kept func(abi.Percept)) error {
	talk, err := h.rooms.Home(ctx, companion)
	if err != nil {
		return err
	}
	return talk.Keep(ctx, companion, p, kept)
}

// kept gives what waits there.
func (h *Host) kept(ctx context.Context, companion string) ([]abi.Percept, error) {
	talk, err := h.rooms.Home(ctx, companion)
	if abi.CodeOf(err) == abi.CodeNotFound {
		return nil, nil // it lives in no room
	}
	if err != nil {
		return nil, err
	}
	return talk.Kept(ctx, companion)
}

// wakeSenses has judged what waits for those who are here and perceive.
func (h *Host) wakeSenses() {
	for _, c := range h.folder.Companions() {
		if def := c.Card(); def != nil && (len(def.Perceptions) > 0 || slices.ContainsFunc(def.Actions, func(a card.Action) bool { return a.Query })) {
			h.perceptions.Wake(c.ID())
		}
	}
}

// hear is what a person says to a companion through its senses.
func (h *Host) hear(ctx context.Context, companion string, p abi.Percept, text string) (abi.Message, error) {
	talk, err := h.rooms.Home(ctx, companion)
	if err != nil {
		return abi.Message{}, err
	}
	from, kind, err := identity.Of(ctx).From(p.From, abi.KindHuman)
	if err != nil {
		return abi.Message{}, err
	}
	m, err := talk.Say(ctx, rooms.Utterance{From: from, By: kind, To: []string{companion}, Text: text})
	if kind != abi.KindHuman && abi.CodeOf(err) == abi.CodeDenied {
		return m, abi.Errorf(abi.CodeDenied, "%s; %s is what people say, and the token of %s is that of an agent, who speaks in turn: companiond token -kind human NAME makes one for a microphone",
			abi.AsError(err).Message, p.Title, from)
	}
	return m, err
}

// see lets a companion perceive an image, a data: URL, by the first perception of its card that is
// one.
func (h *Host) see(ctx context.Context, companion, image, from string) error {
	def, err := h.card(companion)
	if err != nil {
		return err
	}
	if def != nil {
		for _, p := range def.Perceptions {
			if !slices.Contains(p.Formats, card.FormatImage) {
				continue
			}
			body, _ := json.Marshal(image) // a text can always be written
			_, err := h.perceptions.Offer(ctx, companion, abi.Percept{Title: p.Title, Format: card.FormatImage, Body: body}, from)
			if e := abi.AsError(err); err != nil && e.Field == "body" {
				return abi.Field("image", e.Code, "%s", e.Reason())
			}
			return err
		}
	}
	return abi.Field("image", abi.CodeInvalid, "%s perceives no images: its card has no perception with the format %q", companion, card.FormatImage)
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
