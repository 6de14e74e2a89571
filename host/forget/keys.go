package forget

import (
	"context"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget/scrub"
	"github.com/companiond/companiond/host/journal"
)

// keys tells the modules, and deletes what they left.
func (s *Service) keys(ctx context.Context, w *work) error {
	f := abi.Forget{Facts: w.order.Facts, Words: w.words.List()}
	if len(w.names) > 0 {
		f.Who = w.names[0]
	}
	switch {
	case f.Who == "" && len(f.Facts)+len(f.Words) == 0: // they were told before a step that is tried again
	case s.modules == nil:
		s.untold = append(s.untold, f)
	default:
		s.tellModules(ctx, f)
	}
	n, err := s.deleteKeys(ctx, w.words.Hits)
	w.receipt.Keys += n
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
func (s *Service) eraseKeys(ctx context.Context, words []string) (int, error) {
	return s.deleteKeys(ctx, func(text string) bool { return scrub.Has(text, words) })
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
func (s *Service) deleteKeys(ctx context.Context, has func(string) bool) (int, error) {
	h, err := s.hits(ctx, has)
	if err != nil {
		return 0, err
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
	if err != nil {
		return 0, err
	}
	return h.count(), nil
}
