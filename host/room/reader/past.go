package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
)

// Past is some turns of a room.
type Past struct {
	Range history.Range
	Seqs  [2]uint64 // of the first and the last entry of these turns
	// Turns are what was said in them, by whom and when; of turns that are told as one text,
	// that. Backchannels are left out.
	Turns []abi.PastTurn
	// Sum is the hash of all that the range says, backchannels included: it changes when words are erased, and
	// when what is laid over the turns is another.
	Sum string
}

// PastOf reads turns as they are told under what is laid; with a zero Laid as they were said.
//
// # Errors
//
// CodeNotFound where there are not so many turns; CodeConflict where some of them are told as one text together
// with others.
func PastOf(ctx context.Context, j journal.Journal, room string, r history.Range, l Laid) (p Past, err error) {
	if err := r.Check(); err != nil {
		return p, err
	}
	p.Range = r
	if p.Seqs, err = Turns(ctx, j, room, r); err != nil {
		return p, err
	}
	after := p.Seqs[0] - 1
	hash := sha256.New()
	c := counter{r.From - 1}
	for {
		page, err := SaidBy(ctx, j, room, journal.Span{After: after, Before: p.Seqs[1] + 1, Limit: abi.MaxHistory}, p.Seqs[1])
		if err != nil {
			return p, journal.Coded(err)
		}
		for _, m := range page.Messages {
			if err := p.take(m, &c, l); err != nil {
				return p, err
			}
			fmt.Fprintf(hash, "%d %q %q %q\n", m.Seq, m.From, m.Text, m.Cut)
		}
		if page.Next == 0 {
			break
		}
		after = page.Next - 1
	}
	for _, t := range p.Turns {
		fmt.Fprintf(hash, "%d %d %q\n", t.N, t.Upto, t.Text)
	}
	p.Sum = hex.EncodeToString(hash.Sum(nil))[:32]
	return p, nil
}

// take takes the next message of the range.
func (p *Past) take(m abi.Message, c *counter, l Laid) error {
	n := c.n
	if m.Kind != abi.KindBackchannel {
		c.n++
		n = c.n
	}
	o := l.of(m.Seq)
	switch {
	case o == nil && m.Kind == abi.KindBackchannel:
	case o == nil:
		p.Turns = append(p.Turns, abi.PastTurn{N: n, From: m.From, Text: m.Text, At: m.At})
	case o.seqs[0] < p.Seqs[0] || o.seqs[1] > p.Seqs[1]:
		return abi.Field("turns", abi.CodeConflict, "turns %d-%d are told as one text: take all of them, or revert that first", o.message.Turns[0], o.message.Turns[1])
	case len(p.Turns) == 0 || p.Turns[len(p.Turns)-1].N != o.message.Turns[0]:
		p.Turns = append(p.Turns, abi.PastTurn{N: o.message.Turns[0], Upto: o.message.Turns[1], Text: o.message.Text, At: o.message.At})
	}
	return nil
}

// DraftText gives the words of a draft, empty where they were erased.
func DraftText(ctx context.Context, j journal.Log, room string, seq uint64) (d history.Draft, err error) {
	got, err := j.Read(ctx, room, seq-1, 1)
	if err != nil || len(got) == 0 || got[0].Seq != seq || got[0].Kind != entry.KindHistory {
		return d, journal.Coded(err)
	}
	in, err := entry.Decode[history.Input](got[0])
	if err != nil || in.Draft == nil {
		return d, nil // of a later version
	}
	return *in.Draft, nil
}

// Book gives what became of a room's history.
func (r Room) Book(ctx context.Context) (history.Book, error) {
	st, _, err := Fold(ctx, r.journal, r.name)
	if err != nil {
		return history.Book{}, journal.Coded(err)
	}
	return st.History, nil
}

// Turns gives how many turns the room has.
func (r Room) Turns(ctx context.Context) (uint64, error) {
	head, err := r.head(ctx, 0)
	if err != nil {
		return 0, err
	}
	n, err := CountTurns(ctx, r.journal, r.name, head)
	return n, journal.Coded(err)
}

// Past reads turns of the room as they are told now, or as they were said.
func (r Room) Past(ctx context.Context, turns history.Range, original bool) (Past, error) {
	var l Laid
	if !original {
		book, err := r.Book(ctx)
		if err != nil {
			return Past{}, err
		}
		row, _, err := r.journal.Room(ctx, r.name)
		if err == nil {
			l, err = LaidOver(ctx, r.journal, r.name, book, row.Head.Seq)
		}
		if err != nil {
			return Past{}, journal.Coded(err)
		}
	}
	return PastOf(ctx, r.journal, r.name, turns, l)
}

// Draft gives the words of a draft of the room, by the entry that has them.
func (r Room) Draft(ctx context.Context, seq uint64) (history.Draft, error) {
	return DraftText(ctx, r.journal, r.name, seq)
}
