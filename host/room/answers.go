package room

import (
	"maps"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/offer"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
	"github.com/companiond/companiond/host/turn"
)

// handleVote takes what came of asking a companion for a vote.
func (r *Room) handleVote(round uint64, who string, v abi.Vote, err error) {
	delete(r.asking, who)
	r.running.Over(call.VoteID(who))
	s := r.state()
	if r.loop.Trouble() != nil || !s.Takes(round) {
		r.board.Count("vote late")
		return
	}
	if err != nil {
		if s.Round != nil && s.Round.ID == round && s.Round.Awaits(who) {
			code, why := call.Failure(err)
			r.board.Count("vote failed: " + string(code))
			r.loop.Input(entry.KindFailed, entry.Failed{Round: round, Who: who, Code: code, Error: why})
		}
		return
	}
	if v.Backchannel != "" && s.Round != nil {
		r.backchannels[who] = backchannel{round, v.Backchannel}
	}
	r.loop.Input(entry.KindVote, entry.Voted{Round: round, Voter: who, Vote: v})
}

// handleOutsideVote counts a vote of somebody whom no module call asked. It is
// about a message; one that has not come yet is waited for.
func (r *Room) handleOutsideVote(about uint64, who string, v abi.Vote) error {
	s := r.state()
	r.present.Hear(who, r.loop.Now())
	switch {
	case r.closed() != nil:
		return r.closed()
	case !slices.ContainsFunc(r.state().Cast, func(m entry.Joined) bool { return m.ID == who }):
		r.board.Count("vote refused: " + string(turn.Stranger))
		return abi.Errorf(abi.CodeDenied, "vote: %q is not a member of the room", who)
	case about > s.Last.Seq:
		if !r.early.Hold(about, who, v) {
			return abi.Errorf(abi.CodeExhausted, "vote: too many votes wait for messages that have not come")
		}
		return nil
	case about == s.Last.Seq && !slices.Contains(s.Voters(), who):
		r.board.Count("vote refused: " + string(turn.Stranger))
		return abi.Errorf(abi.CodeConflict, "vote: %q said %d itself; wait for somebody to answer", who, about)
	case about == s.Last.Seq && v.State == abi.Speak && s.Rests():
		r.loop.Input(entry.KindWish, entry.Wish{
			Who: who, By: abi.KindAgent, Waits: entry.WaitRound, Importance: v.Importance, Reason: v.Reason, Closing: v.Closing,
			Basis: s.Head, Due: r.loop.Now().Add(queue.WishPatience),
		})
		return nil
	case s.Round == nil || about != s.Round.About && about != s.Round.Newest():
		r.board.Count("vote refused: " + string(turn.Late))
		return abi.Errorf(abi.CodeConflict, "vote: no round is open about %d", about)
	}
	return r.castVote(who, v)
}

// castVote records a vote that counts, and answers why one does not.
func (r *Room) castVote(who string, v abi.Vote) error {
	round := r.state().Round
	if b, voted := round.Ballots[who]; !round.Awaits(who) && (!voted || b.Absent == "") {
		why := turn.Repeated
		if !slices.ContainsFunc(round.Electorate, func(v turn.Voter) bool { return v.ID == who }) {
			why = turn.Stranger
		}
		r.board.Count("vote refused: " + string(why))
		return abi.Errorf(abi.CodeConflict, "vote: %q has no vote about %d to give: %s", who, round.About, why)
	}
	r.loop.Input(entry.KindVote, entry.Voted{Round: round.ID, Voter: who, Vote: v})
	return nil
}

// sayLine records a line, or that it was refused. offered is what is paid for it, nil for
// the price.
func (r *Room) sayLine(said entry.Said, offered *float64) {
	l := rules.Line{ID: r.cfg.NewID(), Said: said, Offer: offered}
	r.describe(&l)
	made, _ := r.loop.Line(l)
	if made.Kind == entry.KindRefused {
		r.board.Count("line refused: " + string(abi.CodeOf(offer.Of(made).Refused)))
	}
}

// describe finds out what the journal is to say of a line, which is asked once.
func (r *Room) describe(l *rules.Line) {
	l.Addressed, l.How = r.addressed(l.Said)
	if l.By == abi.KindHuman || l.Kind == abi.KindBackchannel {
		return
	}
	if l.Like = r.lately.Like(l.Text, r.spokenNames()); l.Segments == 0 {
		l.Voice = speech.Beats(l.Text)
	}
	if p := r.state().Playing; l.Segments > 0 { // a body that came behind its last piece says nothing of it
		l.Played = p != nil && p.ID == l.Grant && !p.Silent
		return
	}
	l.Played = slices.ContainsFunc(r.state().Bodies, func(b playback.Body) bool { return b.Who == l.From })
}

// backchannel came with a vote. It is kept until it is known who has the floor.
type backchannel struct {
	round uint64
	text  string
}

// sayBackchannels says the backchannels of those who did not get the floor. Those of
// a round that came to nothing are forgotten: their moment has passed.
func (r *Room) sayBackchannels() {
	s := r.state()
	f := s.Floor // it is the same while they are said
	for _, who := range slices.Sorted(maps.Keys(r.backchannels)) {
		b := r.backchannels[who]
		if s.Round != nil && s.Round.ID == b.round {
			continue
		}
		delete(r.backchannels, who)
		_, pool := s.Budget(r.loop.Now())
		_, here := s.Kinds()[who]
		if !pool || !here || f == nil || f.Round != b.round || who == f.Who || r.loop.Trouble() != nil {
			continue
		}
		_, _ = r.loop.Line(rules.Line{ID: r.cfg.NewID(), Said: entry.Said{
			From: who, By: abi.KindCompanion, Text: b.text, Kind: abi.KindBackchannel, Basis: s.Last.Seq,
		}}) // a refusal is written down
	}
}
