package filter

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// patience is how long all handlers and the room together may take about a perception, with the wait for the start.
const patience = 30 * time.Second

// Admit asks about what somebody has a companion perceive, and gives what is to be kept of it. The journal of the
// companion's room has what the handlers did before anybody is told.
//
// # Errors
//
// CodeDenied where a handler refused it, with its reason; CodeUnavailable where those who filter are still being loaded; those of Config.Home and of that room. A sender that has gone
// ends nothing: what it sent came.
func (f *Filter) Admit(ctx context.Context, companion string, p abi.Percept) (abi.Percept, error) {
	if !f.filters(companion) {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if f.cfg.Ready != nil {
		select {
		case <-f.cfg.Ready:
		case <-ctx.Done():
			return p, &abi.Error{Code: abi.CodeUnavailable, Message: "handlers, which look at what companions perceive, are still being loaded; try again", Retry: true}
		}
	}
	room, err := f.cfg.Home(ctx, companion)
	if err != nil {
		return p, err
	}
	perceived, steps, refused := f.Sense(ctx, companion, room.Name(), p)
	switch {
	case len(steps) == 0:
		return p, nil
	case ctx.Err() != nil:
		return p, abi.AsError(ctx.Err())
	}
	if err := room.Handled(ctx, entry.Handled{Who: companion, Of: entry.OfPerception, Title: p.Title, Steps: steps}); err != nil {
		return p, err
	}
	if refused != "" {
		return p, abi.Errorf(abi.CodeDenied, "%s", refused)
	}
	return perceived, nil
}

// filters says whether there may be a handler that filters for a companion.
func (f *Filter) filters(companion string) bool {
	for _, h := range *f.all.Load() {
		if h.For(companion) {
			return true
		}
	}
	return false
}
