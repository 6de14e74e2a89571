package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/bench/usage"
	"github.com/companiond/companiond/bench/wire"
)

// openers is how many conversations are opened, and ended, at once.
const openers = 16

// house is all members of a run and what is known of their messages.
type house struct {
	settings settings
	meter    *meter
	members  []*member // two by two

	mu      sync.Mutex
	idle    []*talker
	talkers []*talker // all of them
}

// talker is a connection that words are sent over, of whoever speaks.
type talker struct {
	conn *wire.Conn
	body []byte
}

// run opens the conversations, sends, and gives what was measured.
func run(ctx context.Context, s settings) (report, error) {
	srv, err := newServer(s)
	if err != nil {
		return report{}, err
	}
	h := &house{settings: s, meter: newMeter()}
	for i := range 2 * s.conversations {
		h.members = append(h.members, newMember(srv, agentID(i)))
	}
	for i, m := range h.members {
		m.partner = h.members[i^1]
	}
	ctx, cancel := context.WithTimeout(ctx, 2*maxTime+s.length+s.warm)
	defer cancel()
	var polls sync.WaitGroup
	defer polls.Wait()
	defer h.interrupt()
	go func() { // whatever is held then ends
		select {
		case <-ctx.Done():
		case <-h.meter.gone:
		}
		h.interrupt()
	}()
	r, err := h.measure(ctx, &polls)
	if errors.Is(ctx.Err(), context.Canceled) {
		return r, errors.New("interrupted")
	}
	return r, cmp.Or(h.meter.wrong(), err)
}

func (h *house) measure(ctx context.Context, polls *sync.WaitGroup) (r report, err error) {
	s := h.settings
	before, err := usage.Of(s.pid)
	if err != nil {
		return r, err
	}
	begun := time.Now()
	if err := h.each(func(a, b *member) error { return open(ctx, s, a, b) }); err != nil {
		return r, err
	}
	r.Setup = time.Since(begun).Seconds()
	if err := h.pause(ctx, s.settle); err != nil {
		return r, err
	}
	opened, _ := usage.Of(s.pid) // it was there before, here and below
	for _, m := range h.members {
		polls.Go(func() { h.meter.end(h.wait(ctx, m)) })
	}
	if err := h.pause(ctx, s.settle); err != nil {
		return r, err
	}
	waiting, _ := usage.Of(s.pid)

	from := time.Now().Add(s.warm)
	until := from.Add(s.length)
	var used usage.Usage
	if err := h.send(ctx, until, func(due time.Time) {
		if used.CPU == 0 && !due.Before(from) {
			used, _ = usage.Of(s.pid)
		}
	}); err != nil {
		return r, err
	}
	after, _ := usage.Of(s.pid)
	h.meter.sum(&r, from, until)
	if err := h.each(func(a, _ *member) error { return a.finish(ctx, h) }); err != nil {
		return r, err
	}
	r.Era = map[bool]string{false: wire.Era, true: wire.BareEra}[s.bare]
	r.Conversations = s.conversations
	r.Before, r.Open, r.Waiting, r.Used = before.Memory, opened.Memory, waiting.Memory, after.Memory
	each := func(mib float64) float64 { return mib * 1024 / float64(len(h.members)) }
	r.PollKiB, r.MemberKiB, r.UsedKiB = each(r.Waiting-r.Open), each(r.Waiting-r.Before), each(r.Used-r.Before)
	if r.Messages > 0 {
		r.CPU = float64((after.CPU - used.CPU).Microseconds()) / float64(r.Messages)
	}
	polls.Wait() // each was told of its end
	return r, h.meter.wrong()
}

// open has a member ask the other for a conversation, and that one join it.
func open(ctx context.Context, s settings, a, b *member) error {
	for _, m := range []*member{a, b} {
		if err := m.begin(ctx); err != nil {
			return err
		}
	}
	if err := a.login(ctx, s.project, ""); err != nil {
		return err
	}
	if err := a.start(ctx); err != nil {
		return err
	}
	return b.login(ctx, s.project, a.talk)
}

// wait polls for a member, and reads what is said, until the conversation is over.
func (h *house) wait(ctx context.Context, m *member) error {
	for {
		action, err := m.next(ctx, h.settings.poll)
		woke := time.Now()
		if err != nil {
			return err
		}
		switch action {
		case "wait_for_messages":
		case "get_pending_messages":
			said, err := m.pending(ctx)
			if err != nil {
				return err
			}
			for _, raw := range said {
				n, ok := numberOf(raw)
				if !ok {
					return fmt.Errorf("get_pending_messages of %s: %w: no message of ours: %.200s", m.id, wire.ErrAnswer, raw)
				}
				h.meter.came(m, n, woke)
			}
		case "conversation_ended":
			return m.end(ctx)
		default:
			return fmt.Errorf("get_next_action of %s: %w: %q", m.id, wire.ErrAnswer, action)
		}
	}
}

// send sends messages at the rate until a time, in one conversation after the other and of its
// members in turn, and waits until all have come. At is told of each when it is due: a server that is
// slow is asked no less often.
func (h *house) send(ctx context.Context, until time.Time, at func(due time.Time)) error {
	every := time.Duration(float64(time.Second) / h.settings.rate)
	begun := time.Now()
	var saying sync.WaitGroup
	defer saying.Wait()
	for i := 0; ; i++ {
		due := begun.Add(time.Duration(i) * every)
		if due.After(until) {
			break
		}
		if err := h.pause(ctx, time.Until(due)); err != nil {
			return err
		}
		at(due)
		talk, turn := i%h.settings.conversations, i/h.settings.conversations
		m := h.members[2*talk+turn%2]
		n := h.meter.next(m.partner, due)
		saying.Go(func() {
			c := h.talker()
			h.meter.began(n)
			if err := m.say(ctx, c, words(n)); err != nil {
				h.meter.end(err)
				return
			}
			h.meter.answered(n)
			h.done(c)
		})
	}
	h.meter.last()
	select {
	case <-h.meter.done:
		return nil
	case <-time.After(h.settings.stuck):
		return h.meter.missing()
	case <-h.meter.gone:
		return h.meter.wrong()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish ends the conversation of a member.
func (m *member) finish(ctx context.Context, h *house) error {
	c := h.talker()
	defer h.done(c)
	return m.call(ctx, c.conn, "end_conversation", map[string]any{"conversation_id": m.talk}, nil, &c.body)
}

// each does something with all pairs, some at once, and gives the first error.
func (h *house) each(do func(a, b *member) error) error {
	pairs := make(chan int)
	var doing sync.WaitGroup
	for range openers {
		doing.Go(func() {
			for i := range pairs {
				if h.meter.wrong() == nil {
					h.meter.end(do(h.members[2*i], h.members[2*i+1]))
				}
			}
		})
	}
	for i := range h.settings.conversations {
		pairs <- i
	}
	close(pairs)
	doing.Wait()
	return h.meter.wrong()
}

// pause waits, unless it cannot go on.
func (h *house) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return h.meter.wrong()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-h.meter.gone:
		return h.meter.wrong()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talker gives a connection that nobody uses now.
func (h *house) talker() *talker {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.idle); n > 0 {
		c := h.idle[n-1]
		h.idle = h.idle[:n-1]
		return c
	}
	c := &talker{conn: &wire.Conn{Host: h.members[0].server.host}}
	h.talkers = append(h.talkers, c)
	return c
}

func (h *house) done(c *talker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = append(h.idle, c)
}

// interrupt ends all connections for good.
func (h *house) interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.talkers {
		c.conn.Interrupt()
	}
	for _, m := range h.members {
		m.conn.Interrupt()
	}
}
