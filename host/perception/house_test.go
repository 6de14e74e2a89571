package perception_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/perception"
)

// definition is a companion that sees every two seconds at most, hears, is told
// of events as texts and as objects, is given things, and is talked to.
const definition = `{
  "name": "Nikoni",
  "actions": [{"title": "wave", "description": "waves", "type": "object", "properties": {}}],
  "perceptions": [
    {"title": "vision", "description": "a camera", "type": "object", "cool_down": "2s", "coalesce": true,
     "properties": {"title": {"type": "string"}, "format": {"type": "string", "enum": ["image", "object"]}, "body": {}}, "required": ["title", "format", "body"]},
    {"title": "news", "description": "what happens", "type": "object",
     "properties": {"title": {"type": "string"}, "format": {"type": "string", "enum": ["text"]}, "body": {"type": "string"}}, "required": ["title", "format", "body"]},
    {"title": "touch", "description": "a sensor", "type": "object", "coalesce": true,
     "properties": {"title": {"type": "string"}, "format": {"type": "string", "enum": ["object"]}, "body": {"type": "object"}}, "required": ["title", "format", "body"]},
    {"title": "gift", "description": "what viewers give", "type": "object",
     "properties": {"title": {"type": "string"}, "format": {"type": "string", "enum": ["object", "image"]}, "body": {}}, "required": ["title", "format", "body"], "coalesce": false},
    {"title": "input", "description": "what people say", "type": "object",
     "properties": {"title": {"type": "string"}, "format": {"type": "string", "enum": ["object", "text", "image"]}, "body": {}}, "required": ["title", "format", "body"]}
  ],
  "events": [{"perception": "vision", "action": ["wave"], "condition": "somebody is there"}]
}`

// house is what the senses are connected to: a judge that takes its time and
// remembers, and somebody to say things to. "aya" has no card.
type house struct {
	*perception.Queues
	*book
	takes   time.Duration // of a judgement
	several bool          // it judges several at once

	mu     sync.Mutex
	seen   []abi.Percept
	at     []time.Duration // since the start, when it was seen
	said   []string        // "from: text"
	calls  int             // judgements
	at1    bool            // a judgement runs
	twice  bool            // two ran at once
	judge  func(ctx context.Context, p abi.Percept) (abi.Judged, error)
	sayErr error
	filter func(companion string, p abi.Percept) (abi.Percept, error) // nil: all pass
	ended  []uint64                                                   // that were taken back
	broken error                                                      // why nothing can be
}

func newHouse(t testing.TB, pending int) *house {
	t.Helper()
	return newHouseWith(t, pending, &book{page: make(chan struct{}, 1)})
}

// newHouseWith is newHouse with what was written down before.
func newHouseWith(t testing.TB, pending int, b *book) *house {
	t.Helper()
	c, err := card.Parse("nikoni.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	h, start, n := &house{book: b}, time.Now(), 0
	h.Queues = perception.New(perception.Config{
		Card: func(companion string) (*card.Card, error) {
			switch companion {
			case "nikoni", "momo":
				return c, nil
			case "aya":
				return nil, nil
			}
			return nil, abi.Errorf(abi.CodeNotFound, "companion: there is no %q", companion)
		},
		Keep: b.keep, Kept: b.kept, Retract: func(ctx context.Context, who string, seqs []uint64) error { return h.retract(ctx, who, seqs) },
		Several: func(string) bool { return h.several },
		Judge: func(ctx context.Context, companion string, all ...abi.Percept) (_ abi.Judged, err error) {
			defer func() {
				var ended *perception.Ended
				if err == nil || errors.As(err, &ended) {
					b.end(all)
				}
			}()
			if companion == "momo" {
				return abi.Judged{}, nil
			}
			p := all[len(all)-1]
			h.mu.Lock()
			h.twice = h.twice || h.at1
			h.at1 = true
			h.calls++
			for _, p := range all {
				h.seen, h.at = append(h.seen, p), append(h.at, time.Since(start))
			}
			seq := uint64(len(h.seen))
			judge := h.judge
			h.mu.Unlock()
			defer func() {
				h.mu.Lock()
				h.at1 = false
				h.mu.Unlock()
			}()
			if judge != nil {
				return judge(ctx, p)
			}
			select {
			case <-time.After(h.takes):
			case <-ctx.Done():
				return abi.Judged{}, ctx.Err()
			}
			return abi.Judged{Seq: seq, Judgement: abi.Judgement{State: abi.Listen}}, nil
		},
		Say: func(_ context.Context, companion string, p abi.Percept, text string) (abi.Message, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.sayErr != nil {
				return abi.Message{}, h.sayErr
			}
			h.said = append(h.said, p.From+": "+text)
			return abi.Message{Seq: uint64(len(h.said)), From: p.From, To: []string{companion}, Text: text}, nil
		},
		Filter: func(_ context.Context, companion string, p abi.Percept) (abi.Percept, error) {
			if h.filter == nil {
				return p, nil
			}
			return h.filter(companion, p)
		},
		Pending: pending, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { n++; return fmt.Sprintf("s%d", n) },
	})
	return h
}

// run runs the senses until stop is called.
func (h *house) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	return func() { cancel(); <-done }
}

func text(title, body string) card.Percept {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return card.Percept{Title: title, Format: "text", Body: raw}
}

func object(title, body string) card.Percept {
	return card.Percept{Title: title, Format: "object", Body: json.RawMessage(body)}
}

// must offers what has to be taken.
func (h *house) must(t testing.TB, p card.Percept) perception.Taken {
	t.Helper()
	taken, err := h.Offer(context.Background(), "nikoni", p, "cam")
	if err != nil {
		t.Fatalf("%s %s: %v", p.Title, p.Body, err)
	}
	return taken
}

// bodies gives what was seen, in order.
func (h *house) bodies() (all []string) {
	for _, p := range h.perceived() {
		all = append(all, string(p.Body))
	}
	return all
}

// perceived gives what was seen.
func (h *house) perceived() []abi.Percept {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]abi.Percept(nil), h.seen...)
}

func (h *house) times() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]time.Duration(nil), h.at...)
}

// book is where perceptions are written down until they are judged, and what a restart
// finds. It is slow to write and orders what comes at once.
type book struct {
	page  chan struct{} // has room for one that writes
	mu    sync.Mutex
	lines []line
	last  uint64
	err   error         // why nothing can be written or read
	slow  time.Duration // to write
}

type line struct {
	who string
	p   abi.Percept
}

func (b *book) keep(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error {
	select {
	case b.page <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-b.page }()
	select {
	case <-time.After(b.slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.Lock()
	if b.err != nil {
		defer b.mu.Unlock()
		return b.err
	}
	b.last++
	p.Seq = b.last
	b.lines = append(b.lines, line{who, p})
	b.mu.Unlock()
	kept(p)
	return nil
}

func (b *book) kept(_ context.Context, who string) (all []abi.Percept, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lines {
		if l.who == who {
			all = append(all, l.p)
		}
	}
	return all, b.err
}

// end strikes out what was judged.
func (b *book) end(all []abi.Percept) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = slices.DeleteFunc(b.lines, func(l line) bool {
		return slices.ContainsFunc(all, func(p abi.Percept) bool { return p.Seq == l.p.Seq })
	})
}

func (b *book) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lines)
}

func (b *book) breaks(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = why
}
