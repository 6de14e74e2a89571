package forget

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/journal"
)

// Plan says what an order would take away as things stand, and writes nothing: the receipt has
// neither an id nor a state. What modules would delete by themselves is not known before
// they are told.
//
// # Errors
//
// Those of [Service.Forget].
func (s *Service) Plan(ctx context.Context, o Order) (Receipt, error) {
	if _, err := s.allow(ctx, o); err != nil {
		return Receipt{}, err
	}
	order := ledger.Order{Facts: o.Facts, Companion: o.Companion, As: "forgotten"}
	if o.Who != "" {
		order.Name(o.Who)
	}
	w := &work{order: order, receipt: Receipt{Kind: receiptOf(order).Kind}}
	for _, look := range []func(context.Context, *work) error{s.gather, s.countRooms, s.countKeys, s.countMemories} {
		if err := look(ctx, w); err != nil {
			return Receipt{}, journal.Coded(err)
		}
	}
	copies, err := s.cfg.Journal.Copies()
	if err != nil {
		return Receipt{}, journal.Coded(err)
	}
	for _, c := range copies {
		if !o.Copies {
			w.receipt.Copies = append(w.receipt.Copies, filepath.Base(c))
		}
	}
	return w.receipt, nil
}

func (s *Service) countRooms(ctx context.Context, w *work) error {
	return s.everywhere(ctx, func(r journal.Room) error {
		before := w.receipt.Entries
		err := s.entries(ctx, r.Name, 0, r.Head.Seq, func(es []entry.Entry) error {
			for _, e := range es {
				if _, lost := w.words.Entry(e); lost {
					w.receipt.Entries++
				}
			}
			return nil
		})
		if w.receipt.Entries > before {
			w.receipt.Rooms++
		}
		if w.words.Hits(r.Name) {
			w.receipt.Names = append(w.receipt.Names, r.Name)
		}
		return err
	})
}

func (s *Service) countKeys(ctx context.Context, w *work) error {
	return s.cfg.Journal.Pairs(ctx, func(p journal.Pair) error {
		if w.words.Hits(p.Key) || w.words.Hits(p.Value) {
			w.receipt.Keys++
		}
		return nil
	})
}

func (s *Service) countMemories(ctx context.Context, w *work) error {
	return s.each(ctx, func(_ string, m abi.Memory) {
		named := slices.Contains(w.order.Facts, m.ID) || w.order.Is(m.SaidBy) || slices.ContainsFunc(m.About, w.order.Is)
		if named || w.words.Hits(m.Text) || w.words.Hits(m.Quote) || slices.ContainsFunc(m.Keys, w.words.Hits) {
			w.receipt.Memories++
		}
	})
}
