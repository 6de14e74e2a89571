package perception

import (
	"context"
	"time"
)

// Run judges what is offered, until ctx ends; perceptions offered before wait for
// it. It returns when nothing is judged any more, and those who wait for an
// outcome have been told. To be called once.
func (s *Queues) Run(ctx context.Context) error {
	s.mu.Lock()
	s.ctx = ctx
	for companion, q := range s.of {
		s.start(companion, q)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.of {
		for _, it := range q.waiting {
			q.counts["failed"]++
			it.tell(Outcome{Err: errStopping})
		}
	}
	return nil
}

// start has what waits judged, and tells who does so already that there is more.
// The lock is held.
func (s *Queues) start(companion string, q *backlog) {
	switch {
	case s.ctx == nil || s.stopped:
	case q.working:
		select {
		case q.wake <- struct{}{}:
		default: // it has been told
		}
	case len(q.waiting) > 0:
		q.working = true
		s.workers.Go(func() { s.work(s.ctx, companion, q) })
	}
}

// work judges what waits for one companion, one by one, and ends when nothing
// does.
func (s *Queues) work(ctx context.Context, companion string, q *backlog) {
	for {
		s.mu.Lock()
		it, sleep := q.next(time.Now())
		if it == nil && sleep == 0 {
			q.working = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if it != nil {
			s.judge(ctx, companion, q, it)
		} else {
			select {
			case <-time.After(sleep): // a cool-down has ended
			case <-q.wake:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return // what waits is told by Run
		}
	}
}

// judge has one perception judged and tells who waits for that.
func (s *Queues) judge(ctx context.Context, companion string, q *backlog, it *item) {
	start := time.Now()
	call, cancel := context.WithTimeout(ctx, judgePatience)
	j, err := s.cfg.Judge(call, companion, it.p)
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			err = errStopping
		}
		s.cfg.Log.Debug("a perception was not judged", "companion", companion, "title", it.p.Title, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.judged(it, time.Since(start))
	if err != nil {
		q.counts["failed"]++
	} else {
		q.counts["judged"]++
	}
	it.tell(Outcome{Judged: j, Err: err})
}
