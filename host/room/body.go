package room

import (
	"context"
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/rooms"
)

// The frames for a companion's body (the AI Companion Protocol): actions and their results, which are host/room/body's, and the
// segments of a line that is being spoken.

// Act lets a companion do something, see [body.Body.Act].
func (r *Room) Act(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	return r.body.Act(ctx, who, by, a)
}

// Done tells what became of an action, see [body.Body.Done].
func (r *Room) Done(ctx context.Context, who, by string, d abi.Result, answer json.RawMessage) error {
	return r.body.Done(ctx, who, by, d, answer)
}

// report has a companion told what became of its action; nothing comes of it.
func (r *Room) report(d entry.Done) {
	m := call.Context{Room: r.Name(), Now: r.loop.Now(), Limit: time.Now().Add(r.patience())} // a room that ends waits for it
	r.goCall(func() {
		var nothing struct{}
		_, _ = r.callees.Ask(context.Background(), d.Who, abi.OpResult, m, d.Result, &nothing, func() error { return nil })
	})
}

// Segment shows a part of the line that a companion is speaking, as handlers leave it: call is the id
// of the request for the line.
//
// # Errors
//
// CodeDenied when it does not have the floor (any more), and where a handler refuses this part or one before;
// CodeStale when somebody spoke before the line began; the line is over then. CodeUnavailable where
// lines are said in one piece.
func (r *Room) Segment(ctx context.Context, who, call string, a abi.SayAsk) error {
	if err := abi.CheckText("text", a.Text); err != nil {
		return err
	}
	return r.words.Piece(ctx, who, call, a, func(a abi.SayAsk, h *entry.Handled) error {
		return loop.Tell(ctx, r.loop, func() error {
			if r.handled(h); a.Text == "" {
				return r.loop.Trouble()
			}
			return r.voice.Segment(who, call, a)
		})
	})
}

// Handled writes down what handlers did about a perception of a companion's.
func (r *Room) Handled(ctx context.Context, h entry.Handled) error {
	return loop.Tell(ctx, r.loop, func() error {
		if err := r.closed(); err != nil {
			return err
		}
		r.handled(&h)
		return r.loop.Trouble()
	})
}

// handled writes down what handlers did, nil for nothing.
func (r *Room) handled(h *entry.Handled) {
	if h != nil && r.loop.Trouble() == nil {
		r.loop.Input(entry.KindHandled, *h)
	}
}
