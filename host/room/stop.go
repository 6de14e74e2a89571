package room

import (
	"cmp"
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/queue"
)

// somebody is who said STOP under a name that is another's.
const somebody = "somebody"

// human gives who says STOP, or mutes: it is obeyed whatever its speaker is called.
func (r *Room) human(from string) string {
	if abi.CheckName("from", from) != nil || r.mayBe(from, abi.KindHuman) != nil || r.terms != nil && r.isAI(from) {
		return somebody
	}
	return from
}

// Mute has a companion not speak here, or lets it speak again. It hears what is said meanwhile; what it says just now ends. Of one
// that is so already nothing is written down.
//
// # Errors
//
// CodeNotFound for a companion that is not here, with those that are.
func (r *Room) Mute(ctx context.Context, from, who string, on bool) error {
	return loop.Tell(ctx, r.loop, func() error {
		s := r.state()
		if err := cmp.Or(r.closed(), s.CheckMute(who, on)); err != nil || s.IsMuted(who) == on {
			return err
		}
		from = r.human(from)
		if f := s.Floor; on && f != nil && f.Who == who {
			r.voice.BreakOff(entry.EndStopped, from+" muted "+who) // what went out is said
			r.running.Over(r.voice.Call(f))
		}
		if r.loop.Trouble() == nil {
			r.loop.Input(entry.KindMuted, entry.Muted{Who: who, On: on, By: from})
		}
		return nil
	})
}

func (r *Room) handleStop(from string) (seq uint64, err error) {
	if err := r.closed(); err != nil {
		return 0, err
	}
	from = r.human(from)
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
