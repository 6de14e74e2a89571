package forget

import (
	"context"
	"path/filepath"

	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/journal"
)

// Plan says what an order would erase, by the same checks and the same counts, and writes nothing down.
// While people talk it may be more by the time that the order is given. Its receipt has no id.
func (s *Service) Plan(ctx context.Context, o Order) (Receipt, error) {
	by, theirs, err := s.allow(ctx, o)
	if err != nil {
		return Receipt{}, err
	}
	order := ledger.Order{ID: "plan", As: "somebody", By: by, Facts: o.Facts, Companion: o.Companion, Theirs: theirs}
	if o.Who != "" {
		order.Name(o.Who)
	}
	w := work{order: order, receipt: *receiptOf(order)}
	for _, count := range []func(context.Context, *work) error{s.gather, s.countEntries, s.countRest} {
		if err := count(ctx, &w); err != nil {
			return Receipt{}, journal.Coded(err)
		}
	}
	w.receipt.Called = w.names
	w.receipt.ID, w.receipt.As, w.receipt.State = "", "", ""
	return w.receipt, nil
}

func (s *Service) countEntries(ctx context.Context, w *work) error {
	return s.everywhere(ctx, func(r journal.Room) error {
		if w.words.Hits(r.Name) {
			w.receipt.Names = append(w.receipt.Names, r.Name)
		}
		t := track{s: s, w: w, room: r.Name, all: true, dry: true, lines: w.words.Lines()}
		if err := t.upTo(ctx, r.Head.Seq); err != nil {
			return err
		}
		w.receipt.add(t.tally())
		return nil
	})
}

func (s *Service) countRest(ctx context.Context, w *work) error {
	copies, err := s.cfg.Journal.Copies()
	if err != nil {
		return err
	}
	for _, c := range copies {
		w.receipt.Copies = append(w.receipt.Copies, filepath.Base(c))
	}
	keys, err := s.hits(ctx, w.words.Hits)
	if err != nil {
		return err
	}
	w.receipt.Keys = keys.count()
	gone, err := s.gone(ctx, w)
	for _, ids := range gone {
		w.receipt.Memories += len(ids)
	}
	return err
}
