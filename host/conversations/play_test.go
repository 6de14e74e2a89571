package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// play is a house with its conversations, in which time is virtual.
type play struct {
	*testing.T
	*house
	*conversations.Conversations
	invited []string
	seen    map[string]*conversations.Seen
}

func stage(t *testing.T, fn func(p *play)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &play{T: t, house: newHouse(), seen: map[string]*conversations.Seen{}}
		p.arrive("a", "b", "c")
		p.begin()
		fn(p)
	})
}

// begin is a daemon that starts: nothing is known but what the journals say.
func (p *play) begin() {
	p.Helper()
	p.Conversations = p.house.open(p.T, func(c *conversations.Config) {
		c.Invite = func(i conversations.Invitation) {
			p.invited = append(p.invited, fmt.Sprintf("%s by %s to %s: %s", i.Agent, i.From, i.Conversation, i.Purpose))
		}
	})
	clear(p.seen)
}

// runs lets Run work until the test is over.
func (p *play) runs() (stop func()) {
	ctx, cancel := context.WithCancel(p.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Conversations.Run(ctx); err != nil {
			p.Error(err)
		}
	}()
	return func() { cancel(); <-done }
}

func (p *play) refused(err error, code, detail string) {
	p.Helper()
	var f *conversation.Fault
	if !errors.As(err, &f) || f.Code != code || !strings.Contains(f.Detail, detail) {
		p.Errorf("%v; want %s (%s)", err, code, detail)
	}
}

func (p *play) start(from string, a conversations.Ask) string {
	p.Helper()
	v, err := p.Start(p.Context(), in(from), a)
	if err != nil {
		p.Fatal(err)
	}
	return v.ID
}

func (p *play) says(from, id, text string) conversations.Said {
	p.Helper()
	s, err := p.Say(p.Context(), in(from), conversations.Words{Conversation: id, Text: text})
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// next gives what somebody is to do now, as in the same session.
func (p *play) next(who string) conversations.Action {
	p.Helper()
	return p.nextWithin(who, 0)
}

func (p *play) nextWithin(who string, wait time.Duration) conversations.Action {
	p.Helper()
	if p.seen[who] == nil {
		p.seen[who] = new(conversations.Seen)
	}
	a, err := p.Next(p.Context(), in(who), p.seen[who], wait)
	if err != nil {
		p.Fatal(err)
	}
	return a
}

// is demands what somebody is to do now, and about which conversation.
func (p *play) is(who string, do conversations.Doing, id string) conversations.Action {
	p.Helper()
	a := p.next(who)
	if a.Do != do || a.View.ID != id {
		p.Fatalf("%s is to %s %q (%+v); want %s %q", who, a.Do, a.View.ID, a, do, id)
	}
	return a
}

// reads hands somebody's messages out and acknowledges them.
func (p *play) reads(who string) (texts []string) {
	p.Helper()
	w, err := p.Waiting(p.Context(), in(who))
	if err != nil {
		p.Fatal(err)
	}
	p.ack(who, w.Cursor)
	return textsOf(w.New)
}

func textsOf(lines []conversations.Line) (texts []string) {
	for _, l := range lines {
		texts = append(texts, l.Text)
	}
	return texts
}

func (p *play) ack(who, cursor string) {
	p.Helper()
	if err := p.Acknowledge(p.Context(), in(who), cursor); err != nil {
		p.Fatal(err)
	}
}

// ended demands that somebody is told of an ending now, and that it is not told again once
// that was acknowledged.
func (p *play) ended(who, id, by string, reason conversation.Reason) {
	p.Helper()
	p.is(who, conversations.DoEnded, id)
	a := p.is(who, conversations.DoEnded, id) // it was not acknowledged
	if a.Ending != (conversation.Ending{By: by, Reason: reason}) {
		p.Errorf("%s is told of %+v; want %s by %q", who, a.Ending, reason, by)
	}
	p.ack(who, a.Cursor)
	p.ack(who, a.Cursor) // a second time is no error
	if a := p.next(who); a.View.ID == id {
		p.Errorf("%s is told again: %+v", who, a)
	}
}
