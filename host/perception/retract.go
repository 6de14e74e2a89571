package perception

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
)

// errRetracted is what became of a perception that was taken back.
var errRetracted = abi.Errorf(abi.CodeDenied, "it was taken back before it was judged")

// Retract takes back what waits to be judged of a companion, and has a key or comes from somebody, and answers how much
// that was. What is being judged is too late. An empty key or name takes nothing back.
//
// # Errors
//
// Those of Config.Kept and Config.Retract; then it all waits as before.
func (s *Queues) Retract(ctx context.Context, companion, key, from string) (int, error) {
	if err := s.readBack(ctx, companion); err != nil {
		return 0, err
	}
	meant := func(it *item) bool { return key != "" && it.p.Key == key || from != "" && it.p.From == from }
	s.mu.Lock()
	q := s.backlog(companion)
	var seqs []uint64
	for _, it := range q.waiting {
		if meant(it) && it.kept() {
			seqs = append(seqs, it.p.Seq)
		}
	}
	s.mu.Unlock()
	if len(seqs) > 0 {
		if err := s.cfg.Retract(ctx, companion, seqs); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(seqs)
	q.waiting = slices.DeleteFunc(q.waiting, func(it *item) bool {
		if !meant(it) || it.kept() && !slices.Contains(seqs, it.p.Seq) { // that came meanwhile
			return false
		}
		if !it.kept() {
			n++
		}
		q.judged(it)
		q.counts["failed"]++
		it.tell(Outcome{Err: errRetracted})
		return true
	})
	return n, nil
}
