package conversations

import (
	"context"
	"time"

	"github.com/companiond/companiond/host/conversations/view"
)

// What there is to do: the actions of seed E.
const (
	DoRequest = view.DoRequest
	DoEnded   = view.DoEnded
	DoExpired = view.DoExpired // for whoever opened it
	DoExit    = view.DoExit    // a human has ended the chat
	DoRead    = view.DoRead
	DoWait    = view.DoWait
)

type (
	// Doing is what a member is to do next.
	Doing = view.Doing
	// Action is the answer to Next.
	Action = view.Action
	// Seen is what one session has been shown. The zero value is that of a new session. It is
	// not to be used by two calls at once.
	Seen = view.Seen
)

// seat is a member that waits for something to do.
type seat struct {
	waiting int           // calls of Next
	wake    chan struct{} // closed when there is news; nil where nobody waits for the next
}

// Next gives what a member is to do, at once or as soon as there is something within the
// wait, of at most MaxWait, else DoWait. The order is: endings, requests, messages; the
// messages of a conversation that is over come before its ending. An ending stays
// untold until its cursor is acknowledged. The error is that of ctx.
func (c *Conversations) Next(ctx context.Context, m Member, s *Seen, wait time.Duration) (Action, error) {
	wait = min(wait, MaxWait)
	var timer *time.Timer
	for {
		if err := ctx.Err(); err != nil {
			return Action{}, err
		}
		a, news := c.next(m, s, wait > 0)
		if a.Do != "" {
			return a, nil
		}
		if news == nil {
			return Action{Do: DoWait}, nil
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		}
		select {
		case <-news:
			c.rise(m)
		case <-timer.C:
			c.rise(m)
			return Action{Do: DoWait}, nil
		case <-ctx.Done():
			c.rise(m)
		}
	}
}

// next gives what there is to do now, or, for one that waits, what tells of news; it then
// sits until rise.
func (c *Conversations) next(m Member, seen *Seen, waits bool) (a Action, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a = c.talks.Next(m, seen); a.Do != "" || !waits {
		return a, nil
	}
	s := c.seats[m]
	if s == nil {
		s = new(seat)
		c.seats[m] = s
	}
	s.waiting++
	if s.wake == nil {
		s.wake = make(chan struct{})
	}
	return a, s.wake
}

// rise says that somebody does not wait any more.
func (c *Conversations) rise(m Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seats[m]
	if s.waiting--; s.waiting == 0 {
		delete(c.seats, m)
	}
}

// ring wakes whoever waits at a member's seat; c.mu is held.
func (c *Conversations) ring(m Member) {
	if s := c.seats[m]; s != nil && s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
}
