package model

import (
	"context"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 8 * time.Second
)

// pause gives how long to wait before request n is repeated, n from 0: what the endpoint asks for,
// else twice as long each time, and a part by chance, so that calls that failed together do not come
// back together.
func pause(n int, asked time.Duration, random float64) time.Duration {
	if asked > 0 {
		return asked + time.Duration(random*float64(min(asked/4, time.Second)))
	}
	d := min(firstPause<<min(n, 10), maxPause)
	return d/2 + time.Duration(random*float64(d))
}

// sleep waits; false when there is no time for it before ctx's deadline, or ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
