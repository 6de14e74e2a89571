package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// stream is a stream of the journal that is written here alone. It is not safe for concurrent use.
type stream struct {
	journal journal.Journal
	name    string
	owner   string
	newID   func() string

	head  journal.Head // where owned
	owned bool
}

// batch is entries that are written together: all of them or none.
type batch struct {
	of      *stream
	at      time.Time
	entries []entry.Entry
}

// begin begins a batch. The stream is acquired for it, where this run has not done so.
func (s *stream) begin(ctx context.Context) (*batch, error) {
	at := time.Now().UTC().Truncate(time.Millisecond)
	if !s.owned {
		h, err := s.journal.Acquire(ctx, s.name, s.owner, at)
		if err != nil {
			return nil, err
		}
		s.head, s.owned = h, true
	}
	return &batch{of: s, at: at}, nil
}

// put adds an entry, and gives it as it will stand in the stream.
func (b *batch) put(kind entry.Kind, body any) (entry.Entry, error) {
	e, err := entry.Entry{
		Seq: b.of.head.Seq + uint64(len(b.entries)) + 1, Epoch: b.of.head.Epoch, At: b.at,
		Kind: kind, ID: b.of.newID(), V: kind.Version(),
	}.WithBody(body)
	if err == nil {
		b.entries = append(b.entries, e)
	}
	return e, err
}

// write makes the batch durable. After an error the head is not known any more, and the
// next batch acquires the stream anew.
func (b *batch) write(ctx context.Context) error {
	if len(b.entries) == 0 {
		return nil
	}
	// Half a request is no reason to doubt what was written.
	ctx = context.WithoutCancel(ctx)
	news := make([]journal.New, 0, len(b.entries))
	for _, e := range b.entries {
		news = append(news, journal.New{ID: e.ID, V: e.V, Kind: e.Kind, At: e.At, Body: e.Body})
	}
	s := b.of
	head, err := s.journal.Append(ctx, s.name, s.head, news...)
	if errors.Is(err, journal.ErrUnknown) {
		head, err = b.found(ctx, err)
	}
	if err != nil {
		s.owned = false
		return fmt.Errorf("append to %s: %w", s.name, err)
	}
	s.head = head
	return nil
}

// found looks whether the batch was written though the journal could not say so.
func (b *batch) found(ctx context.Context, unknown error) (journal.Head, error) {
	last := b.entries[len(b.entries)-1]
	e, ok, err := b.of.journal.Find(ctx, b.of.name, last.ID)
	if err != nil || !ok || e.Seq != last.Seq {
		return journal.Head{}, unknown
	}
	return journal.Head{Seq: last.Seq, Epoch: last.Epoch}, nil
}
