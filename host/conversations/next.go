package conversations

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/conversation"
)

// Doing is what a member is to do next.
type Doing string

// What there is to do: the actions of seed E.
const (
	DoRequest Doing = "conversation_request"
	DoEnded   Doing = "conversation_ended"
	DoExpired Doing = "conversation_expired" // for whoever opened it
	DoExit    Doing = "exit"                 // a human has ended the chat
	DoRead    Doing = "get_pending_messages"
	DoWait    Doing = "wait_for_messages"
)

// Action is the answer to Next.
type Action struct {
	Do     Doing
	View   View   // of what it is about; of DoWait one that has become active since, or none
	Others []View // with DoRequest: the requests besides
	Ending conversation.Ending
	Target string // with DoExpired: whoever did not come, "a, b" in a group
	Unread int    // with DoRead: messages in all
	// Cursor acknowledges that this was received: with it an ending is not told again. It is
	// empty where there is no ending.
	Cursor string
}

// Seen is what one session has been shown, so that it is not shown the same request for ever. The zero value
// is that of a new session. It is not to be used by two calls at once.
type Seen struct {
	requests, active []string // ids
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
	talks := c.at(m)
	seen.drop(talks)
	for _, find := range []func([]*talk, string, *Seen) Action{c.ending, c.request, reading, begun} {
		if a := find(talks, m.Agent, seen); a.Do != "" {
			return a, nil
		}
	}
	if !waits {
		return a, nil
	}
	s := c.seatOf(m)
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
		s.wake = nil
	}
	c.vacate(m, s)
}

// drop forgets what is over.
func (s *Seen) drop(talks []*talk) {
	over := func(id string) bool {
		return !slices.ContainsFunc(talks, func(t *talk) bool { return t.id == id })
	}
	s.requests = slices.DeleteFunc(s.requests, over)
	s.active = slices.DeleteFunc(s.active, over)
}

// ending gives the oldest one that a member is to be told of.
func (c *Conversations) ending(talks []*talk, me string, _ *Seen) (a Action) {
	var first *talk
	for _, t := range talks {
		if t.whole.now.Untold(me) == nil || len(t.whole.unread(me)) > 0 {
			continue
		}
		if first == nil || t.whole.now.Over.Before(first.whole.now.Over) {
			first = t
		}
	}
	if first == nil {
		return a
	}
	now := &first.whole.now
	a = Action{Do: DoEnded, View: first.view(), Ending: *now.Untold(me), Cursor: first.id + ":" + endMark}
	switch by := a.Ending.By; {
	case now.State == conversation.Expired && now.Initiator() == me:
		a.Do = DoExpired
		var late []string
		for _, m := range now.Members {
			if !m.Joined && m.Ending != nil && m.Ending.Reason == conversation.Timeout {
				late = append(late, m.ID)
			}
		}
		a.Target = strings.Join(late, ", ")
	case now.Terms.Chat() && by != "" && by != me && (slices.Contains(now.Terms.Humans, by) || now.Member(by) == nil):
		a.Do = DoExit
	}
	return a
}

// request gives the oldest request that a session was not shown yet, and all others.
func (c *Conversations) request(talks []*talk, me string, seen *Seen) (a Action) {
	var open []*talk
	for _, t := range talks {
		if m := t.whole.now.Member(me); t.open() && !m.Joined && m.Ending == nil {
			open = append(open, t)
		}
	}
	first := slices.IndexFunc(open, func(t *talk) bool { return !slices.Contains(seen.requests, t.id) })
	if first < 0 {
		return a
	}
	a = Action{Do: DoRequest, View: open[first].view()}
	for i, t := range open {
		if i != first {
			a.Others = append(a.Others, t.view())
		}
		if !slices.Contains(seen.requests, t.id) {
			seen.requests = append(seen.requests, t.id)
		}
	}
	return a
}

// reading says that there are messages: in the conversation of the oldest, and how many in
// all.
func reading(talks []*talk, me string, seen *Seen) (a Action) {
	var first *talk
	var at int64
	for _, t := range talks {
		lines := t.whole.unread(me)
		if a.Unread += len(lines); len(lines) > 0 && (first == nil || lines[0].at < at) {
			first, at = t, lines[0].at
		}
	}
	if first == nil {
		return a
	}
	a.Do, a.View = DoRead, first.view()
	if a.View.State == conversation.Active {
		seen.activate(first.id)
	}
	return a
}

// begun tells whoever opened a conversation that it has become active.
func begun(talks []*talk, me string, seen *Seen) (a Action) {
	for _, t := range talks {
		if now := &t.whole.now; now.State == conversation.Active && now.Initiator() == me && now.Untold(me) == nil && seen.activate(t.id) {
			return Action{Do: DoWait, View: t.view()}
		}
	}
	return a
}

// activate notes that a session knows of a conversation that it is active; it answers whether
// that is news.
func (s *Seen) activate(id string) bool {
	if slices.Contains(s.active, id) {
		return false
	}
	s.active = append(s.active, id)
	return true
}
