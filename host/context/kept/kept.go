// Package kept keeps the house's own words of prompts, each once by its hash, in a stream of
// the journal that is no room: rules and cards, and what models may call. With them, and with
// what a room has of a request, the request can be put together again.
//
// It never keeps a word of anybody who talks.
package kept

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// Stream is where they are. No room can have the name.
const Stream = "(prompts)"

// Store keeps words. Make one with [New].
type Store struct {
	journal journal.Log
	owner   string

	mu    sync.Mutex
	head  journal.Head
	owned bool
}

// New makes a store. It opens nothing: to read, no owner is needed.
func New(j journal.Log, owner string) *Store { return &Store{journal: j, owner: owner} }

// Put keeps a text, unless it is there. It is durable when Put returns nil.
func (s *Store) Put(ctx context.Context, hash, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found, err := s.journal.Find(ctx, Stream, hash); found || err != nil {
		return journal.Coded(err)
	}
	made, err := entry.Entry{Kind: entry.KindWords}.WithBody(entry.Words{Text: text})
	if err != nil {
		return err
	}
	for range 2 { // the head is not known at first, or was another's
		now := time.Now().UTC().Truncate(time.Millisecond)
		if !s.owned {
			if s.head, err = s.journal.Acquire(ctx, Stream, s.owner, now); err != nil {
				return journal.Coded(err)
			}
			s.owned = true
		}
		s.head, err = s.journal.Append(ctx, Stream, s.head, journal.New{ID: hash, Kind: entry.KindWords, At: now, Body: made.Body})
		if err == nil {
			return nil
		}
		s.owned = false
		if !errors.Is(err, journal.ErrConflict) && !errors.Is(err, journal.ErrFenced) {
			break
		}
	}
	return journal.Coded(fmt.Errorf("keep words of a prompt: %w", err))
}

// Get gives a text, ok false where it is not kept.
func (s *Store) Get(ctx context.Context, hash string) (text string, ok bool, err error) {
	e, found, err := s.journal.Find(ctx, Stream, hash)
	if err != nil || !found || e.Blank {
		return "", false, journal.Coded(err)
	}
	w, err := entry.Decode[entry.Words](e)
	return w.Text, err == nil, err
}
