package handler

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// mostShown is how much waits to be shown to a handler; more, and the oldest is left out.
const mostShown = 256

// show tells a handler what a room shows of a companion.
type show struct {
	stage     *Stage
	now       *atomic.Pointer[post]
	companion string
	log       *slog.Logger

	mu      sync.Mutex
	waiting []abi.Shown
	lost    bool // the log was told that some were left out
	more    chan struct{}
}

// newShow begins to show, beside, until ctx ends.
func (s *Stage) newShow(ctx context.Context, beside *sync.WaitGroup, talk rooms.Room, now *atomic.Pointer[post], companion string, log *slog.Logger) *show {
	w := &show{stage: s, now: now, companion: companion, log: log, more: make(chan struct{}, 1)}
	beside.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.more:
				w.tell(ctx, talk.Name())
			}
		}
	})
	return w
}

// take takes an entry.
func (w *show) take(e entry.Entry) {
	some := shown(e, w.companion)
	if len(some) == 0 || !w.now.Load().answers(abi.OpShow) {
		return
	}
	w.mu.Lock()
	w.waiting = append(w.waiting, some...)
	over := len(w.waiting) - mostShown
	if over > 0 {
		w.waiting = w.waiting[over:]
	}
	say := over > 0 && !w.lost
	w.lost = w.lost || over > 0
	w.mu.Unlock()
	if say {
		w.log.Warn("a handler is too slow for what it is shown; the oldest is left out")
	}
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// tell shows what waits.
func (w *show) tell(ctx context.Context, room string) {
	w.mu.Lock()
	some := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	if len(some) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	p := w.now.Load()
	showing := abi.Showing{Companion: w.companion, Name: w.companion, Shown: some, Settings: p.settings}
	for _, c := range w.stage.cfg.Companions() {
		if c.ID() == w.companion {
			showing.Name = c.Describe().Name
			if card := c.Card(); card != nil {
				showing.Voice = card.Voice
			}
		}
	}
	_, err := w.stage.call(ctx, p, abi.OpShow, room, showing)
	if err != nil && ctx.Err() == nil {
		w.log.Info("a handler failed when it was shown something", "error", p.why(err))
	}
}

// shown gives what an entry shows of a companion.
func shown(e entry.Entry, companion string) []abi.Shown {
	is := func(who string, s abi.Shown) []abi.Shown {
		if who != companion {
			return nil
		}
		s.Seq, s.At = e.Seq, e.At
		return []abi.Shown{s}
	}
	switch e.Kind {
	case entry.KindSegment:
		if b, err := entry.Decode[entry.Segment](e); err == nil {
			return is(b.Who, abi.Shown{Kind: abi.ShowPiece, Line: b.Grant, Part: b.N, Text: b.Text, Emotion: word(b.Emotion), Seconds: seconds(b.Voice)})
		}
	case entry.KindSaid:
		if b, err := entry.Decode[entry.Said](e); err == nil && b.From == companion && b.Kind == abi.KindTurn {
			return said(e, b)
		}
	case entry.KindSound:
		if b, err := entry.Decode[entry.Sound](e); err == nil {
			return is(b.Who, abi.Shown{Kind: abi.ShowSound, Line: b.Line, Part: b.Part, Seconds: b.Seconds, Sound: sound(b)})
		}
	case entry.KindPlayed:
		if b, err := entry.Decode[entry.Played](e); err == nil && b.Seconds > 0 {
			return is(b.Who, abi.Shown{Kind: abi.ShowStarts, Line: b.Line, Part: b.Part, Seconds: b.Seconds})
		}
	case entry.KindHeard:
		if b, err := entry.Decode[entry.Heard](e); err == nil {
			return is(b.Who, abi.Shown{Kind: abi.ShowEnd, Line: b.Line, End: string(b.End), Text: b.Text})
		}
	case entry.KindAction:
		if b, err := entry.Decode[entry.Action](e); err == nil {
			return is(b.Who, abi.Shown{Kind: abi.ShowAction, ID: b.ID, Action: b.Action, Parameters: b.Parameters})
		}
	case entry.KindStop:
		return is(companion, abi.Shown{Kind: abi.ShowStop})
	}
	return nil
}

// said gives what a message of the companion's shows: the end of a line in parts, or a line in one part, and that it is
// over where no body says it.
func said(e entry.Entry, b entry.Said) (all []abi.Shown) {
	one := abi.Shown{Seq: e.Seq, At: e.At, Line: cmp.Or(b.Grant, e.ID)}
	if b.Segments == 0 {
		one.Kind, one.Part, one.Text, one.Seconds = abi.ShowPiece, 1, b.Text, seconds(b.Voice)
		one.Emotion = word(cmp.Or(b.Emotion, string(emotion.Of(b.Parameters))))
		all = append(all, one)
	}
	all = append(all, abi.Shown{Kind: abi.ShowWhole, Seq: e.Seq, At: e.At, Line: one.Line, Part: max(1, b.Segments), Text: b.Text})
	if !b.Played {
		end := cmp.Or(b.Ends, entry.EndSaid)
		if b.Broken != "" && b.Ends == "" {
			end = entry.EndFailed
		}
		all = append(all, abi.Shown{Kind: abi.ShowEnd, Seq: e.Seq, At: e.At, Line: one.Line, End: string(end), Text: b.Text})
	}
	return all
}

// sound gives a sound as handlers know it.
func sound(b entry.Sound) *abi.Sound {
	s := &abi.Sound{Companion: b.Who, Line: b.Line, Part: b.Part, Blob: abi.BlobRef{Hash: b.Blob}, Seconds: b.Seconds, Failed: b.Failed}
	if b.Mouth != "" {
		s.Mouth = abi.BlobRef{Hash: b.Mouth}
	}
	return s
}

func word(name string) string { return string(emotion.Named(name)) }

func seconds(voice []entry.Beat) float64 {
	var ms int64
	for _, b := range voice {
		ms += b.MS
	}
	return float64(ms) / 1000
}
