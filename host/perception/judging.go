package perception

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// Judging is what a companion is asked to judge, one perception or several in a row.
type Judging struct {
	Who  string
	Call string                  // id of the request that it is judged with
	All  []abi.Percept           // oldest first, one at least
	Kept bool                    // they wait in the journal until they are judged
	Tell func(abi.Judged, error) // who waits for the judgement
}

// Newest is the one that is asked about; the others are told beside it.
func (p Judging) Newest() abi.Percept { return p.All[len(p.All)-1] }

// Lost says that it is an image which was kept: of those the journal has no bytes.
func (p Judging) Lost() bool {
	x := p.Newest()
	return p.Kept && x.Format == card.FormatImage && len(x.Image) == 0
}

// Seqs gives the seqs of their entries.
func (p Judging) Seqs() (all []uint64) {
	for _, x := range p.All {
		all = append(all, x.Seq)
	}
	return all
}

// Ended is an error of perceptions that the journal says are over, of others it is as it was.
func (p Judging) Ended(err error) error {
	if err == nil || !p.Kept {
		return err
	}
	return &Ended{Seqs: p.Seqs(), Cause: err}
}

// Over says that some of what was kept waits no more, nil where all of it does.
func (p Judging) Over(waits func(seq uint64, who string) bool) error {
	p.All = slices.DeleteFunc(slices.Clone(p.All), func(x abi.Percept) bool { return waits(x.Seq, p.Who) })
	if len(p.All) == 0 {
		return nil
	}
	return p.Ended(abi.Errorf(abi.CodeDenied, "a human said STOP, or the room was closed, before it was judged"))
}
