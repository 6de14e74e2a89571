package reader

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// Kept gives what a companion perceived that was kept and is still to be judged, oldest
// first. An image comes without its bytes, of which the journal has the hash alone.
func (r Room) Kept(ctx context.Context, who string) (all []abi.Percept, err error) {
	st, _, err := Fold(ctx, r.journal, r.name)
	if err != nil {
		return nil, journal.Coded(err)
	}
	for _, p := range st.Perceived {
		if p.Who != who {
			continue
		}
		e, err := r.entry(ctx, p.Seq)
		if err != nil {
			return nil, err
		}
		b, err := entry.Decode[entry.Perceived](e)
		if err != nil {
			return nil, abi.Wrap(abi.CodeInternal, err, fmt.Sprintf("read entry %d", p.Seq))
		}
		all = append(all, abi.Percept{Seq: e.Seq, Title: b.Title, Format: b.Format, Body: b.Body, MediaType: b.MediaType, From: b.From, At: e.At, Game: b.Game, Force: b.Force, Answers: b.Answers, Key: b.Key})
	}
	return all, nil
}
