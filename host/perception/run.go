package perception

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
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
			q.stop(it)
		}
	}
	return nil
}

// stop tells of an item that it is not judged by this run of the daemon. What was kept
// still waits.
func (q *backlog) stop(it *item) {
	if !it.kept() {
		q.counts["failed"]++
		it.tell(Outcome{Err: errStopping})
		return
	}
	it.tell(Outcome{Err: errKept})
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
	case len(q.waiting) > 0 || q.woken:
		q.working = true
		s.workers.Go(func() { s.work(s.ctx, companion, q) })
	}
}

// work judges what waits for one companion, and ends when nothing does.
func (s *Queues) work(ctx context.Context, companion string, q *backlog) {
	var again time.Duration // how long what could not be judged is left alone
	for ctx.Err() == nil {  // else what waits is told by Run
		if err := s.readBack(ctx, companion); err != nil {
			s.cfg.Log.Warn("perceptions that wait cannot be read; it is tried again", "companion", companion, "err", err)
			again = s.retry(ctx, q, again)
			continue
		}
		several := s.cfg.Several != nil && s.cfg.Several(companion)
		s.mu.Lock()
		q.woken = false
		batch, sleep := q.next(time.Now(), several)
		if q.working = len(batch) > 0 || sleep > 0; !q.working {
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		switch {
		case len(batch) == 0:
			select {
			case <-time.After(sleep): // a cool-down has ended
			case <-q.wake:
			case <-ctx.Done():
			}
		case s.judge(ctx, companion, q, batch):
			again = 0
		default:
			again = s.retry(ctx, q, again)
		}
	}
}

// retry waits until something may be tried again that failed, twice as long as the last time:
// more that came would fail as well, but what Wake tells of may have changed that.
func (s *Queues) retry(ctx context.Context, q *backlog, last time.Duration) (again time.Duration) {
	again = min(max(retryFirst, 2*last), retryLast)
	for over := time.After(again); ; {
		select {
		case <-over:
			return again
		case <-ctx.Done():
			return again
		case <-q.wake:
			s.mu.Lock()
			woken := q.woken
			q.woken = false
			s.mu.Unlock()
			if woken {
				return 0
			}
		}
	}
}

// judge has perceptions judged and tells those who wait for that. It answers false
// where they could not be, and wait again.
func (s *Queues) judge(ctx context.Context, companion string, q *backlog, batch []*item) bool {
	all := make([]abi.Percept, len(batch))
	for i, it := range batch {
		all[i] = it.p
	}
	start := time.Now()
	call, cancel := context.WithTimeout(ctx, judgePatience)
	j, err := s.cfg.Judge(call, companion, all...)
	cancel()
	if err != nil {
		s.cfg.Log.Debug("perceptions were not judged", "companion", companion, "title", all[0].Title, "number", len(all), "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.took = time.Since(start)
	if err != nil && batch[0].kept() {
		ended := new(Ended)
		errors.As(err, &ended)
		over := func(it *item) bool { return slices.Contains(ended.Seqs, it.p.Seq) }
		q.back(slices.DeleteFunc(slices.Clone(batch), over))
		batch = slices.DeleteFunc(batch, func(it *item) bool { return !over(it) })
	} else if err != nil && ctx.Err() != nil {
		err = errStopping
	}
	for _, it := range batch {
		q.judged(it)
		o := Outcome{Judged: j, Err: err}
		if err != nil {
			q.counts["failed"]++
		} else {
			q.counts["judged"]++
			if it.kept() {
				o.Judged.Seq = it.p.Seq
			}
		}
		it.tell(o)
	}
	return len(batch) > 0
}
