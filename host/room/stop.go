package room

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
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
	if r.terms != nil && r.isAI(from) {
		from = somebody
	}
	r.voice.BreakOff(entry.EndStopped, from+" said STOP") // what went out is said
	r.running.Stop()
	r.giveUp(func(queue.Request) bool { return true })
	if r.loop.Trouble() != nil {
		return 0, r.loop.Trouble()
	}
	seq = r.loop.Input(entry.KindStop, entry.Stop{From: from})
	r.stopTalk(from)
	return seq, nil
}
