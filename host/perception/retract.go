package perception

import (
	"context"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
)

// errRetracted is what became of a perception that was taken back.
var errRetracted = abi.Errorf(abi.CodeDenied, "it was taken back before it was judged")

// Retract takes back what waits to be judged of a companion, and answers how much that was: of those whose keys begin with of,
// the one with a key, or all from somebody. What is being judged is too late. A name that is empty takes nothing back.
//
// # Errors
//
// Those of Config.Kept and Config.Retract; then it all waits as before.
func (s *Queues) Retract(ctx context.Context, companion, of, key, from string) (int, error) {
	if err := s.readBack(ctx, companion); err != nil {
		return 0, err
	}
	meant := func(it *item) bool {
		return !it.p.Unasked() && strings.HasPrefix(it.p.Key, of) && (it.p.Key == key && key != of || from != "" && it.p.From == from)
	}
	s.mu.Lock()
	q := s.backlog(companion)
	var back []*item // nobody judges them meanwhile
	q.waiting = slices.DeleteFunc(q.waiting, func(it *item) bool {
		if meant(it) {
			back = append(back, it)
		}
		return meant(it)
	})
	s.mu.Unlock()
	var seqs []uint64
	for _, it := range back {
		if it.kept() {
			seqs = append(seqs, it.p.Seq)
		}
	}
	var err error
	if len(seqs) > 0 {
		err = s.cfg.Retract(ctx, companion, seqs)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		q.waiting = slices.Concat(back, q.waiting)
		s.start(companion, q)
		return 0, err
	}
	for _, it := range back {
		q.judged(it)
		q.counts["failed"]++
		it.tell(Outcome{Err: errRetracted})
	}
	return len(back), nil
}
