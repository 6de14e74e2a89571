package forget

import (
	"context"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget/scrub"
	"github.com/companiond/companiond/host/journal"
)

// keys tells the modules, and deletes what they left. What they take out themselves is counted, too.
func (s *Service) keys(ctx context.Context, w *work) error {
	f := abi.Forget{Facts: w.order.Facts, Words: w.words.List()}
	if len(w.names) > 0 {
		f.Who = w.names[0]
	}
	before, err := s.hits(ctx, w.words.Hits)
	if err != nil {
		return err
	}
	switch {
	case f.Who == "" && len(f.Facts)+len(f.Words) == 0: // they were told before a step that is tried again
	case s.modules == nil:
		s.untold = append(s.untold, f)
	default:
		s.tellModules(ctx, f)
	}
	left, err := s.deleteKeys(ctx, w.words.Hits)
	w.receipt.Keys += left.and(before).count()
	return err
}

// tellModules tells the modules, also in the forks in which they keep something.
func (s *Service) tellModules(ctx context.Context, f abi.Forget) {
	forks := map[string][]string{}
	if err := s.pairs(ctx, func(p journal.Pair) {
		if p.Fork != "" && !slices.Contains(forks[p.Companion], p.Fork) {
			forks[p.Companion] = append(forks[p.Companion], p.Fork)
		}
	}); err != nil {
		s.log.Warn("modules are not told in forks what is erased", "err", err)
	}
	s.modules.Tell(ctx, f, forks)
}

// eraseKeys deletes the keys that modules left which have one of some words.
func (s *Service) eraseKeys(ctx context.Context, words []string) error {
	_, err := s.deleteKeys(ctx, func(text string) bool { return scrub.Has(text, words) })
	return err
}

// pairs calls f with all keys of modules. The house has keys of its own beside them, in which there are numbers and its
// own names for things: without them it would spend what it had spent once more.
func (s *Service) pairs(ctx context.Context, f func(journal.Pair)) error {
	return s.cfg.Journal.Pairs(ctx, func(p journal.Pair) error {
		if !strings.HasPrefix(p.Companion, journal.House) {
			f(p)
		}
		return nil
	})
}

// hit is the pairs which have some words: in their names, and in their values alone.
type hit struct{ names, values []journal.Pair }

// count says how many keys those are: a key that held more than one of them is one.
func (h hit) count() int {
	keys := map[journal.Pair]bool{}
	for _, p := range slices.Concat(h.names, h.values) {
		keys[journal.Pair{Companion: p.Companion, Key: p.Key, Fork: p.Fork}] = true
	}
	return len(keys)
}

// and is what either has.
func (h hit) and(o hit) hit {
	return hit{slices.Concat(h.names, o.names), slices.Concat(h.values, o.values)}
}

func (s *Service) hits(ctx context.Context, has func(string) bool) (h hit, err error) {
	err = s.pairs(ctx, func(p journal.Pair) {
		switch {
		case has(p.Key):
			p.Value = ""
			h.names = append(h.names, p)
		case has(p.Value):
			h.values = append(h.values, p)
		}
	})
	return h, err
}

// deleteKeys deletes the keys that have some words, now or before, in the store that rooms share or in a fork's.
func (s *Service) deleteKeys(ctx context.Context, has func(string) bool) (hit, error) {
	h, err := s.hits(ctx, has)
	if err != nil {
		return hit{}, err
	}
	erase := func(pairs []journal.Pair, whole bool) error {
		for some := range slices.Chunk(pairs, batch) {
			if err := s.cfg.Journal.ErasePairs(ctx, some, whole); err != nil {
				return err
			}
		}
		return nil
	}
	if err = erase(h.names, true); err == nil {
		err = erase(h.values, false)
	}
	return h, err
}
