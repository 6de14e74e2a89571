package face

import (
	"context"
	"time"
)

// Frames is how many poses a second are put while a face moves.
const Frames = 30

const frame = time.Second / Frames

// Play puts the pose of the face where it is seen, until ctx ends: at once, at once whenever it changes, Frames times
// a second while the mouth follows a timeline or put says that something still moves, and every idle after that, where
// idle is not 0. One Play of a face runs at a time.
func (f *Face) Play(ctx context.Context, idle time.Duration, put func(at time.Time, p Pose) (moves bool)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last Pose
	var due time.Time   // the next frame of a face that moves
	var again time.Time // when one that does not is put again
	for begun := false; ; begun = true {
		now := time.Now()
		p := f.Pose(now)
		turns := p != last && (!p.Talks || !last.Talks || p.Worn != last.Worn) // else the next frame has it
		if !begun || turns || !now.Before(due) && !due.IsZero() || idle > 0 && !now.Before(again) {
			moves := put(now, p)
			last, again = p, now.Add(idle)
			switch {
			case !p.Talks && !moves:
				due = time.Time{}
			case due.IsZero() || now.Sub(due) >= frame: // it begins, or comes too late for several
				due = now.Add(frame)
			case !now.Before(due):
				due = due.Add(frame)
			}
		}
		if wait, ok := f.wait(now, due, again, idle > 0); ok {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-f.changed:
		case <-timer.C:
		}
	}
}

// wait gives how long Play waits; ok is false where nothing comes by itself.
func (f *Face) wait(now, due, again time.Time, idles bool) (d time.Duration, ok bool) {
	d, ok = f.rest(now)
	sooner := func(at time.Time) {
		if left := at.Sub(now); !ok || left < d {
			d, ok = left, true
		}
	}
	if !due.IsZero() {
		sooner(due)
	}
	if idles {
		sooner(again)
	}
	return d, ok
}
