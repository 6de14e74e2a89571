package room

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// somebody is who said STOP under a name that is another's.
const somebody = "somebody"

func (r *Room) handleStop(from string) (seq uint64, err error) {
	if err := r.closed(); err != nil {
		return 0, err
	}
	if abi.CheckName("from", from) != nil || r.mayBe(from, abi.KindHuman) != nil {
		from = somebody // STOP is obeyed whatever its speaker is called
	}
	r.breakOff() // what was heard is said
	r.running.Stop()
	for _, w := range slices.Clone(r.m.State.Requests) { // nobody is to wait for these
		r.must(r.m.Input(entry.KindDue, r.now(), entry.Due{What: entry.DueStale, Of: w.Seq}))
	}
	if r.trouble != nil {
		return 0, DoorError(r.trouble)
	}
	seq = r.m.State.Head + 1
	r.must(r.m.Input(entry.KindStop, r.now(), entry.Stop{From: from}))
	return seq, nil
}
