package forget

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/scrub"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/turn"
)

// What companions are about to say when a room is gone through, they make of what was there before. An order
// waits for it, and is looked after once more later. What people say anew stays: nobody takes words out
// that came when the order was done.

const (
	// making is how long an order waits for lines in the making: longer than one may take that
	// is not streamed, and less than those wait who gave the order.
	making = 45 * time.Second
	look   = 100 * time.Millisecond
	// rounds is how often the rooms are gone through again at most.
	rounds = 50
	// tardy is how long it waits for votes in rounds that are decided: of those that never come
	// nobody hears.
	tardy = 15 * time.Second
)

// settle waits until nothing is in the making that began before the rooms were gone through, and the modules
// made anew; then the rooms where something was are gone through again, and so on until nothing more is found: what was found
// may have been told to whoever votes or speaks next.
func (s *Service) settle(ctx context.Context, w *work) error {
	if s.rooms == nil {
		return s.bound(ctx, w)
	}
	until := time.Now().Add(making)
	for round, found := 0, -1; found != w.found && round < rounds && (round == 0 || time.Now().Before(until)); round++ {
		busy, err := s.made(ctx, w, until)
		if err != nil {
			return err
		}
		found, w.only = w.found, busy
		err = s.eraseRooms(ctx, w)
		w.only = nil
		if err == nil {
			err = s.eraseMemory(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return s.bound(ctx, w)
}

// made waits until what is in the making is made, and gives the rooms in which something was, or has come.
func (s *Service) made(ctx context.Context, w *work, until time.Time) (map[string]bool, error) {
	heads, busy := map[string]uint64{}, map[string]bool{}
	if err := s.everywhere(ctx, func(r journal.Room) error {
		heads[r.Name] = r.Head.Seq
		busy[r.Name] = r.Head.Seq > w.seen[r.Name]
		return nil
	}); err != nil {
		return nil, err
	}
	w.seen = heads
	for room, grew := range busy {
		for {
			made, head, err := s.makes(ctx, room, heads[room], time.Until(until) > making-tardy)
			if err != nil {
				return nil, err
			}
			grew = grew || made || head > heads[room] // what was in the making may have come since the heads were read
			if !made || time.Now().After(until) {
				break
			}
			select {
			case <-time.After(look):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		busy[room] = grew
	}
	return busy, nil
}

// bound notes where the rooms end: what comes behind that, people say anew.
func (s *Service) bound(ctx context.Context, w *work) error {
	w.ends = map[string]uint64{}
	return s.everywhere(ctx, func(r journal.Room) error { w.ends[r.Name] = r.Head.Seq; return nil })
}

// makes says whether a room has a vote or a line in the making that began at or before an entry, and where the
// room ended when it was looked at; tardy: also a vote in a round that is decided.
func (s *Service) makes(ctx context.Context, room string, upto uint64, tardy bool) (made bool, head uint64, err error) {
	row, found, err := s.cfg.Journal.Room(ctx, room)
	if err != nil || !found || !row.Awake {
		return false, row.Head.Seq, err
	}
	st, _, err := reader.Fold(ctx, s.cfg.Journal, room)
	if err != nil {
		return false, 0, err
	}
	open := func(r *turn.Round) bool { return r != nil && r.ID <= upto }
	superseded := st.Round != nil && slices.ContainsFunc(st.Chain, func(id uint64) bool { return id <= upto })
	return open(st.Round) || st.Floor != nil && st.Floor.By <= upto || tardy && (superseded || open(st.Late) || open(st.Past)), st.Head, nil
}

// late goes once more over what was there when an order was done, and over what companions made of that
// since, and says whether that is done.
func (s *Service) late(ctx context.Context, w work) bool {
	w.late, w.whole, w.lost = true, false, 0
	if s.stopped("late") != nil {
		return false
	}
	for _, step := range []func(context.Context, *work) error{s.eraseRooms, s.eraseMemory, s.eraseStreams} {
		if err := step(ctx, &w); err != nil {
			s.log.Warn("what was said meanwhile cannot be looked through now", "order", w.order.ID, "err", err)
			return false
		}
	}
	if w.lost == 0 {
		w.gone = nil // the index has lost it already
	}
	if err := s.purge(ctx, &w, w.lost > 0); err != nil {
		s.log.Warn("the journal's log cannot be emptied now", "order", w.order.ID, "err", err)
		return false
	}
	if err := s.ledger.Looked(w.order.ID); err != nil {
		s.log.Warn("it cannot be noted that an order was looked after", "order", w.order.ID, "err", err)
	}
	return true
}

// purge has the files lose what was taken out, the index of words first, with anew also between the rows.
func (s *Service) purge(ctx context.Context, w *work, anew bool) (err error) {
	if s.cfg.Words != nil {
		if err := s.cfg.Words.Forget(ctx, w.gone); err != nil {
			return fmt.Errorf("index of words: %w", err)
		}
	}
	for range 5 {
		if err = s.cfg.Journal.Purge(ctx, anew); !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
	}
	return err
}

// resumeLate looks after orders that a daemon did which was ended before it did that. Nobody knows
// the words any more: what was in the making when the room was last gone through goes whole.
func (s *Service) resumeLate(ctx context.Context) error {
	for _, o := range s.ledger.Since("") {
		if o.Ended.IsZero() || o.Looked {
			continue
		}
		w := work{order: o, receipt: *receiptOf(o), whole: true, late: true}
		w.words, _ = scrub.NewGatherer(func(string) bool { return false }, nil).Words(o.ID, o.As)
		if err := s.eraseRooms(ctx, &w); err != nil {
			return err
		}
		if w.lost > 0 {
			if err := s.purge(ctx, &w, true); err != nil {
				return err
			}
		}
		if err := s.ledger.Looked(o.ID); err != nil {
			return err
		}
	}
	return nil
}

// new says whether an entry came when the order was done, and is not a companion's who made it of
// what was there before.
func (t *track) new(e entry.Entry) bool {
	end := t.w.ends[t.room]
	return t.w.late && !t.w.whole && t.st != nil && e.Seq > end && !t.before(e, end)
}

// before says whether a companion made an entry of what was known at a bound.
func (t *track) before(e entry.Entry, bound uint64) bool {
	from := t.madeOf(e)
	return 0 < from && from <= bound
}

// madeOf gives the newest entry that was known when a companion made this one, or began to; 0: none did, or nobody knows. A line is
// begun when it is granted, not when its round was.
func (t *track) madeOf(e entry.Entry) uint64 {
	var b struct {
		By          abi.ParticipantKind
		Basis       uint64
		Line        string
		Round       uint64
		About       uint64
		Perceived   uint64
		Perceptions []uint64
		Told        *struct{ Head uint64 }
	}
	var of struct{ Grant json.RawMessage }
	_ = json.Unmarshal(e.Body, &b)
	_ = json.Unmarshal(e.Body, &of)
	var grant string
	_ = json.Unmarshal(of.Grant, &grant)
	switch e.Kind {
	case entry.KindSaid, entry.KindRefused, entry.KindWish:
		if b.By == abi.KindCompanion || b.By == "" && e.Kind == entry.KindWish {
			return max(b.Basis, t.grants[grant])
		}
	case entry.KindVote, entry.KindDecision:
		return b.Round
	case entry.KindSegment:
		return t.grants[grant]
	case entry.KindFailed:
		return max(b.Round, t.grants[grant])
	case entry.KindHeard, entry.KindHandled, entry.KindSound:
		return t.grants[b.Line]
	case entry.KindUsage:
		if b.Told != nil {
			return b.Told.Head
		}
	case entry.KindJudged:
		if len(b.Perceptions) > 0 {
			return slices.Max(b.Perceptions)
		}
	case entry.KindAction:
		return b.Perceived
	}
	return 0
}

// note notes where a line was granted, where the room was told of the order, and what was there when that was given.
func (t *track) note(e entry.Entry) {
	switch e.Kind {
	case entry.KindDecision:
		if d, err := entry.Decode[entry.Decision](e); err == nil && d.Grant != nil {
			if t.grants == nil {
				t.grants = map[string]uint64{}
			}
			t.grants[d.Grant.Token] = max(e.Seq, d.Grant.Basis)
		}
	case entry.KindForgotten:
		if b, err := entry.Decode[entry.Forgotten](e); err == nil && b.Order == t.w.order.ID {
			t.first, t.last = cmp.Or(t.first, e.Seq), e.Seq
		}
	}
	if !e.At.After(t.w.order.At) {
		t.given = e.Seq
	}
}

// suspect says whether a companion made an entry of what was there before, as far as that can be told when nobody knows the words any
// more: what came when the order was done, and began before the room was last gone through. Where nobody knows how far the order came,
// it is all that came behind where the room was told, for as long as an order is looked after.
func (t *track) suspect(e entry.Entry) bool {
	o, bound := t.w.order, max(t.given, t.last)
	switch {
	case o.Done != nil:
		return !e.At.Before(o.Ended) && t.before(e, bound)
	case t.s.rooms == nil && t.first > 0 && e.Seq > t.first && !e.At.After(o.At.Add(t.s.cfg.Late)):
		return t.madeOf(e) > 0
	case t.s.rooms != nil && t.first == 0: // the words are known
		return false
	}
	return e.Seq > bound && t.before(e, bound)
}

// wholly gives what is left of what a companion may have made of what was there before: none of its words.
func (t *track) wholly(e entry.Entry) (left json.RawMessage, lost bool) {
	if e.Blank || !t.suspect(e) {
		return nil, false
	}
	var who struct{ From, Who, Voter string }
	_ = json.Unmarshal(e.Body, &who)
	name := who.From + who.Who + who.Voter
	if e.Kind == entry.KindDecision {
		return t.decision(e)
	}
	words, _ := scrub.NewGatherer(func(n string) bool { return n == name }, nil).Words(t.w.order.ID, name)
	return words.Entry(e)
}

// decision takes the reasons of votes out of one.
func (t *track) decision(e entry.Entry) (left json.RawMessage, lost bool) {
	var body map[string]any
	if json.Unmarshal(e.Body, &body) != nil {
		return nil, false
	}
	ranking, _ := body["ranking"].([]any)
	for _, c := range ranking {
		if c, ok := c.(map[string]any); ok && c["note"] != nil {
			delete(c, "note")
			lost = true
		}
	}
	body[entry.ErasedKey] = t.w.order.ID
	left, err := json.Marshal(body)
	return left, lost && err == nil
}
