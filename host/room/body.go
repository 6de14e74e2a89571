package room

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/rooms"
)

// The frames for a companion's body (the AI Companion Protocol): actions, their results, and the
// segments of a line that is being spoken.

const (
	maxParameters = 64 << 10 // bytes of an action's parameters

	playedImportance = 5 // of words that were played as an action
)

// Act lets a companion do something: the action is checked against its card and
// is in the journal when Act answers. The action "speak" with a message is a wish
// for the floor: the line is an action and a message at once (the AI Companion Protocol); the
// answer has the wish, and the body sees it when it is said.
//
// # Errors
//
// CodeInvalid names the place in the parameters; CodeDenied for what the events
// of the card do not allow, after a STOP, and in a call whose floor has passed on;
// CodeNotFound for a companion that is not here; CodeExhausted for too many in a
// second.
func (r *Room) Act(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	c, ok := r.cfg.Find(who)
	if !ok {
		return abi.ActionPlayed{}, abi.Errorf(abi.CodeNotFound, "companion: there is no %q", who)
	}
	if len(a.Parameters) > maxParameters {
		return abi.ActionPlayed{}, abi.Errorf(abi.CodeTooLarge, "parameters: %d bytes, at most %d", len(a.Parameters), maxParameters)
	}
	warning, err := c.Permit(a)
	if lent, _, ok := r.cfg.Bodies.Lent(r.Name(), who, a.Action); ok && (abi.CodeOf(err) == abi.CodeNotFound || abi.CodeOf(err) == abi.CodeDenied) {
		return r.actOffered(ctx, who, by, a, lent)
	}
	if err != nil {
		r.board.Count("action refused: " + string(abi.CodeOf(err)))
		return abi.ActionPlayed{}, err
	}
	if len(a.Parameters) == 0 {
		a.Parameters = json.RawMessage("{}")
	}
	act := entry.Action{
		ID: r.cfg.NewID(), Who: who, Action: a.Action, Parameters: a.Parameters, Perception: a.Perception, By: by.Agent, Warning: warning,
	}
	return loop.Ask(ctx, r.loop, loop.Late, func() (abi.ActionPlayed, error) {
		played, err := r.handleAct(act, by)
		if err != nil {
			r.board.Count("action refused: " + string(abi.CodeOf(err)))
		}
		return played, err
	})
}

// actOffered is Act for an action that no card has and that a game offers: it goes to the body
// of that game alone.
func (r *Room) actOffered(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk, lent card.Action) (abi.ActionPlayed, error) {
	if err := lent.Check(a.Parameters); err != nil {
		r.board.Count("action refused: " + string(abi.CodeOf(err)))
		return abi.ActionPlayed{}, err
	}
	if len(a.Parameters) == 0 {
		a.Parameters = json.RawMessage("{}")
	}
	act := entry.Action{ID: r.cfg.NewID(), Who: who, Action: a.Action, Parameters: a.Parameters, By: by.Agent}
	return loop.Ask(ctx, r.loop, loop.Late, func() (abi.ActionPlayed, error) {
		r.syncBodies() // it may have been offered just now, or taken back
		o := r.state().OfferedTo(who, a.Action)
		switch run := r.running[by.Call]; {
		case o == nil:
			return abi.ActionPlayed{}, abi.Errorf(abi.CodeNotFound, "action: no game offers %q any more", a.Action)
		case run.Force != nil && !slices.Contains(run.Force, a.Action):
			return abi.ActionPlayed{}, abi.Errorf(abi.CodeDenied, "action: one of %q is to be played now", run.Force)
		}
		act.Body = o.Body
		return r.handleAct(act, by)
	})
}

func (r *Room) handleAct(a entry.Action, by rooms.Player) (played abi.ActionPlayed, err error) {
	if err := cmp.Or(r.mayPerceive(a.Who), r.mayPlay(a.Who, by)); err != nil {
		return played, err
	}
	if !r.acts.Take(a.Who, r.loop.Now()) {
		return played, abi.Errorf(abi.CodeExhausted, "action: %d in a second are all a companion may play", action.MaxASecond)
	}
	if text := action.Speech(a); text != "" {
		return r.wishToSay(a, text)
	}
	a.Perceived = r.running[by.Call].Perception
	if a.Delivered = 1; a.Body == "" {
		a.Delivered = r.cfg.Bodies.Count(r.Name(), a.Who)
	}
	if a.Body == "" && r.cfg.Asks != nil && r.cfg.Asks(a.Who, a.Action) {
		if a.Delivered = r.cfg.Bodies.Answering(r.Name(), a.Who); a.Delivered == 0 {
			return played, abi.Errorf(abi.CodeUnavailable, "action: nothing is connected to %s that could answer %q", a.Who, a.Action)
		}
		if r.state().Queries(a.Who) >= queue.MaxQueries {
			return played, abi.Errorf(abi.CodeExhausted, "action: %d queries of %s wait for an answer already", queue.MaxQueries, a.Who)
		}
		a.Due = r.loop.Now().Add(queue.QueryPatience)
	}
	r.loop.Input(entry.KindAction, a)
	return abi.ActionPlayed{ID: a.ID, Delivered: a.Delivered, Warning: a.Warning, Due: a.Due}, nil
}

