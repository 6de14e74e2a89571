package face

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

// put is what was put, and when.
type put struct {
	at time.Duration
	p  Pose
}

// played runs do beside a Play, in fake time, and gives what was put.
func played(t *testing.T, o Options, idle time.Duration, moves func(at time.Duration) bool, do func(f *Face)) (all []put) {
	synctest.Test(t, func(t *testing.T) {
		f := New(o)
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Play(ctx, idle, func(now time.Time, p Pose) bool {
				all = append(all, put{now.Sub(begun), p})
				return moves != nil && moves(now.Sub(begun))
			})
		}()
		synctest.Wait()
		do(f)
		synctest.Wait()
		cancel()
		<-done
	})
	return all
}

// now shows something now.
func now(f *Face, all ...abi.Shown) {
	_ = f.Show(time.Now(), abi.Showing{Companion: "aya", Shown: all}, get)
}

// The mouth is put thirty times a second while it talks, shut once, and no more.
func TestThirtyFrames(t *testing.T) {
	all := played(t, Options{}, 0, nil, func(f *Face) {
		time.Sleep(time.Second)
		now(f, piece("l1", 1, "", "a"), sound("l1", 1, 2, v(2000, 1, "a")), starts("l1", 1))
		time.Sleep(10 * time.Second)
	})
	var talks []put
	for _, x := range all {
		if x.p.Talks {
			talks = append(talks, x)
		}
	}
	if len(talks) != 60 && len(talks) != 61 {
		t.Fatalf("%d frames in two seconds", len(talks))
	}
	if talks[0].at != time.Second {
		t.Errorf("the first at %v", talks[0].at)
	}
	for i := range talks[1:] {
		if d := talks[i+1].at - talks[i].at; d != frame {
			t.Errorf("frame %d comes %v later", i+1, d)
		}
	}
	last := all[len(all)-1]
	if last.p.Talks || last.p.Open != 0 || last.at < 3*time.Second || last.at > 3*time.Second+frame {
		t.Errorf("it ends with %+v", last)
	}
	if n := len(all) - len(talks); n != 2 { // one at the very start, one that shuts it
		t.Errorf("%d others", n)
	}
}

// A mouth that stands still in a timeline is put all the same.
func TestStillFramesArePut(t *testing.T) {
	all := played(t, Options{}, 0, nil, func(f *Face) {
		now(f, sound("l1", 1, 3, v(3000, 0, "n")), starts("l1", 1))
		time.Sleep(3 * time.Second)
	})
	if len(all) < 90 {
		t.Errorf("%d frames", len(all))
	}
}

func TestEndShutsBetweenFrames(t *testing.T) {
	all := played(t, Options{}, 0, nil, func(f *Face) {
		now(f, sound("l1", 1, 5, v(5000, 1, "a")), starts("l1", 1))
		time.Sleep(1234 * time.Millisecond)
		now(f, end("l1"))
		time.Sleep(time.Hour)
	})
	if last := all[len(all)-1]; last.at != 1234*time.Millisecond || last.p.Open != 0 || last.p.Talks {
		t.Errorf("%+v", last)
	}
}

// One that does not move is put every idle, and nothing else is.
func TestIdle(t *testing.T) {
	all := played(t, Options{}, time.Second, nil, func(*Face) { time.Sleep(5500 * time.Millisecond) })
	if len(all) != 6 {
		t.Fatalf("%d times: %v", len(all), all)
	}
	for i, x := range all {
		if x.at != time.Duration(i)*time.Second {
			t.Errorf("%d at %v", i, x.at)
		}
	}
	if all := played(t, Options{}, 0, nil, func(*Face) { time.Sleep(time.Hour) }); len(all) != 1 {
		t.Errorf("without idle %d times", len(all))
	}
}

// An emotion is taken off when its rest is over, with nobody asking.
func TestRestWakes(t *testing.T) {
	all := played(t, Options{Rest: 2500 * time.Millisecond}, 0, nil, func(f *Face) {
		now(f, piece("l1", 1, "happy", "a"), end("l1"))
		time.Sleep(time.Hour)
	})
	if len(all) != 3 || all[1].p.Emotion != "happy" || all[1].at != 0 || all[2].p.Emotion != Neutral || all[2].at != 2500*time.Millisecond {
		t.Errorf("%+v", all)
	}
}

// Where put says that something moves, frames go on until it says no more.
func TestWhatStillMoves(t *testing.T) {
	all := played(t, Options{}, 0, func(at time.Duration) bool { return at < 500*time.Millisecond }, func(*Face) { time.Sleep(time.Hour) })
	if len(all) != 17 || all[16].at < 500*time.Millisecond || all[15].at > 500*time.Millisecond {
		t.Errorf("%d frames, the last at %v", len(all), all[len(all)-1].at)
	}
}

// Things that are shown while it talks do not move its frames.
func TestFramesKeepTheirGrid(t *testing.T) {
	all := played(t, Options{}, 0, nil, func(f *Face) {
		now(f, sound("l1", 1, 1, v(1000, 1, "a")), starts("l1", 1))
		for range 20 {
			time.Sleep(47 * time.Millisecond)
			now(f, abi.Shown{Kind: abi.ShowAction, Action: "wave"})
		}
		time.Sleep(time.Second)
	})
	for _, x := range all {
		if x.p.Talks && x.at%frame > time.Microsecond && x.p.Open == 1 {
			t.Errorf("a frame at %v", x.at)
		}
	}
}
