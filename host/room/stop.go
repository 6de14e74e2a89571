package room

import (
	"context"
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
	r.running.stop()
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

// running are the calls that run for a line or a perception, by id, and what ends
// each. A STOP ends them all; the loop alone uses it.
type running map[string]context.CancelFunc

func (c running) has(call string) bool { _, ok := c[call]; return ok }

// begin gives the context of a call, which has ended already where a STOP came
// between.
func (c running) begin(ctx context.Context, call string) context.Context {
	during, end := context.WithCancel(ctx)
	if !c.has(call) {
		end()
		return during
	}
	c[call] = end
	return during
}

// over forgets a call that has ended.
func (c running) over(call string) {
	if end := c[call]; end != nil {
		end()
	}
	delete(c, call)
}

func (c running) stop() {
	for call := range c {
		c.over(call)
	}
}
