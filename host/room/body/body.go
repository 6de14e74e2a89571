// Package body is what the companions of one room do (the AI Companion Protocol): an action is held to the card, or to what
// a game offers, is in the journal, and its result comes back, or the answer to it where it is a query.
//
// It never asks a companion for anything and sends nothing to a body: doors read actions out of the journal. Words that
// are played as an action wait for the floor as any.
package body

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/words"
	"github.com/companiond/companiond/host/rooms"
)

const (
	maxParameters = 64 << 10 // bytes of an action's parameters

	playedImportance = 5 // of words that were played as an action
)

// Config is what a body stands on. The loop calls May, Floor, Sync, Answer and Report.
type Config struct {
	Room    string
	Loop    *loop.Loop
	Running call.Running // the room's: an action of a call ends with it
	Bodies  *action.Bodies
	Board   *glance.Board
	Words   *words.Words
	Find    func(id string) (call.Companion, bool) // a loaded companion
	NewID   func() string                          // unique ids for actions
	Asks    func(companion, action string) bool    // whether an action is a query; nil: none is
	May     func(who string) error                 // why somebody cannot act now
	Floor   func(who, call string) bool            // whether a call is the one for the line of who has the floor
	Sync    func()                                 // writes down which bodies came and what they offer
	Answer  func(q queue.Act, r abi.Result, answer json.RawMessage)
	Report  func(d entry.Done) // tells a companion what became of its action
}

// Body is that of all companions of one room. Make it with [New].
type Body struct {
	cfg  Config
	loop *loop.Loop
	acts action.Rate
}

// New makes a body that has done nothing. It starts nothing.
func New(c Config) *Body { return &Body{cfg: c, loop: c.Loop} }

func (b *Body) state() *fold.State { return b.loop.State() }

// Act lets a companion do something: the action is checked against its card and
// is in the journal when Act answers. The action "speak" with a message is a wish
// for the floor: the line is an action and a message at once (the AI Companion Protocol); the
// answer has the wish, and the body sees it when it is said.
//
// # Errors
//
// CodeInvalid names the place in the parameters; CodeDenied for what the events
// of the card do not allow, after a STOP, in a call whose floor has passed on, and for words that a handler
// refuses; CodeNotFound for a companion that is not here; CodeExhausted for too many in a
// second.
func (b *Body) Act(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	c, ok := b.cfg.Find(who)
	if !ok {
		return abi.ActionPlayed{}, abi.Errorf(abi.CodeNotFound, "companion: there is no %q", who)
	}
	if len(a.Parameters) > maxParameters {
		return abi.ActionPlayed{}, abi.Errorf(abi.CodeTooLarge, "parameters: %d bytes, at most %d", len(a.Parameters), maxParameters)
	}
	warning, err := c.Permit(a)
	if lent, _, ok := b.cfg.Bodies.Lent(b.cfg.Room, who, a.Action); ok && (abi.CodeOf(err) == abi.CodeNotFound || abi.CodeOf(err) == abi.CodeDenied) {
		if by.Card {
			return abi.ActionPlayed{}, b.refused(abi.Errorf(abi.CodeDenied, "action: %q is offered to %s by a game or a handler; a handler plays actions of the card alone", a.Action, who))
		}
		return b.actOffered(ctx, who, by, a, lent)
	}
	if err != nil {
		return abi.ActionPlayed{}, b.refused(err)
	}
	if len(a.Parameters) == 0 {
		a.Parameters = json.RawMessage("{}")
	}
	act := entry.Action{
		ID: b.cfg.NewID(), Who: who, Action: a.Action, Parameters: a.Parameters, Perception: a.Perception, By: by.Agent, Warning: warning,
	}
	handled, err := b.filter(ctx, &act)
	if err != nil {
		return abi.ActionPlayed{}, b.refused(err)
	}
	return loop.Ask(ctx, b.loop, loop.Late, func() (abi.ActionPlayed, error) {
		played, err := b.play(act, by)
		if handled != nil && b.loop.Trouble() == nil {
			if played.Wish != 0 {
				handled.Line = wishID(played.Wish)
			}
			b.loop.Input(entry.KindHandled, *handled)
		}
		return played, b.refused(err)
	})
}

// refused counts an action that is not played.
func (b *Body) refused(err error) error {
	if err != nil {
		b.cfg.Board.Count("action refused: " + string(abi.CodeOf(err)))
	}
	return err
}

// filter asks the handlers about the words of an action, which it changes to what they leave. handled is what is to be written
// down once the action was played; of one that they refuse it is.
func (b *Body) filter(ctx context.Context, a *entry.Action) (handled *entry.Handled, err error) {
	if err := action.CheckWords(*a); err != nil {
		return nil, err
	}
	text := action.Speech(*a)
	if text == "" {
		return nil, nil
	}
	said, handled, refused, err := b.cfg.Words.Ask(ctx, a.Who, text)
	if err != nil {
		return nil, abi.AsError(err)
	}
	if refused == "" {
		a.Parameters = card.Saying(a.Parameters, said)
		return handled, nil
	}
	err = loop.Tell(ctx, b.loop, func() error {
		if b.loop.Trouble() == nil {
			b.loop.Input(entry.KindHandled, *handled)
		}
		return b.loop.Trouble()
	})
	return nil, cmp.Or(err, error(abi.Errorf(abi.CodeDenied, "action: %s", refused)))
}

