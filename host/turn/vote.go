package turn

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Vote is the policy "vote": aikyo's vote, counted by one authority in a
// total order. It has no settings and no budget.
//
// The order of candidates is written at [rank]; the outcome follows from who
// comes first:
//
//  1. Companions have spoken MaxTurns times since a human did: capped.
//  2. The room's closing is terminal: closed.
//  3. Somebody wants to speak: the first in the ranking is granted the floor.
//     A companion that a human addressed and that is late comes before those who
//     were not addressed: on a slow machine it is asked for a line all the same.
//  4. A human addressed somebody who would rather listen: it is asked to speak.
//  5. The silence breaker opened the round: the best listener is asked to speak.
//  6. Only farewells (speak with closing=terminal) are left: one may be said
//     while the room is not yet closing; after that the talk is closed.
//  7. Everybody is absent: nobody could say what it wants.
//  8. Otherwise silence, with a count of who listened and who was absent.
//
// A farewell silences nobody: it is said after what others have to say; only
// somebody whom a human addressed may answer with a farewell at once.
type Vote struct{}

// Memory gives 0: the policy keeps no ledger.
func (Vote) Memory() time.Duration { return 0 }

// FreeTurns says that a turn needs the floor.
func (Vote) FreeTurns() bool { return false }

// Budget says that there is none.
func (Vote) Budget(time.Time, []Spend) (abi.Budget, bool) { return abi.Budget{}, false }

// Admit lets humans say everything, and others what they say with the floor.
// A backchannel is said without the floor and this policy has no budget for
// it, so it is denied.
func (Vote) Admit(b Bid) Verdict {
	kind := cmp.Or(b.Kind, abi.KindTurn)
	switch {
	case b.By == abi.KindHuman:
		return Verdict{Admit: true, Kind: kind}
	case kind == abi.KindBackchannel:
		return Verdict{Kind: kind, Code: abi.CodeDenied, Why: "the room's policy is vote, which does not take backchannels; vote to speak and say it as a turn"}
	case !b.Floor:
		return Verdict{Kind: kind, Code: abi.CodeDenied, Why: noFloor(b)}
	}
	return Verdict{Admit: true, Kind: kind}
}

// Decide ends a round. Voters without a ballot count as absent, so it decides
// at the due time whoever died.
func (Vote) Decide(in Input) Ruling {
	r := Ruling{Stage: in.Stage, Silence: in.Round.Silence, Ranking: rank(in)}
	if in.MaxTurns > 0 && in.Turns >= in.MaxTurns {
		r.Outcome, r.Reason = entry.OutcomeCapped, cappedReason(in)
		return r
	}
	if in.Stage == abi.ClosingTerminal {
		r.Outcome, r.Reason = entry.OutcomeClosed, "the last farewell has been said; the talk has ended"
		return r
	}
	first, ok := Next(r, nil)
	if !ok {
		r.Outcome, r.Reason = entry.OutcomeSilence, silenceReason(in, r.Ranking)
		if allAbsent(r.Ranking) {
			r.Outcome = entry.OutcomeAbsent
		}
		return r
	}
	if first.Standing == StandingTerminal && in.Stage == abi.ClosingClosing {
		r.Outcome, r.Stage = entry.OutcomeClosed, Step(in.Stage, abi.ClosingTerminal)
		r.Reason = "only farewells are left and the talk is closing already, so it ends"
		return r
	}
	r.Outcome, r.Speaker = entry.OutcomeGrant, first.Who
	second, rivalled := Next(r, []string{first.Who})
	if heavier := outweighed(r.Ranking); heavier > 0 {
		second = r.Ranking[heavier]
	}
	r.Rule = ruleOf(first, second, rivalled)
	r.Reason = grantReason(in, r, first, second)
	return r
}

// allAbsent says whether there are voters and none of them voted.
func allAbsent(ranking []entry.Candidate) bool {
	return len(ranking) > 0 && !slices.ContainsFunc(ranking, func(c entry.Candidate) bool { return c.Standing != StandingAbsent })
}

// ruleOf names what put first before second, the next one that could have had
// the floor; rivalled is false when there is none.
func ruleOf(first, second entry.Candidate, rivalled bool) entry.Rule {
	switch first.Standing {
	case StandingAsked:
		return entry.RuleAsked
	case StandingListen:
		return entry.RuleSilence
	}
	if rivalled && first.Standing == second.Standing {
		return innerRule(first, second)
	}
	switch first.Standing {
	case StandingHuman:
		return entry.RuleHuman
	case StandingAddressed, StandingLate:
		return entry.RuleAddressed
	}
	return entry.RuleSpeak
}

// innerRule names what decides between two candidates of one standing.
func innerRule(a, b entry.Candidate) entry.Rule {
	switch more := weight(a) - weight(b); {
	case more > 0:
		return entry.RuleImportance
	case more < 0:
		return entry.RuleWaited
	case a.Debt != b.Debt:
		return entry.RuleDebt
	}
	return entry.RuleHash
}

// Next gives the best candidate of a ruling who may have the floor and is not
// among tried: those who had it and failed or passed. The room hands the floor
// down with it (rule "next").
//
// A voter that wants to speak, be it a farewell, and one that was asked may have
// the floor; a listener may only in a round of the silence breaker; one that is
// absent or out never may. A round that was closed or capped has no next.
//
// It reads Outcome, Silence and Ranking only, so a room may fill these three in
// from its journal (Decision.Ranking and Round.Silence).
func Next(r Ruling, tried []string) (entry.Candidate, bool) {
	if r.Outcome == entry.OutcomeClosed || r.Outcome == entry.OutcomeCapped {
		return entry.Candidate{}, false
	}
	for _, c := range r.Ranking {
		if mayHaveFloor(c.Standing, r.Silence) && !slices.Contains(tried, c.Who) {
			return c, true
		}
	}
	return entry.Candidate{}, false
}

// Step gives the room's closing after somebody wished for wish: at most one
// stage on and never back: one message that several take for an end is no end
// yet. A stage or wish that is unknown moves nothing.
func Step(stage, wish abi.Closing) abi.Closing {
	if stage.Stage() < 0 || wish.Stage() <= stage.Stage() {
		return stage
	}
	return [...]abi.Closing{abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal}[stage.Stage()]
}
