// Package retention takes the bodies of what led to nothing out of the journal once
// they are old: of votes, of rounds, and of perceptions that nobody spoke or acted
// on. It never touches what was said, decided or done, and never an entry that a
// room, or a fork that shares it, still needs to know its state.
package retention

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

const (
	// every is how long lies between two looks at all rooms.
	every = 10 * time.Minute
	// settles is how long it takes at most until all that a perception leads to is
	// written down. Anything younger is left alone.
	settles = time.Hour
	// batch is how many entries are looked through in one go, and pause how long the
	// journal is left to the rooms afterwards.
	batch = 200
	pause = 50 * time.Millisecond
)

// Run looks through all rooms until ctx ends, and takes out bodies that are older
// than after. 0 keeps everything.
func Run(ctx context.Context, j journal.Journal, after time.Duration, log *slog.Logger) error {
	if after == 0 {
		<-ctx.Done()
		return nil
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		taken, err := Sweep(ctx, j, time.Now().Add(-max(after, settles)))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			log.Warn("bodies of old entries cannot be taken out now; it is tried again", "err", err)
		case taken > 0:
			log.Info("bodies of old entries were taken out", "entries", taken)
		}
		timer.Reset(every)
	}
}

// Sweep goes through all rooms once, takes out bodies of before a time, and tells how
// many they were. A room that cannot be read holds none of the others up.
func Sweep(ctx context.Context, j journal.Journal, before time.Time) (taken int, trouble error) {
	for r, err := range journal.AllRooms(ctx, j) {
		if err != nil {
			return taken, fmt.Errorf("list rooms: %w", err)
		}
		r.Swept = max(r.Swept, r.Fork.At) // what a fork shares is the other room's business
		if r.Swept == r.Head.Seq {
			continue
		}
		n, err := sweepRoom(ctx, j, r, before)
		if taken += n; err != nil {
			trouble = fmt.Errorf("room %s: %w", r.Name, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return taken, trouble
}

// sweepRoom takes bodies out of a room's entries of before a time. It goes no
// further than the room's snapshot: the state is folded from what comes after it.
func sweepRoom(ctx context.Context, j journal.Journal, r journal.Room, before time.Time) (taken int, err error) {
	needed, _, err := j.GetSnapshot(ctx, r.Name)
	if err != nil || needed <= r.Swept {
		return 0, err
	}
	if first, err := j.Read(ctx, r.Name, r.Swept, 1); err != nil || len(first) == 0 || !first[0].At.Before(before) {
		return 0, err
	}
	b := broom{before: before, needed: needed, passed: r.Swept, bodies: map[uint64][]byte{}}
	if err := b.share(ctx, j, r.Name, needed); err != nil || b.needed <= r.Swept {
		return 0, err
	}
	for at := r.Swept; ; {
		read, err := j.Read(ctx, r.Name, at, batch)
		if err != nil {
			return taken, err
		}
		for _, e := range read {
			if at = e.Seq; b.done(e) {
				read = nil
				break
			}
			if err := b.pass(e); err != nil {
				return taken, fmt.Errorf("entry %d: %w", e.Seq, err)
			}
		}
		over := len(read) < batch
		if over {
			b.settled(time.Now())
		}
		if swept := b.swept(); swept > r.Swept || len(b.bodies) > 0 {
			if err := j.Blank(ctx, r.Name, swept, b.bodies); err != nil {
				return taken, err
			}
			taken, r.Swept = taken+len(b.bodies), swept
			clear(b.bodies)
		}
		if over {
			return taken, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return taken, nil
		}
	}
}

// broom goes over a room's entries once, in order.
type broom struct {
	before    time.Time
	needed    uint64   // seq of the snapshot, or of an older one from which a fork is folded
	parted    []uint64 // where forks parted
	passed    uint64   // the newest entry that is old enough, or was looked at before
	perceived []perceived
	bodies    map[uint64][]byte // what goes, and what stays of it
}

// perceived is a perception of which it is not known yet what it led to.
type perceived struct {
	seq   uint64
	at    time.Time
	who   string
	waits bool // until it is judged, however long that takes
}

// done says whether nothing that is looked for can come from an entry on.
func (b *broom) done(e entry.Entry) bool {
	if b.old(e) {
		return false
	}
	return len(b.perceived) == 0 || e.At.After(b.perceived[len(b.perceived)-1].at.Add(settles))
}

func (b *broom) old(e entry.Entry) bool { return e.Seq <= b.needed && e.At.Before(b.before) }

// pass goes over an entry.
func (b *broom) pass(e entry.Entry) error {
	b.settled(e.At)
	b.ledTo(e)
	b.ends(e)
	defer b.part(e)
	if !b.old(e) {
		return nil
	}
	b.passed = e.Seq
	switch {
	case e.Blank:
	case e.Kind == entry.KindVote:
		b.bodies[e.Seq] = nil
	case e.Kind == entry.KindRound:
		var left struct {
			About uint64 `json:"about"` // so that a decision can still tell
		}
		if err := json.Unmarshal(e.Body, &left); err != nil {
			return err
		}
		b.bodies[e.Seq], _ = json.Marshal(left) // a number always encodes
	case e.Kind == entry.KindPerceived:
		var p entry.Perceived
		if err := json.Unmarshal(e.Body, &p); err != nil {
			return err
		}
		b.perceived = append(b.perceived, perceived{e.Seq, e.At, p.Who, p.Kept})
	}
	return nil
}

// settled takes the perceptions that would have led to something by now.
func (b *broom) settled(now time.Time) {
	for len(b.perceived) > 0 && !b.perceived[0].waits && now.Sub(b.perceived[0].at) > settles {
		b.bodies[b.perceived[0].seq] = nil
		b.perceived = b.perceived[1:]
	}
}

// ends notes which perceptions that were kept wait no more. Those that somebody wants to speak about
// led to something.
func (b *broom) ends(e entry.Entry) {
	var ended []uint64
	switch e.Kind {
	case entry.KindJudged:
		j, err := entry.Decode[entry.Judged](e)
		if err == nil && j.Wish != 0 {
			b.perceived = slices.DeleteFunc(b.perceived, func(p perceived) bool { return slices.Contains(j.Perceptions, p.seq) })
		}
		ended = j.Perceptions
	case entry.KindFailed:
		f, _ := entry.Decode[entry.Failed](e)
		ended = []uint64{f.Perception}
	case entry.KindStop, entry.KindArchived:
		for _, p := range b.perceived {
			ended = append(ended, p.seq)
		}
	}
	for i, p := range b.perceived {
		b.perceived[i].waits = p.waits && !slices.Contains(ended, p.seq)
	}
}

// swept is up to where everything was looked at, and nothing is open.
func (b *broom) swept() uint64 {
	if len(b.perceived) > 0 {
		return b.perceived[0].seq - 1
	}
	return b.passed
}

// ledTo strikes out the perceptions that an entry came of. An action of the first
// version does not say which of its companion's it was: it may be any before it.
func (b *broom) ledTo(e entry.Entry) {
	var by struct {
		Who        string          `json:"who"`
		Perception json.RawMessage `json:"perception"` // a seq, or of an action the title
		Perceived  uint64          `json:"perceived"`
	}
	if e.Kind != entry.KindWish && e.Kind != entry.KindAction || e.Blank || json.Unmarshal(e.Body, &by) != nil {
		return
	}
	seq := by.Perceived
	if e.Kind == entry.KindWish {
		_ = json.Unmarshal(by.Perception, &seq)
	}
	any := e.V < 2 && e.Kind == entry.KindAction && len(by.Perception) > 0
	b.perceived = slices.DeleteFunc(b.perceived, func(p perceived) bool { return p.seq == seq || any && p.who == by.Who })
}
