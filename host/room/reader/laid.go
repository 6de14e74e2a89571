package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
)

// Laid is what lies over ranges of a room's past: each is told as one message, which stands where its first
// turn stood. The zero value is a past that is told as it was.
type Laid struct {
	Changed uint64 // seq of the newest entry that changed what is told; 0: none did
	over    []layer
}

// layer is one range with what it is told as.
type layer struct {
	seqs    [2]uint64
	message abi.Message
}

// LaidOver gives what lay over a room's past when the room was as far as head. What was laid there and lost its words, because
// they were erased, is left out: what is left of the turns themselves is told.
func LaidOver(ctx context.Context, j journal.Log, room string, book history.Book, head uint64) (l Laid, err error) {
	l.Changed = book.Changed
	for _, p := range book.Laid(head) {
		d := p.Draft()
		if d == nil {
			continue
		}
		got, err := j.Read(ctx, room, d.Seq-1, 1)
		if err != nil {
			return Laid{}, err
		}
		if len(got) == 0 || got[0].Seq != d.Seq {
			continue
		}
		in, err := entry.Decode[history.Input](got[0])
		if err != nil || in.Draft == nil || in.Draft.Text == "" {
			continue
		}
		turns := [2]uint64{p.Ask.Turns.From, p.Ask.Turns.To}
		l.over = append(l.over, layer{p.Ask.Seqs, abi.Message{
			Seq: p.Ask.Seqs[0], ID: p.ID, To: []string{}, Text: in.Draft.Text, Kind: abi.KindCompressed, At: d.At, Turns: &turns,
		}})
	}
	return l, nil
}

// of gives the layer over an entry, nil for none.
func (l Laid) of(seq uint64) *layer {
	for i := range l.over {
		if o := &l.over[i]; o.seqs[0] <= seq && seq <= o.seqs[1] {
			return o
		}
	}
	return nil
}

// Upto gives the last entry that something lies over, 0 for none.
func (l Laid) Upto() (seq uint64) {
	for _, o := range l.over {
		seq = max(seq, o.seqs[1])
	}
	return seq
}

// Over gives messages, oldest first, as they are told. A range whose first turns are not among them
// is told all the same.
func (l Laid) Over(all []abi.Message) []abi.Message {
	if len(all) == 0 || all[0].Seq > l.Upto() {
		return all
	}
	var told []abi.Message
	for _, m := range all {
		o := l.of(m.Seq)
		switch {
		case o == nil:
			told = append(told, m)
		case len(told) == 0 || told[len(told)-1].Seq != o.message.Seq:
			told = append(told, o.message)
		}
	}
	return told
}

// Told is History as minds are told it, under what is laid.
func (r Room) Told(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	st, _, err := Fold(ctx, r.journal, r.name)
	if err != nil {
		return abi.History{}, journal.Coded(err)
	}
	l, err := LaidOver(ctx, r.journal, r.name, st.History, st.Head)
	if err != nil {
		return abi.History{}, journal.Coded(err)
	}
	return r.ToldUnder(ctx, ask, l)
}

// ToldUnder is Told where it is known what is laid.
func (r Room) ToldUnder(ctx context.Context, ask abi.HistoryAsk, l Laid) (h abi.History, err error) {
	if err := checkHistory(&ask); err != nil {
		return h, err
	}
	h.Laid = l.Changed
	if h.Head, err = r.head(ctx, 0); err != nil {
		return h, err
	}
	for end := ask.Before; len(h.Messages) < ask.Limit; {
		msgs, err := Said(ctx, r.journal, r.name, journal.Span{Before: end, Limit: ask.Limit - len(h.Messages), Newest: true})
		if err != nil {
			return h, journal.Coded(err)
		}
		if len(msgs) == 0 {
			break
		}
		part := l.Over(msgs)
		h.Messages = slices.Concat(part, h.Messages)
		if end = part[0].Seq; end <= 1 {
			break
		}
	}
	if h.Messages == nil {
		h.Messages = []abi.Message{}
	}
	return within(h, ask.Budget), nil
}

// ToldBy reads messages in order as minds were told them when the room was as far as head, under what
// was laid then.
func ToldBy(ctx context.Context, j journal.Journal, room string, s journal.Span, head uint64, l Laid) (Page, error) {
	if s.Newest {
		return Page{}, fmt.Errorf("read what was told: the newest cannot be asked for")
	}
	p, err := SaidBy(ctx, j, room, s, head)
	if err != nil {
		return p, err
	}
	p.Messages = slices.DeleteFunc(l.Over(p.Messages), func(m abi.Message) bool { return m.Seq <= s.After })
	return p, nil
}
