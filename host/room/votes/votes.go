// Package votes is what came of asking who wants to speak, in one room: the voters that
// are asked now, votes that came before their message, the line that a voter may have begun
// with its vote, and the word of a listener that came with one.
//
// It never asks anybody, and never decides who speaks: the room makes the calls, and the
// rules decide by the votes that were written down. The room's loop alone uses it.
package votes

import (
	"maps"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// Config is what votes stand on.
type Config struct {
	Loop    *loop.Loop
	Running call.Running // the room's: a call for a vote ends with it
	Board   *glance.Board
	NewID   func() string // unique ids for messages
}

// Votes are one room's. Make them with [New].
type Votes struct {
	cfg          Config
	loop         *loop.Loop
	backchannels map[string]backchannel // that came with votes, by the voter
	asked        map[string]bool        // voters with a call running
	drafts       map[string]uint64      // the round in which somebody was asked, who may have begun a line with the vote
	early        turn.Early
}

// backchannel came with a vote. It is kept until it is known who has the floor.
type backchannel struct {
	round uint64
	text  string
}

// New makes votes of a room in which nobody was asked. It starts nothing.
func New(c Config) *Votes {
	return &Votes{cfg: c, loop: c.Loop, backchannels: map[string]backchannel{}, asked: map[string]bool{}, drafts: map[string]uint64{}}
}

func (v *Votes) state() *fold.State { return v.loop.State() }

// Due gives the companions that are to be asked for a vote in the open round now, and
// counts them as asked. What comes of it goes to Take.
func (v *Votes) Due() (who []string) {
	round := v.state().Round
	if round == nil {
		return nil
	}
	for _, e := range round.Electorate {
		if e.Kind != abi.KindCompanion || !round.Awaits(e.ID) || v.asked[e.ID] {
			continue
		}
		v.asked[e.ID], v.cfg.Running[call.VoteID(e.ID)] = true, call.Run{}
		v.drafts[e.ID] = round.ID
		who = append(who, e.ID)
	}
	return who
}

// Take takes what came of asking a companion for a vote in a round.
func (v *Votes) Take(round uint64, who string, vote abi.Vote, err error) {
	delete(v.asked, who)
	v.cfg.Running.Over(call.VoteID(who))
	s := v.state()
	if v.loop.Trouble() != nil || !s.Takes(round) {
		v.cfg.Board.Count("vote late")
		return
	}
	if err != nil {
		if s.Round != nil && s.Round.ID == round && s.Round.Awaits(who) {
			code, why := call.Failure(err)
			v.cfg.Board.Count("vote failed: " + string(code))
			v.loop.Input(entry.KindFailed, entry.Failed{Round: round, Who: who, Code: code, Error: why, Until: call.Until(err, v.loop.Now())})
		}
		return
	}
	if vote.Backchannel != "" && s.Round != nil {
		v.backchannels[who] = backchannel{round, vote.Backchannel}
	}
	v.loop.Input(entry.KindVote, entry.Voted{Round: round, Voter: who, Vote: vote})
}

// Cast counts a vote of somebody whom no module call asked. It is about a message; one
// that has not come yet is waited for.
func (v *Votes) Cast(about uint64, who string, vote abi.Vote) error {
	s := v.state()
	switch {
	case !slices.ContainsFunc(s.Cast, func(m entry.Joined) bool { return m.ID == who }):
		v.refused(turn.Stranger)
		return abi.Errorf(abi.CodeDenied, "vote: %q is not a member of the room", who)
	case about > s.Last.Seq:
		if !v.early.Hold(about, who, vote) {
			return abi.Errorf(abi.CodeExhausted, "vote: too many votes wait for messages that have not come")
		}
		return nil
	case about == s.Last.Seq && !slices.Contains(s.Voters(), who):
		v.refused(turn.Stranger)
		return abi.Errorf(abi.CodeConflict, "vote: %q said %d itself; wait for somebody to answer", who, about)
	case about == s.Last.Seq && vote.State == abi.Speak && s.Rests():
		v.loop.Input(entry.KindWish, entry.Wish{
			Who: who, By: abi.KindAgent, Waits: entry.WaitRound, Importance: vote.Importance, Reason: vote.Reason, Closing: vote.Closing,
			Basis: s.Head, Due: v.loop.Now().Add(queue.WishPatience),
		})
		return nil
	case s.Round == nil || about != s.Round.About && about != s.Round.Newest():
		v.refused(turn.Late)
		return abi.Errorf(abi.CodeConflict, "vote: no round is open about %d", about)
	}
	return v.count(who, vote)
}

// count records a vote that counts, and answers why one does not.
func (v *Votes) count(who string, vote abi.Vote) error {
	round := v.state().Round
	if b, voted := round.Ballots[who]; !round.Awaits(who) && (!voted || b.Absent == "") {
		why := turn.Repeated
		if !slices.ContainsFunc(round.Electorate, func(e turn.Voter) bool { return e.ID == who }) {
			why = turn.Stranger
		}
		v.refused(why)
		return abi.Errorf(abi.CodeConflict, "vote: %q has no vote about %d to give: %s", who, round.About, why)
	}
	v.loop.Input(entry.KindVote, entry.Voted{Round: round.ID, Voter: who, Vote: vote})
	return nil
}

func (v *Votes) refused(why turn.Refusal) { v.cfg.Board.Count("vote refused: " + string(why)) }

// CastEarly counts votes that came before the message of the open round.
func (v *Votes) CastEarly() {
	s := v.state()
	if s.Round == nil {
		return
	}
	held := v.early.Take(s.Round.About)
	for _, who := range slices.Sorted(maps.Keys(held)) {
		if s.Round != nil {
			_ = v.count(who, held[who]) // a refusal is shown on the board
		}
	}
}

// Speaks says that a companion is asked for its line now: that call takes a line which was
// begun with the vote, or ends it.
func (v *Votes) Speaks(who string) { delete(v.drafts, who) }

// Remembered counts those whose line may still be wanted that was begun with the vote, and
// the backchannels that may still be said.
func (v *Votes) Remembered() (drafts, backchannels int) { return len(v.drafts), len(v.backchannels) }

// Unwanted gives those who voted and do not get the floor, once each: one may have begun
// a line with its vote.
func (v *Votes) Unwanted() (who []string) {
	s := v.state()
	for id, round := range v.drafts {
		switch {
		case v.asked[id], s.Round != nil && s.Round.ID == round: // it is not decided yet
		case s.Floor != nil && s.Floor.Who == id && s.Floor.Round == round && s.Floor.Lost == "": // it will be asked for
		default:
			delete(v.drafts, id)
			who = append(who, id)
		}
	}
	return who
}

// SayBackchannels says the backchannels of those who did not get the floor. Those of
// a round that came to nothing are forgotten: their moment has passed.
func (v *Votes) SayBackchannels() {
	s := v.state()
	f := s.Floor // it is the same while they are said
	for _, who := range slices.Sorted(maps.Keys(v.backchannels)) {
		b := v.backchannels[who]
		if s.Round != nil && s.Round.ID == b.round {
			continue
		}
		delete(v.backchannels, who)
		_, pool := s.Budget(v.loop.Now())
		_, here := s.Kinds()[who]
		if !pool || !here || f == nil || f.Round != b.round || who == f.Who || v.loop.Trouble() != nil {
			continue
		}
		_, _ = v.loop.Line(rules.Line{ID: v.cfg.NewID(), Said: entry.Said{
			From: who, By: abi.KindCompanion, Text: b.text, Kind: abi.KindBackchannel, Basis: s.Last.Seq,
		}}) // a refusal is written down
	}
}
