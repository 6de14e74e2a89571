package perception

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// keep takes what no newer one replaces: it has a place, is written down, and waits.
// Others of the companion that are written down at the same time do not wait for it.
func (s *Queues) keep(ctx context.Context, companion string, it *item) (Taken, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepPatience) // it came, whether its sender is still there or not
	defer cancel()
	if err := s.readBack(ctx, companion); err != nil { // what waited before is older
		s.count(companion, "refused")
		return Taken{}, err
	}
	s.mu.Lock()
	q := s.backlog(companion)
	var err error = errStopping
	if !s.stopped {
		if err = q.reserve(it, time.Now()); err != nil {
			q.counts["refused"]++
		}
	}
	s.mu.Unlock()
	if err != nil {
		return Taken{}, err
	}
	return s.write(ctx, companion, it)
}

// write has an item written down for which there is a place.
func (s *Queues) write(ctx context.Context, companion string, it *item) (Taken, error) {
	var taken Taken
	given := false // the place was given back, for nothing was written in time
	err := s.cfg.Keep(ctx, companion, it.p, func(p abi.Percept) {
		s.mu.Lock()
		defer s.mu.Unlock()
		q := s.backlog(companion)
		if given { // nobody is told that it was taken, and it is in the journal all the same
			q.reserved++
			q.bytes += it.size()
		}
		it.p = p
		q.counts["taken"]++
		taken = Taken{State: StateQueued, Seq: p.Seq, Outcome: it.done}
		if s.stopped { // Run may have told what waits already
			q.free(it)
			q.stop(it)
			return
		}
		if taken.State = q.place(it, time.Now()); taken.State == StateCooling {
			q.counts["cooled"]++
		}
		s.start(companion, q)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken.Outcome != nil {
		return taken, nil // it is in the journal, whatever came after that
	}
	q := s.backlog(companion)
	q.counts["refused"]++
	given = true
	q.free(it)
	return Taken{}, err
}

// Add takes what is written down by now, and was not given to Offer or Tell: the room itself found it. It
// does not wait.
func (s *Queues) Add(companion string, p abi.Percept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return // it is read back at the next start
	}
	q := s.backlog(companion)
	if q.read {
		s.add(q, p)
	} else {
		q.found, q.woken = append(q.found, p), true
	}
	s.start(companion, q)
}

// add puts into a queue what was written down. The lock is held.
func (s *Queues) add(q *backlog, p abi.Percept) {
	q.counts["taken"]++
	q.append(newItem(p, nil))
}

// Wake has what was kept for companions read back and judged, at the start and whenever one
// has come: it does nothing twice.
func (s *Queues) Wake(companions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, companion := range companions {
		q := s.backlog(companion)
		q.woken = true
		s.start(companion, q)
	}
}

// readBack puts what was kept before the daemon started into the queue, once.
func (s *Queues) readBack(ctx context.Context, companion string) error {
	s.mu.Lock()
	q := s.backlog(companion)
	s.mu.Unlock()
	q.reading.Lock()
	defer q.reading.Unlock()
	if q.read {
		return nil
	}
	kept, err := s.cfg.Kept(ctx, companion)
	if err != nil {
		return err
	}
	c, _ := s.cfg.Card(companion)
	items := make([]*item, len(kept))
	for i, p := range kept {
		var kind *card.Perception
		if c != nil {
			kind, _ = c.Perception(p.Title)
		}
		items[i] = newItem(p, kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.read = true
	q.restore(items)
	q.counts["taken"] += len(items)
	for _, p := range q.found { // while it was read
		if !slices.ContainsFunc(items, func(it *item) bool { return it.p.Seq == p.Seq }) {
			s.add(q, p)
		}
	}
	q.found = nil
	if len(items) > 0 {
		s.start(companion, q)
	}
	return nil
}
