package turn

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// The standings of a candidate, as they are written in entry.Candidate.
const (
	StandingHuman     = "human"     // a human who votes to speak
	StandingAddressed = "addressed" // addressed by a human, votes to speak
	StandingLate      = "late"      // a companion that a human addressed and that did not vote in time
	StandingSpeak     = "speak"     // votes to speak
	StandingAsked     = "asked"     // addressed by a human, would rather listen
	StandingTerminal  = "terminal"  // votes to speak, but only to say farewell
	StandingListen    = "listen"    // votes to listen
	StandingOut       = "out"       // cannot have the floor in this round
	StandingAbsent    = "absent"    // no vote
)

// Orders of the standings, best first. In a round of the silence breaker a
// listener comes before a farewell: the point of it is to keep the talk going.
var (
	usualOrder   = [...]string{StandingHuman, StandingAddressed, StandingLate, StandingSpeak, StandingAsked, StandingTerminal, StandingListen, StandingOut, StandingAbsent}
	silenceOrder = [...]string{StandingHuman, StandingAddressed, StandingLate, StandingSpeak, StandingAsked, StandingListen, StandingTerminal, StandingOut, StandingAbsent}
)

// rank puts a round's whole electorate in a total order, best first:
//
//	standing, then need (high first), then rounds lost (high first),
//	then a hash seeded by room, round and voter (low first), then id.
//
// Need is importance and the rounds lost together, see [need]. Being addressed is
// derived from the message; a vote's own claim to be selected moves nobody. Only a
// human's call is a standing: two companions that call each other would else shut
// a third out for ever. No part of the order depends on when a vote came, so
// every replay ranks alike.
func rank(in Input) []entry.Candidate {
	out := make([]entry.Candidate, 0, len(in.Round.Electorate))
	for _, v := range in.Round.Electorate {
		out = append(out, candidate(in, v))
	}
	order := usualOrder
	if in.Round.Silence {
		order = silenceOrder
	}
	slices.SortFunc(out, func(a, b entry.Candidate) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order[:], a.Standing), slices.Index(order[:], b.Standing)),
			cmp.Compare(need(b), need(a)),
			cmp.Compare(b.Debt, a.Debt),
			cmp.Compare(a.Hash, b.Hash),
			cmp.Compare(a.Who, b.Who),
		)
	})
	return out
}

// candidate gives one voter's place-to-be.
func candidate(in Input, v Voter) entry.Candidate {
	c := entry.Candidate{Who: v.ID, Debt: in.Lost[v.ID], Hash: draw(in.Seed, in.Round.ID, v.ID)}
	addressed := slices.Contains(in.Round.Addressed, v.ID)
	called := addressed && in.Round.humanCall()
	b, voted := in.Round.Ballots[v.ID]
	if !voted || b.Absent != "" {
		c.Standing, c.Note, c.Late = StandingAbsent, cmp.Or(brief(b.Absent, maxNote), noAnswer), !voted || b.Late
		if c.Late && called && v.Kind == abi.KindCompanion && !slices.Contains(in.Silent, v.ID) {
			c.Standing = StandingLate
		}
		c.Need = shown(need(c))
		return c
	}
	c.Importance, c.Closing = b.Vote.Importance, b.Vote.Closing
	c.Standing, c.Note = standing(in.Round, v, b.Vote, called), note(b, addressed)
	switch {
	case c.Standing == StandingOut:
		c.Note = "a human is not asked to break a silence"
	case addressed && !called && b.Vote.State == abi.Speak:
		c.Called = in.Round.From.ID
		c.Note = with(c.Note, "called by "+brief(c.Called, maxReason))
	}
	c.Need = shown(need(c))
	return c
}

// standing gives the tier of a voter that answered. A human is never asked to
// speak: it has no module that would, and may speak without the floor. Called is
// for whom a human addressed.
func standing(r *Round, v Voter, vote abi.Vote, called bool) string {
	human := v.Kind == abi.KindHuman
	switch {
	case vote.State == abi.Speak && human:
		return StandingHuman
	case vote.State == abi.Speak && called:
		return StandingAddressed
	case vote.State == abi.Speak && vote.Closing == abi.ClosingTerminal:
		return StandingTerminal
	case vote.State == abi.Speak:
		return StandingSpeak
	case human && r.Silence:
		return StandingOut
	case !human && called:
		return StandingAsked
	}
	return StandingListen
}

// mayHaveFloor says whether a candidate of that standing may hold the floor.
func mayHaveFloor(standing string, silence bool) bool {
	switch standing {
	case StandingListen:
		return silence
	case StandingOut, StandingAbsent:
		return false
	}
	return true
}

// maxNote bounds a candidate's note, in runes; the vote's entry has it whole.
const maxNote = 200

// note gives the voter's reason and what else is worth knowing of its ballot.
func note(b Ballot, addressed bool) string {
	said := brief(b.Vote.Reason, maxNote)
	if b.Carried {
		said = with(said, "vote kept from the round before")
	}
	said = with(said, brief(b.Failed, maxNote))
	if b.Vote.Selected && !addressed {
		said = with(said, "claims to be selected, the message does not say so")
	}
	return said
}

// with puts more behind what is said. It is asked for each voter of each
// decision: a list of what there may be would be made each time.
func with(said, more string) string {
	switch {
	case said == "":
		return more
	case more == "":
		return said
	}
	return said + "; " + more
}

// draw is the last resort of the order: the first 16 hexadecimal digits of
// sha256(seed, 0, round as 8 bytes big-endian, voter). Journals depend on it.
func draw(seed string, round uint64, voter string) string {
	b := make([]byte, 0, len(seed)+9+len(voter))
	b = append(b, seed...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, round)
	b = append(b, voter...)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
