package compress

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/rooms"
)

// This file is what nobody asked for: the configuration asks where what minds are told of a room has become long, and
// approves what is verified where it says so. Whatever it goes by is in the room's journal, so that after a
// restart nothing is asked for twice.

// least is the least share of a history at which anything is asked for, whatever a room's configuration says.
const least = .3

// maxResting is of how many rooms it is remembered that nothing is to be asked for yet.
const maxResting = 1024

// Used hears what a model was told in a room. Where that has become long, turns may be asked for. It does not wait.
func (s *Service) Used(room string, u entry.Usage) {
	if u.Told == nil || !full(*u.Told, least) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || s.ctx.Err() != nil || s.asking[room] || u.Told.Head < s.resting[room] {
		return
	}
	s.asking[room] = true
	heard := s.heard
	s.running.Go(func() {
		until, err := s.ask(s.ctx, room, *u.Told)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asking, room)
		if err != nil && s.ctx.Err() == nil {
			s.cfg.Log.Warn("turns of a long talk cannot be asked for", "room", room, "err", err)
		}
		if until > 0 && s.heard == heard { // else something happened meanwhile that was not looked at
			if len(s.resting) >= maxResting {
				clear(s.resting)
			}
			s.resting[room] = until
		}
	})
}

// standing gives what the configuration says of a room.
func (s *Service) standing(ctx context.Context, room string) history.Standing {
	if s.cfg.Standing == nil {
		return history.Standing{}
	}
	return s.cfg.Standing(ctx, room)
}

// full says whether as much of a history was told as a share of what may be. Where some was left out, all was.
func full(t entry.Told, share float64) bool {
	return t.History > 0 && (t.Left || float64(t.Parts["history"]) >= share*float64(t.History))
}

// ask asks for turns of a room, if there are any to ask for. It answers the entry before which that need not be looked
// at again; 0 where that is not known.
func (s *Service) ask(ctx context.Context, room string, told entry.Told) (until uint64, err error) {
	st := s.standing(ctx, room)
	if !st.Asks() || !full(told, st.At) {
		return 0, nil
	}
	later := told.Head + history.Rest // where it cannot be known now
	talk, err := s.cfg.Rooms.Room(ctx, room)
	if err != nil {
		return later, err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return later, err
	}
	n, err := talk.Turns(ctx)
	if err != nil {
		return later, err
	}
	if due := book.Due(); n < due {
		return told.Head + due - n, nil // a turn is an entry at least
	}
	in, ok, err := s.wish(ctx, talk, book, n, st)
	if err != nil || !ok {
		return later, err
	}
	if book.Refuses(in) != nil { // something is open: it is over with an entry that Told is told of
		return math.MaxUint64, nil
	}
	if _, err = talk.Happens(ctx, in); abi.CodeOf(err) == abi.CodeConflict {
		return 0, nil // somebody was first
	}
	return later, err
}

// wish is what the configuration asks for: what came behind all that was compressed before. Once more stands in that than
// is new, it is compressed again with this, to no more than half: else what is told in few words would
// fill the history at last. Where what its policy names has no room in half of that, fewer turns are asked for, of which it has; where there are
// none, it is asked for once all the same: then it fails at once, before anybody drafts, and says why. ok is false where that was said, or was tried twice
// and there is not much more room for it now.
func (s *Service) wish(ctx context.Context, talk rooms.Room, book history.Book, n uint64, st history.Standing) (in history.Input, ok bool, err error) {
	r, before, _ := book.Next(n)
	for len(before) > 0 && r.To-before[0].Ask.Turns.From >= MaxTurns {
		before = before[1:] // it stays as it is
	}
	w := wished{talk: talk, policy: st.Policy, least: 0}
	if err = w.take(ctx, r); err != nil {
		return in, false, err
	}
	if err = w.with(ctx, before); err != nil {
		return in, false, err
	}
	ask := s.terms(talk.Name(), history.Ask{Turns: w.r, Policy: st.Policy, Auto: st.Mode == history.ModeAuto, Compresser: st.Compresser, Verifier: st.Verifier})
	ask.Length = s.bounded(ask, w)
	if upto := w.roomy(ask.Length); upto > 0 {
		w.cut(upto)
		ask.Turns.To = upto
		ask.Length = s.bounded(ask, w)
	}
	times, longest := book.Refusals(ask.Turns.From, ask.Policy)
	if times > 0 { // the next has more room
		w.least = max(w.least, longest+longest/2)
		ask.Length = s.bounded(ask, w)
	}
	if times > 1 && 2*ask.Length.N < 3*longest {
		return in, false, nil
	}
	if !fits(w.named, ask.Length) {
		if said(book, ask) {
			return in, false, nil
		}
		s.cfg.Log.Info("turns of a long talk are not compressed: their policy names too much of them", "room", talk.Name(), "turns", ask.Turns.String(), "characters", letters(w.named, history.Characters), "length", ask.Length.N)
	}
	ask.Look = ask.Auto && book.TakenOff(ask.Turns)
	return history.Input{Kind: history.Propose, Proposal: s.cfg.NewID(), By: history.Configuration, Turn: n, Ask: &ask}, true, nil
}

