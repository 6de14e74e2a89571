package fold

import (
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// This file is the fold of decisions.

func (s *State) decided(e entry.Entry, d entry.Decision) {
	if d.Wish != 0 {
		s.granted(e, d)
		return
	}
	s.Rest = d.Outcome
	if d.Outcome == entry.OutcomeSuperseded {
		s.waste(e.At)
		s.Supersede()
		s.Floor = nil
		return
	}
	if d.Outcome == entry.OutcomeWaits {
		s.waits(d)
		return
	}
	if d.Outcome == entry.OutcomeAbsent {
		s.absent(e, d)
		return
	}
	if d.Outcome != entry.OutcomeGrant {
		if s.Floor == nil || s.Floor.Round != 0 { // else the newest turn still waits for its round
			s.Asked = s.Last.Seq
		}
		s.settled(d.Outcome)
		if d.Outcome == entry.OutcomeSilence {
			s.awaitSilence(e)
		}
		return
	}
	f := &Floor{Grant: *d.Grant, Who: d.Speaker, By: e.Seq, Round: d.Round, About: s.Last.Seq, Ranking: d.Ranking}
	switch {
	case d.Rule == entry.RuleNext && s.Floor != nil:
		f.Tried, f.Silence, f.Addressed, f.Subject, f.Broke = s.Floor.Tried, s.Floor.Silence, s.Floor.Addressed, s.Floor.Subject, s.Floor.Broke
	case s.Round != nil:
		if s.before3() {
			s.Past = nil
		} else {
			s.KeepPast()
		}
		f.Silence, f.Addressed, f.Subject = s.Round.Silence, s.Round.Addressed, s.Round.About
		for _, c := range d.Ranking {
			if c.Who != d.Speaker && turn.Wants(c) && s.before3() {
				s.Debt[c.Who]++
			}
		}
	}
	f.Tried = append(slices.Clone(f.Tried), d.Speaker)
	if _, here := s.Kinds()[d.Speaker]; !here {
		f.Lost = "left the room"
	}
	f.Wish = s.Take(func(r queue.Request) bool { return r.Waits == entry.WaitRound && r.Who == d.Speaker }) // it was voted for
	f.Ahead, f.Opened = s.Playing != nil || e.At.Before(s.Pauses()), s.Began
	s.Floor, s.Round, s.Rest = f, nil, ""
}

// settled ends a round, or a grant, that came to nothing: the reason is in writing, so
// that what it was about waits for nobody any more.
func (s *State) settled(o entry.Outcome) {
	s.Absence, s.Past = nil, nil
	switch {
	case o != entry.OutcomeSilence:
		s.Unanswered = nil // the whole talk is over
	case s.Round != nil:
		s.Dismiss(s.Round.About, s.mayKnock(s.Round.About))
	case s.Floor != nil:
		s.Dismiss(s.Floor.Subject, s.mayKnock(s.Floor.Subject))
	}
	if o == entry.OutcomeSilence {
		s.KeepLate()
	}
	s.Round, s.Floor = nil, nil
	s.Alone = o == entry.OutcomeSilence && len(s.Voters()) == 0
}

// mayKnock says whether a silence may be broken about a turn that nobody wants to answer.
func (s *State) mayKnock(subject uint64) bool {
	return s.Last.Seq > subject && s.Rules.Silence > 0 && !s.Broken
}

// count notes that a line was heard: whoever wanted to speak in its round has lost one
// more, and whoever would rather listen begins anew. To answer a human who asked for
// it takes nothing from the others; to answer a companion's call does.
func (s *State) count(b entry.Said) {
	f := s.Floor
	if f == nil || f.Token != b.Grant || f.Who != b.From || s.before3() || slices.ContainsFunc(f.Ranking, func(c entry.Candidate) bool { return c.Who == f.Who && turn.Asked(c) }) {
		return
	}
	for _, c := range f.Ranking {
		switch {
		case c.Who == f.Who:
		case turn.Wants(c):
			s.Debt[c.Who]++
		case c.Standing == turn.StandingListen:
			delete(s.Debt, c.Who)
		}
	}
}

// awaitSilence sets when a quiet room is woken: once after each turn, and only
// in a talk that nobody is bringing to an end.
func (s *State) awaitSilence(e entry.Entry) {
	if s.Rules.Silence > 0 && !s.Broken && (len(s.Voters()) > 0 || s.Dismissed != nil) && s.Stage.Stage() == 0 && s.Stopped == "" {
		s.Silence, s.Of = e.At.Add(time.Duration(s.Rules.Silence)*time.Millisecond), e.Seq
	}
}
