// Package senses brings what companions perceive into their own rooms: what waits is kept there and judged there, what a
// person puts in is said there, and what a handler takes back is taken back there.
//
// It orders and bounds nothing, which host/perception does, and never judges anything itself.
package senses

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/rooms"
)

// Senses are those of all companions of a house.
type Senses struct {
	Card   func(companion string) (*card.Card, error)                      // as [perception.Config] has it
	Home   func(ctx context.Context, companion string) (rooms.Room, error) // the room that a companion lives in
	Tokens *identity.Register
	take   func(context.Context, string, abi.Percept, string) (uint64, error) // of the queues
}

// Queues makes the queues of what companions perceive; c has what does not concern rooms.
func (s *Senses) Queues(c perception.Config) *perception.Queues {
	c.Card, c.Judge, c.Keep, c.Kept, c.Retract, c.Say = s.Card, s.judge, s.keep, s.kept, s.retract, s.hear
	q := perception.New(c)
	s.take = func(ctx context.Context, companion string, p abi.Percept, from string) (uint64, error) {
		taken, err := q.Offer(ctx, companion, p, from)
		if taken.Message != nil {
			return taken.Message.Seq, err
		}
		return taken.Seq, err
	}
	return q
}

// Perceive has a companion perceive something as [perception.Queues.Offer] does, and gives the seq of its entry, 0 for what a newer
// one may replace. Whoever it is from speaks as a guest does: nobody takes the name of a token's holder.
func (s *Senses) Perceive(ctx context.Context, companion string, p abi.Percept) (uint64, error) {
	return s.take(identity.With(ctx, identity.Guest(s.Tokens)), companion, p, p.From)
}

// See lets a companion perceive an image, a data: URL, by the first perception of its card that is
// one.
func (s *Senses) See(ctx context.Context, companion, image, from string) error {
	def, err := s.Card(companion)
	if err != nil {
		return err
	}
	if def != nil {
		for _, p := range def.Perceptions {
			if !slices.Contains(p.Formats, card.FormatImage) {
				continue
			}
			body, _ := json.Marshal(image) // a text can always be written
			_, err := s.take(ctx, companion, abi.Percept{Title: p.Title, Format: card.FormatImage, Body: body}, from)
			if e := abi.AsError(err); err != nil && e.Field == "body" {
				return abi.Field("image", e.Code, "%s", e.Reason())
			}
			return err
		}
	}
	return abi.Field("image", abi.CodeInvalid, "%s perceives no images: its card has no perception with the format %q", companion, card.FormatImage)
}

// judge lets a companion perceive something in its room. One that is not loaded wakes
// no room: what was kept waits for it.
func (s *Senses) judge(ctx context.Context, companion string, all ...abi.Percept) (abi.Judged, error) {
	if _, err := s.Card(companion); err != nil {
		return abi.Judged{}, err
	}
	talk, err := s.Home(ctx, companion)
	if err != nil {
		return abi.Judged{}, err
	}
	return talk.Perceive(ctx, companion, all...)
}

// keep writes down in a companion's room what it is to judge.
func (s *Senses) keep(ctx context.Context, companion string, p abi.Percept, kept func(abi.Percept)) error {
	talk, err := s.Home(ctx, companion)
	if err != nil {
		return err
	}
	return talk.Keep(ctx, companion, p, kept)
}

// kept gives what waits there.
func (s *Senses) kept(ctx context.Context, companion string) ([]abi.Percept, error) {
	talk, err := s.Home(ctx, companion)
	if abi.CodeOf(err) == abi.CodeNotFound {
		return nil, nil // it lives in no room
	}
	if err != nil {
		return nil, err
	}
	return talk.Kept(ctx, companion)
}

// retract writes down there what is taken back.
func (s *Senses) retract(ctx context.Context, companion string, seqs []uint64) error {
	talk, err := s.Home(ctx, companion)
	if err != nil {
		return err
	}
	return talk.Retract(ctx, companion, seqs)
}

// hear is what a person says to a companion through its senses.
func (s *Senses) hear(ctx context.Context, companion string, p abi.Percept, text string) (abi.Message, error) {
	talk, err := s.Home(ctx, companion)
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
