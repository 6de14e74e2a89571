package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/offer"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// Requests to speak: a line that somebody offers waits in the journal for what it
// needs, and whoever offered it is told how it ended.

// turnPatience is that of a line that is paid for: less than a model takes to try again.
const turnPatience = 3 * time.Second

// errNoTurn says that a line was given up, which can be offered again.
var errNoTurn error = abi.Errorf(abi.CodeConflict, "the line did not get its turn in time")

// Offer is Consume for a member that does not hold the floor: the line waits for what
// the room's policy wants, with an importance of 0..10, and is said when its turn has
// come. Where turns need the floor it takes part in the rounds as a vote to speak, which
// opens one where the room rests. Where turns are paid for it waits as long as votes are counted or
// another has the floor. A line that has to wait for neither is said at once.
//
// # Errors
//
// Those of Consume; CodeStale when somebody else spoke first; CodeConflict when the
// line did not get its turn in time, CodeDenied while nobody may speak. A caller that
// goes away takes its line back.
func (r *Room) Offer(ctx context.Context, u rooms.Utterance, importance float64) (abi.Message, abi.Budget, error) {
	if err := cmp.Or(u.Check(), r.mayConverse(u)); err != nil {
		return r.outcomeOf(offer.Outcome{}, err)
	}
	l := lineOf(u, r.cfg.NewID())
	var seq uint64 // of the request; the loop's
	res, err := loop.Await(ctx, r.loop, loop.Late, func(q loop.Request[offer.Outcome]) {
		r.loop.Use()
		seq = r.handleOffer(l, importance, q)
	})
	if ctx.Err() != nil {
		_ = r.loop.Put(context.WithoutCancel(ctx), func() { r.withdraw(seq) })
	}
	return r.outcomeOf(res, err)
}

// handleOffer has a line said or refused at once, or makes a request of it, whose seq
// it answers.
func (r *Room) handleOffer(l rules.Line, importance float64, q loop.Request[offer.Outcome]) uint64 {
	wait, needed, err := r.needs(l)
	if err != nil {
		q.Tell(offer.Outcome{}, err)
		return 0
	}
	if !needed {
		loop.Handle(r.loop, q, func() (offer.Outcome, error) { return r.handleSay(l) })
		return 0
	}
	s, at := r.state(), r.loop.Now()
	w := entry.Wish{
		Who: l.From, By: l.By, Waits: wait, Importance: importance, Reason: "has a line ready", Text: l.Text, To: l.To,
		Basis: l.Basis, Offer: l.Offer, Due: at.Add(turnPatience),
	}
	if wait == entry.WaitRound {
		w.Basis, w.Due = cmp.Or(l.Basis, s.Head), at.Add(queue.WishPatience)
	}
	seq := r.loop.Input(entry.KindWish, w)
	if r.loop.Trouble() != nil {
		q.Tell(offer.Outcome{}, r.loop.Trouble())
		return 0
	}
	r.offers[seq] = offer.Offer{Who: l.From, Tell: q.Tell}
	return seq
}

// needs says what a line waits for, or why it cannot be offered now.
func (r *Room) needs(l rules.Line) (wait entry.Wait, needed bool, err error) {
	if err := cmp.Or(r.loop.Trouble(), r.mayBe(l.From, l.By), r.closed()); err != nil {
		return "", false, err
	}
	s := r.state()
	wait, needed = rules.Needs(s, l, r.loop.Now())
	if !needed {
		return "", false, nil
	}
	if err := r.attend(l.From, wait == entry.WaitRound); err != nil {
		return "", false, err
	}
	switch {
	case r.drain.Load():
		return "", false, rooms.ErrStopping
	case wait == entry.WaitRound && r.over() != nil:
		return "", false, r.over()
	case wait == entry.WaitRound && s.Rests() && !slices.Contains(s.Voters(), l.From):
		return "", false, abi.Errorf(abi.CodeConflict, "%q said %d itself; wait for somebody to answer", l.From, s.Last.Seq)
	case s.Full(l.From):
		return "", false, abi.Field("from", abi.CodeExhausted, "%s has %d lines waiting already", l.From, queue.MaxRequests)
	}
	return wait, true, nil
}

// over says why nobody but a human may speak, nil where somebody may.
func (r *Room) over() error {
	s := r.state()
	if err := r.closed(); err != nil {
		return err
	}
	if s.Stopped != "" {
		return abi.Errorf(abi.CodeDenied, "a human said STOP; a human's next line starts the talk again")
	}
	switch outcome, _ := s.Mute(); outcome {
	case entry.OutcomeClosed:
		return abi.Errorf(abi.CodeDenied, "the talk has ended; a human's next line starts a new one")
	case entry.OutcomeCapped:
		return abi.Errorf(abi.CodeDenied, "%s since a human spoke, which is the cap", turn.Taken(s.Turns))
	}
	return nil
}

// giveUp ends requests in writing: nobody is to wait for them.
func (r *Room) giveUp(which func(queue.Request) bool) {
	for _, w := range slices.Clone(r.state().Requests) {
		if r.loop.Trouble() == nil && which(w) {
			r.loop.Input(entry.KindDue, entry.Due{What: entry.DueStale, Of: w.Seq})
		}
	}
}

// withdraw gives up a request whose caller has gone.
func (r *Room) withdraw(seq uint64) {
	delete(r.offers, seq)
	r.giveUp(func(w queue.Request) bool { return w.Seq == seq })
}

// sayAtHand says the lines that came with requests, once they have the floor or need
// none. One may let in the next.
func (r *Room) sayAtHand() {
	for r.loop.Trouble() == nil {
		s := r.state()
		f := s.Floor
		switch w := s.Free(); {
		case f != nil && f.Wish != nil && f.Wish.Text != "" && f.Lost == "" && !f.Again && !r.running.Has(r.voice.Call(f)):
			if !r.voice.MayBegin(f) {
				return
			}
			r.sayOf(*f.Wish, f.Token, f.Basis)
		case w != nil:
			r.sayOf(*w, "", w.Basis)
		default:
			return
		}
	}
}

// sayOf says the line of a request.
func (r *Room) sayOf(w queue.Request, grant string, basis uint64) {
	said := entry.Said{
		From: w.Who, By: cmp.Or(w.By, abi.KindCompanion), To: presence.Here(r.state().Members(), w.To), Text: w.Text, Basis: basis, Grant: grant,
		Wish: w.Seq, Parameters: w.Parameters,
	}
	if grant != "" {
		said.Kind = abi.KindTurn
	}
	r.sayLine(said, w.Offer)
}

// tellOffers tells how offered lines ended, when that is in the journal.
func (r *Room) tellOffers() {
	var stopping error
	if r.drain.Load() {
		stopping = rooms.ErrStopping
		r.giveUp(func(w queue.Request) bool { _, offered := r.offers[w.Seq]; return offered })
	}
	for _, o := range r.offers.Ended(r.loop.Made(), r.state().Pending) {
		if !o.Found {
			o.Outcome.Refused = cmp.Or(stopping, r.over(), r.mayBe(o.Who, abi.KindAgent), errNoTurn)
		}
		o.Outcome.Pool, _ = r.state().Budget(r.loop.Now())
		r.loop.Ack(func(err error) { o.Tell(o.Outcome, err) })
	}
}
