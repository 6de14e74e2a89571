package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/turn"
)

// backchannelsPerTurn is how many backchannels there may be for each turn that MaxTurns
// allows.
const backchannelsPerTurn = 5

// judge gives the refusal of a line, nil for one that may be said.
func (m *Machine) judge(a Line, at time.Time) (*entry.Refused, turn.Verdict) {
	s := m.State
	holds := s.Floor != nil && s.Floor.Who == a.From && s.Floor.Token == a.Grant
	v := s.Policy().Admit(turn.Bid{
		From: a.From, By: a.By, Kind: a.Kind, Text: a.Text, Floor: holds || m.resumes(a), Addressed: s.Addresses(a.From),
		Offer: a.Offer, Now: at, Ledger: s.SpentBy(at),
	})
	a.Kind = v.Kind
	code, why := m.forbids(a, holds, at)
	if code == "" && !v.Admit {
		code, why = v.Code, v.Why
	}
	if code == "" {
		return nil, v
	}
	r := &entry.Refused{Who: a.From, By: a.By, Kind: a.Kind, Code: code, Why: why, Grant: a.Grant, Basis: a.Basis, Text: a.Text, Offer: a.Offer, Wish: a.Wish}
	switch code {
	case abi.CodeStale:
		r.Again = holds && m.again(a)
	case abi.CodeExhausted:
		r.Until = v.Until
	}
	return r, v
}

// forbids gives what the house has against a line, whatever the policy says: an
// empty code where it has nothing.
func (m *Machine) forbids(a Line, holds bool, at time.Time) (abi.Code, string) {
	s := m.State
	stale := s.Behind(a.Basis, a.From) && s.Rules.Stale != entry.StaleAccept
	if s.Begun(a.Grant) && holds && s.Stopped == "" {
		return "", "" // people have heard it
	}
	if s.Life.Conversation != nil {
		if err := s.Life.Refuses(a.From, a.By, at); err != nil {
			return abi.CodeDenied, err.Error()
		}
		if a.By == abi.KindAgent || a.By == abi.KindCompanion && a.Grant == "" && a.Kind == abi.KindTurn {
			return "", "" // it writes: nobody has the floor for that
		}
	}
	switch {
	case m.resumes(a):
		return "", ""
	case a.By != abi.KindHuman && a.Kind == abi.KindTurn && s.Sounds() && s.Playing.ID != a.Grant && s.Stopped == "":
		return abi.CodeConflict, s.Playing.Who + " is still heard"
	case a.By == abi.KindHuman:
		return "", ""
	case a.Kind == abi.KindTurn && at.Before(s.Lingers()) && s.Stopped == "":
		return abi.CodeConflict, "a sentence that was cut off is still heard"
	case s.Stopped != "":
		return abi.CodeDenied, "stopped by " + s.Stopped
	case a.Kind == abi.KindBackchannel:
		if stale && a.Basis > 0 {
			return abi.CodeStale, s.Newest().From + " spoke meanwhile"
		}
		if s.Rules.MaxTurns > 0 && s.Backchannels >= backchannelsPerTurn*s.Rules.MaxTurns {
			return abi.CodeDenied, fmt.Sprintf("%d backchannels were said since a human spoke, which is the cap", s.Backchannels)
		}
		return "", ""
	case a.Grant == "" && s.Policy().FreeTurns():
		return m.forbidsFree(a, stale && a.Basis > 0, at)
	case !holds:
		return abi.CodeDenied, "does not have the floor"
	case !s.Expires().IsZero() && at.After(s.Expires()):
		return abi.CodeTimeout, "the floor was held too long"
	case stale:
		return abi.CodeStale, s.Newest().From + " spoke meanwhile"
	}
	return "", ""
}

// resumes says whether a line is what had gone out of one when the daemon was killed.
func (m *Machine) resumes(a Line) bool {
	s := m.State
	return s.Orphan() && s.Playing.ID == a.Grant && s.Playing.Who == a.From
}

// forbidsFree is forbids for a turn that is paid for instead of granted.
func (m *Machine) forbidsFree(a Line, stale bool, at time.Time) (abi.Code, string) {
	s := m.State
	switch {
	case s.Stage == abi.ClosingTerminal:
		return abi.CodeDenied, "the talk has ended; what a human says starts a new one"
	case s.Capped():
		return abi.CodeDenied, turn.Taken(s.Turns) + " since a human spoke, which is the cap"
	case s.Floor != nil && s.Floor.Lost == "" && s.Floor.Who != a.From:
		return abi.CodeConflict, s.Floor.Who + " holds the floor"
	case s.Round != nil && !at.After(s.Round.Due):
		return abi.CodeConflict, "votes are being counted"
	case s.Kept != nil && s.Kept.Who != a.From && at.Before(s.Kept.Until):
		return abi.CodeConflict, s.Kept.Who + " was refused before and has the next turn"
	case stale:
		return abi.CodeStale, s.Newest().From + " spoke meanwhile"
	}
	return "", ""
}

// again says whether a speaker whose line is stale is asked once more: not when
// what was said meanwhile is addressed to somebody else.
func (m *Machine) again(a Line) bool {
	s := m.State
	if s.Rules.Stale != entry.StaleReask || s.Floor.Again {
		return false
	}
	to := s.Meant
	if len(to) == 0 && len(s.Unanswered) > 0 {
		to = s.Unanswered[len(s.Unanswered)-1].Meant
	}
	return len(to) == 0 || slices.Contains(to, a.From)
}
