package model

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 8 * time.Second
)

// retryAfter reads how long an endpoint asks to wait: seconds or a date (RFC 9110 10.2.3), or the
// milliseconds that OpenAI's API adds. 0: it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return clamp(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return clamp(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// clamp gives seconds as a duration that cannot overflow; a day is for ever here.
func clamp(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 24*60*60) * float64(time.Second))
}

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