// mayPlay says why a call may not play an action any more: its floor has passed on,
// or a human said STOP since, whatever was said after that.
func (r *Room) mayPlay(who string, by rooms.Player) error {
	switch {
	case by.Op == abi.OpSpeak && !r.voice.Has(who, by.Call):
		return abi.Errorf(abi.CodeDenied, "action: %s does not have the floor any more", who)
	case by.Op == abi.OpPerceive && !r.running.Has(by.Call):
		return abi.Errorf(abi.CodeDenied, "action: a human said STOP since %s perceived this", who)
	}
	return nil
}

// wishToSay makes words that were played as an action wait for the floor, as
// those of a perception do: the body hears them when they are said.
func (r *Room) wishToSay(a entry.Action, text string) (played abi.ActionPlayed, err error) {
	if _, why := r.state().Mute(); why != "" {
		return played, abi.Errorf(abi.CodeDenied, "action: %s cannot speak now: %s", a.Who, why)
	}
	if r.state().Full(a.Who) {
		return played, abi.Errorf(abi.CodeExhausted, "action: %s has %d lines waiting for the floor already", a.Who, queue.MaxRequests)
	}
	reason := "played " + card.Speak
	if a.By != "" {
		reason = a.By + " " + reason
	}
	wish := r.loop.Input(entry.KindWish, entry.Wish{
		Who: a.Who, Importance: playedImportance, Reason: reason, Text: text, Due: r.loop.Now().Add(queue.WishPatience), Parameters: card.Beside(a.Parameters),
	})
	return abi.ActionPlayed{ID: fmt.Sprintf("%s/%d", entry.KindWish, wish), Wish: wish, Warning: a.Warning}, nil
}

// Done tells what became of an action; the companion hears of it. by
// is whose body it was, and answer, an object or a text, what it says to a query: the companion perceives it.
//
// # Errors
//
// CodeNotFound for an action whose result nobody waits for: it is not known, was
// answered, or there were too many after it. CodeInvalid and CodeTooLarge for an answer that is none.
func (r *Room) Done(ctx context.Context, who, by string, d abi.Result, answer json.RawMessage) error {
	if err := cmp.Or(action.CheckReason(d.Reason), action.CheckAnswer(answer)); err != nil {
		return err
	}
	d.By = by
	return loop.Tell(ctx, r.loop, func() error { return r.handleDone(entry.Done{Who: who, Result: d}, answer) })
}

func (r *Room) handleDone(d entry.Done, answer json.RawMessage) error {
	act := r.state().Waiting(d.Who, d.ID)
	if act == nil {
		return abi.Errorf(abi.CodeNotFound, "id: %s waits for no result of an action %q (any more)", d.Who, d.ID)
	}
	d.Action = act.Action
	if !act.Due.IsZero() {
		r.senses.Answer(*act, d.Result, answer)
		return nil
	}
	r.loop.Input(entry.KindResult, d)
	m := call.Context{Room: r.Name(), Now: r.loop.Now(), Limit: time.Now().Add(r.patience())} // a room that ends waits for it
	r.goCall(func() { r.report(m, d) })
	return nil
}

// report tells a companion what became of its action; nothing comes of it.
func (r *Room) report(m call.Context, d entry.Done) {
	var nothing struct{}
	_, _ = r.callees.Ask(context.Background(), d.Who, abi.OpResult, m, d.Result, &nothing, func() error { return nil })
}

// Segment shows a part of the line that a companion is speaking: call is the id
// of the request for the line.
//
// # Errors
//
// CodeDenied when it does not have the floor (any more), CodeStale when somebody
// spoke before the line began; the line is over then. CodeUnavailable where
// lines are said in one piece.
func (r *Room) Segment(ctx context.Context, who, call string, a abi.SayAsk) error {
	if err := abi.CheckText("text", a.Text); err != nil {
		return err
	}
	return loop.Tell(ctx, r.loop, func() error { return r.voice.Segment(who, call, a) })
}