// bounded is how long a draft of what is wished may be: no longer than its verifier has room for, which would refuse it.
func (s *Service) bounded(ask history.Ask, w wished) history.Length {
	l := usual(w.turns, w.named, w.least)
	if w.laid > 0 { // of what was compressed already
		l.N = max(l.N, shortest, w.fresh/share+w.laid/2)
	}
	if s.cfg.Longest != nil {
		if most, known := s.cfg.Longest(ask.Verifier, ask.Policy); known {
			l.N = max(1, min(l.N, int(float64(most)/perLetter(w.turns, l.Unit))))
		}
	}
	return l
}

// crowded is what a proposal of the configuration fails with that has no room for what its policy names.
const crowded = "which has no room in half of what they say"

// said says whether that was said already of turns that begin as these do.
func said(book history.Book, ask history.Ask) bool {
	return slices.ContainsFunc(book.Proposals, func(p history.Proposal) bool {
		return p.Own() && p.State == history.Failed && p.Ask.Turns.From == ask.Turns.From && p.Ask.Policy == ask.Policy && strings.Contains(p.Why, crowded)
	})
}

// wished are turns that the configuration may ask for, and what its policy names of them.
type wished struct {
	talk        rooms.Room
	policy      string
	r           history.Range
	turns       []abi.PastTurn
	named       []abi.KeepItem
	fresh, laid int // letters, of what is new and of what was compressed before
	least       int // letters that a draft may come to at least
}

// take reads turns: of those of which the policy names more than a draft is held to, the first; the rest comes with the next.
func (w *wished) take(ctx context.Context, r history.Range) error {
	past, err := w.talk.Past(ctx, r, false)
	if err != nil {
		return err
	}
	w.r, w.turns = r, seen(past.Turns)
	if w.named, err = keep.Named(ctx, w.turns, w.policy); err != nil {
		return err
	}
	if len(w.named) > abi.MaxKeep {
		if upto := w.named[abi.MaxKeep].Turn - 1; upto >= r.From {
			return w.take(ctx, history.Range{From: r.From, To: upto})
		}
	}
	w.fresh = characters(w.turns)
	return nil
}

// with takes what is laid before these turns, where that says more than they do and the policy names no more of all than a draft is held to.
func (w *wished) with(ctx context.Context, before []history.Proposal) error {
	laid := 0
	for _, p := range before {
		d, err := w.talk.Draft(ctx, p.Draft().Seq)
		if err != nil {
			return err
		}
		laid += utf8.RuneCountInString(d.Text)
	}
	if laid <= w.fresh {
		return nil
	}
	all := history.Range{From: before[0].Ask.Turns.From, To: w.r.To}
	past, err := w.talk.Past(ctx, all, false)
	if err != nil {
		return err
	}
	turns := seen(past.Turns)
	named, err := keep.Named(ctx, turns, w.policy)
	if err == nil && len(named) <= abi.MaxKeep { // else it stays in two
		w.r, w.turns, w.named, w.laid = all, turns, named, laid
	}
	return err
}

// roomy gives the last of the fewer turns, of new ones alone, in half of which all has room that the policy names of them; 0 where it has in all of them,
// or in no [history.Rest] of them.
func (w *wished) roomy(l history.Length) (upto uint64) {
	if w.laid > 0 || fits(w.named, l) {
		return 0
	}
	all, need, named := 0, 0, w.named
	for _, t := range w.turns {
		all += utf8.RuneCountInString(t.Text)
		for ; len(named) > 0 && named[0].Turn <= max(t.N, t.Upto); named = named[1:] {
			need += utf8.RuneCountInString(named[0].Text)
		}
		if t.N >= w.r.From+history.Rest-1 && need <= min(max(all/2, shortest), max(l.N, shortest)) {
			upto = max(t.N, t.Upto)
		}
	}
	return upto
}

// cut leaves of what is wished the turns up to one.
func (w *wished) cut(upto uint64) {
	w.r.To = upto
	w.turns = slices.DeleteFunc(slices.Clone(w.turns), func(t abi.PastTurn) bool { return t.N > upto })
	w.named = slices.DeleteFunc(slices.Clone(w.named), func(k abi.KeepItem) bool { return k.Turn > upto })
	w.fresh = characters(w.turns)
}

// stand approves a draft that the configuration asked for, where it is still its word. One by another policy, or for which it
// had not given its word yet, is in the way of what it would ask for now; where a person is to approve, it waits.
func (s *Service) stand(ctx context.Context, talk rooms.Room, p history.Proposal) error {
	st := s.standing(ctx, talk.Name())
	in := history.Input{Kind: history.Approve, Proposal: p.ID, By: history.Configuration}
	switch d := p.Draft(); {
	case st.Mode != history.ModeAuto || d == nil || d.By != p.Ask.Compresser || d.VerifiedBy != p.Ask.Verifier:
		return nil // somebody else had a hand in it, or is to approve it
	case p.Ask.Look && p.Ask.Auto && p.Ask.Policy == st.Policy:
		return nil // a person has to look
	case !st.Approves(p):
		in.Kind, in.Why = history.Deny, "the configuration has changed since it was asked for"
	}
	_, err := talk.Happens(ctx, in)
	if in.Kind == history.Approve && abi.CodeOf(err) == abi.CodeStale {
		in.Kind, in.Why = history.Deny, abi.AsError(err).Message
		_, err = talk.Happens(ctx, in)
	}
	if abi.CodeOf(err) == abi.CodeConflict {
		return nil // a person was first
	}
	return err
}
