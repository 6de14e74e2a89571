package forget

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// eraseMemory erases what companions remember of it. The rooms have nothing of it any more: what a model is asked for in this
// moment, and was told before, is not remembered when it answers.
func (s *Service) eraseMemory(ctx context.Context, w *work) error {
	if s.cfg.Memory != nil {
		s.cfg.Memory.Anew()
	}
	gone, err := s.gone(ctx, w)
	if err != nil {
		return err
	}
	for companion, ids := range gone {
		n, err := s.cfg.Memory.Erase(ctx, companion, ids, w.order.By)
		if err != nil {
			return err
		}
		w.receipt.Memories += n
	}
	return nil
}

// gone gives the ids of what companions remember that goes, by companion, and counts what of it is others'. What was written
// of something before it was changed goes with it.
func (s *Service) gone(ctx context.Context, w *work) (map[string][]string, error) {
	gone, old := map[string][]string{}, map[string]map[string]bool{}
	for r, err := range journal.AllStreams(ctx, s.cfg.Journal) {
		companion, ok := journal.Remembers(r.Name)
		if err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		old[companion] = map[string]bool{}
		if err := s.entries(ctx, r.Name, 0, r.Head.Seq, func(es []entry.Entry) error {
			for _, e := range es {
				if m, ok := written(e); ok && w.goes(companion, m) {
					old[companion][m.ID] = true
				}
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("stream %s: %w", r.Name, err)
		}
	}
	err := s.each(ctx, func(companion string, m abi.Memory) {
		if !w.goes(companion, m) && !old[companion][m.ID] || w.late && m.SaidAt.After(w.done) {
			return
		}
		gone[companion] = append(gone[companion], m.ID)
		switch {
		case !w.others(m):
		case m.Kind == abi.MemoryEpisode:
			w.receipt.Others.Episodes++
		default:
			w.receipt.Others.Memories++
		}
	})
	return gone, err
}

// written gives the words of an entry of a memory's stream as if they were remembered.
func written(e entry.Entry) (abi.Memory, bool) {
	switch e.Kind {
	case entry.KindRemembered:
		r, err := entry.Decode[entry.Remembered](e)
		return r.Memory, err == nil
	case entry.KindRevised:
		r, err := entry.Decode[entry.Revised](e)
		m := abi.Memory{ID: r.Of, Kind: abi.MemoryEpisode} // of anybody
		if r.Text != nil {
			m.Text = *r.Text
		}
		if r.Keys != nil {
			m.Keys = *r.Keys
		}
		return m, err == nil
	}
	return abi.Memory{}, false
}
