package room

import (
	"cmp"
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/reader"
)

// tries is how often something that is to happen to the history is looked at again because something else
// did meanwhile.
const tries = 3

// Happens has something happen to the history, and answers how its proposal stands then, once that is durable. What
// is asked for gets the entries of its turns and the hash of what they say; what is approved
// has to say what it said then, and so has what a draft was made of, or is handed in for.
//
// # Errors
//
// CodeNotFound and CodeConflict say what is in the way; see [history.Book.Refuses].
func (r *Room) Happens(ctx context.Context, in history.Input) (p history.Proposal, err error) {
	r.busy.Add(1) // it does not fall asleep while the turns are looked at, however long that takes
	defer r.busy.Add(-1)
	for range tries {
		changed := r.laid.Load().Changed
		if err := r.looked(ctx, &in); err != nil {
			return p, err
		}
		again := false
		p, err = loop.Ask(ctx, r.loop, loop.Late, func() (history.Proposal, error) {
			s := r.state()
			if again = s.History.Changed != changed; again {
				return history.Proposal{}, abi.Field("proposal", abi.CodeConflict, "what the turns are told as changes all the time; try again")
			}
			in.Turn = s.Number
			if err := cmp.Or(r.closed(), s.History.Refuses(in)); err != nil {
				return history.Proposal{}, err
			}
			r.loop.Input(entry.KindHistory, in)
			if err := r.loop.Trouble(); err != nil {
				return history.Proposal{}, err
			}
			return *s.History.Get(in.Proposal), nil
		})
		if !again {
			break
		}
	}
	return p, err
}

// looked looks at the turns that something is about, beside the loop.
func (r *Room) looked(ctx context.Context, in *history.Input) error {
	switch in.Kind {
	case history.Propose:
		if in.Ask == nil {
			return nil
		}
		past, err := reader.PastOf(ctx, r.cfg.Journal, r.Name(), in.Ask.Turns, *r.laid.Load())
		if err != nil {
			return err
		}
		row, _, err := r.cfg.Journal.Room(ctx, r.Name())
		if err != nil {
			return err
		}
		ask := *in.Ask
		ask.Seqs, ask.Sum, ask.Head = past.Seqs, past.Sum, row.Head.Seq
		in.Ask = &ask
	case history.Approve, history.Hand, history.Drafted:
		book, err := r.Book(ctx)
		if err != nil {
			return err
		}
		p := book.Get(in.Proposal)
		if p == nil || book.Refuses(*in) != nil {
			return nil // which is told in the loop
		}
		past, err := reader.PastOf(ctx, r.cfg.Journal, r.Name(), p.Ask.Turns, *r.laid.Load())
		if err != nil {
			return err
		}
		if in.Kind == history.Drafted && p.Handed != 0 && in.Draft != nil {
			d, err := reader.DraftText(ctx, r.cfg.Journal, r.Name(), p.Handed)
			if err != nil {
				return err
			}
			if d.Text != in.Draft.Text {
				return abi.Field("proposal", abi.CodeStale, "words of the draft of %s were erased meanwhile; ask for a new one", p.ID)
			}
		}
		if past.Sum != p.Ask.Sum {
			return abi.Field("proposal", abi.CodeStale, "turns %s do not say any more what they said when %s was drafted: words were erased, or they are told otherwise; ask for a new one", p.Ask.Turns, p.ID)
		}
	}
	return nil
}
