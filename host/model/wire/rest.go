package wire

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

// Rest is how long an endpoint has asked to be left alone, by whoever asks it. The zero value is
// one that has not.
type Rest struct {
	mu    sync.Mutex
	until time.Time
	why   Failure
	coded abi.Error // of why, for itself: whoever was refused changes its own
}

// hold notes what a refusal says of it.
func (r *Rest) hold(f *Failure, now time.Time) {
	if r == nil || f.After <= 0 || f.Coded.Code != abi.CodeUnavailable {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if until := now.Add(f.After); until.After(r.until) {
		r.until, r.why, r.coded = until, *f, *f.Coded
	}
}

// left gives how long it is to be left alone yet, and the refusal that says so, which is not to be
// sent again.
func (r *Rest) left(now time.Time) (time.Duration, *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, coded := r.why, r.coded
	f.Coded, f.Again, f.After = &coded, false, r.until.Sub(now)
	coded.After = (f.After + time.Millisecond - 1).Milliseconds()
	return f.After, &f
}

// Wait waits until the endpoint may be asked. Where ctx ends before that it does not wait, and gives the
// refusal, with how long it still holds.
func (r *Rest) Wait(ctx context.Context) error {
	for {
		left, why := r.left(time.Now())
		if left <= 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= left {
			return why
		}
		select {
		case <-ctx.Done():
			return Ended(ctx, "the model did not answer")
		case <-time.After(left + rand.N(min(left/4, time.Second)+1)): // not all at once
		}
	}
}