// actOffered is Act for an action that no card has and that a game offers: it goes to the body
// of that game alone.
func (b *Body) actOffered(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk, lent card.Action) (abi.ActionPlayed, error) {
	if err := lent.Check(a.Parameters); err != nil {
		return abi.ActionPlayed{}, b.refused(err)
	}
	if len(a.Parameters) == 0 {
		a.Parameters = json.RawMessage("{}")
	}
	act := entry.Action{ID: b.cfg.NewID(), Who: who, Action: a.Action, Parameters: a.Parameters, By: by.Agent}
	return loop.Ask(ctx, b.loop, loop.Late, func() (abi.ActionPlayed, error) {
		b.cfg.Sync() // it may have been offered just now, or taken back
		o := b.state().OfferedTo(who, a.Action)
		switch run := b.cfg.Running[by.Call]; {
		case o == nil:
			return abi.ActionPlayed{}, abi.Errorf(abi.CodeNotFound, "action: no game offers %q any more", a.Action)
		case run.Force != nil && !slices.Contains(run.Force, a.Action):
			return abi.ActionPlayed{}, abi.Errorf(abi.CodeDenied, "action: one of %q is to be played now", run.Force)
		}
		act.Body = o.Body
		return b.play(act, by)
	})
}

func (b *Body) play(a entry.Action, by rooms.Player) (played abi.ActionPlayed, err error) {
	if err := cmp.Or(b.cfg.May(a.Who), b.may(a.Who, by)); err != nil {
		return played, err
	}
	if !b.acts.Take(a.Who, b.loop.Now()) {
		return played, abi.Errorf(abi.CodeExhausted, "action: %d in a second are all a companion may play", action.MaxASecond)
	}
	if text := action.Speech(a); text != "" {
		return b.wishToSay(a, text)
	}
	a.Perceived = b.cfg.Running[by.Call].Perception
	if a.Delivered = 1; a.Body == "" {
		a.Delivered = b.cfg.Bodies.Count(b.cfg.Room, a.Who)
	}
	if a.Body == "" && b.cfg.Asks != nil && b.cfg.Asks(a.Who, a.Action) {
		if a.Delivered = b.cfg.Bodies.Answering(b.cfg.Room, a.Who); a.Delivered == 0 {
			return played, abi.Errorf(abi.CodeUnavailable, "action: nothing is connected to %s that could answer %q", a.Who, a.Action)
		}
		if b.state().Queries(a.Who) >= queue.MaxQueries {
			return played, abi.Errorf(abi.CodeExhausted, "action: %d queries of %s wait for an answer already", queue.MaxQueries, a.Who)
		}
		a.Due = b.loop.Now().Add(queue.QueryPatience)
	}
	b.loop.Input(entry.KindAction, a)
	return abi.ActionPlayed{ID: a.ID, Delivered: a.Delivered, Warning: a.Warning, Due: a.Due}, nil
}

// may says why a call may not play an action any more: its floor has passed on,
// or a human said STOP since, whatever was said after that.
func (b *Body) may(who string, by rooms.Player) error {
	switch {
	case by.Op == abi.OpSpeak && !b.cfg.Floor(who, by.Call):
		return abi.Errorf(abi.CodeDenied, "action: %s does not have the floor any more", who)
	case by.Op == abi.OpPerceive && !b.cfg.Running.Has(by.Call):
		return abi.Errorf(abi.CodeDenied, "action: a human said STOP since %s perceived this", who)
	}
	return nil
}

// wishToSay makes words that were played as an action wait for the floor, as
// those of a perception do: the body hears them when they are said.
func (b *Body) wishToSay(a entry.Action, text string) (played abi.ActionPlayed, err error) {
	if _, why := b.state().Mute(); why != "" {
		return played, abi.Errorf(abi.CodeDenied, "action: %s cannot speak now: %s", a.Who, why)
	}
	if b.state().Full(a.Who) {
		return played, abi.Errorf(abi.CodeExhausted, "action: %s has %d lines waiting for the floor already", a.Who, queue.MaxRequests)
	}
	reason := "played " + card.Speak
	if a.By != "" {
		reason = a.By + " " + reason
	}
	wish := b.loop.Input(entry.KindWish, entry.Wish{
		Who: a.Who, Importance: playedImportance, Reason: reason, Text: text, Due: b.loop.Now().Add(queue.WishPatience), Parameters: card.Beside(a.Parameters),
	})
	return abi.ActionPlayed{ID: wishID(wish), Wish: wish, Warning: a.Warning}, nil
}

func wishID(seq uint64) string { return fmt.Sprintf("%s/%d", entry.KindWish, seq) }

// Done tells what became of an action; the companion hears of it. by
// is whose body it was, and answer, an object or a text, what it says to a query: the companion perceives it.
//
// # Errors
//
// CodeNotFound for an action whose result nobody waits for: it is not known, was
// answered, or there were too many after it. CodeInvalid and CodeTooLarge for an answer that is none.
func (b *Body) Done(ctx context.Context, who, by string, d abi.Result, answer json.RawMessage) error {
	if err := cmp.Or(action.CheckReason(d.Reason), action.CheckAnswer(answer)); err != nil {
		return err
	}
	d.By = by
	return loop.Tell(ctx, b.loop, func() error { return b.done(entry.Done{Who: who, Result: d}, answer) })
}

func (b *Body) done(d entry.Done, answer json.RawMessage) error {
	act := b.state().Waiting(d.Who, d.ID)
	if act == nil {
		return abi.Errorf(abi.CodeNotFound, "id: %s waits for no result of an action %q (any more)", d.Who, d.ID)
	}
	d.Action = act.Action
	if !act.Due.IsZero() {
		b.cfg.Answer(*act, d.Result, answer)
		return nil
	}
	b.loop.Input(entry.KindResult, d)
	b.cfg.Report(d)
	return nil
}
