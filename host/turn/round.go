package turn

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Voter is a member of a round's electorate.
type Voter struct {
	ID   string              `json:"id"`
	Kind abi.ParticipantKind `json:"kind"`
}

// Ballot is what became of one voter's vote.
type Ballot struct {
	Vote    abi.Vote `json:"vote"`
	Absent  string   `json:"absent,omitempty"`  // why there is no vote; counts as listening
	Late    bool     `json:"late,omitempty"`    // with Absent: it did not vote in time, and may be well
	Carried bool     `json:"carried,omitempty"` // from the round before, until the voter answers anew
	Failed  string   `json:"failed,omitempty"`  // why a carried vote will not be answered anew
}

// Round is the ballot box for one message. Its electorate is fixed when it
// opens, each voter counts once, and it is decided once. The zero value is not
// a round; use Open.
type Round struct {
	ID         uint64            `json:"id"`             // seq of its entry
	About      uint64            `json:"about"`          // seq of the message
	Upto       uint64            `json:"upto,omitempty"` // see entry.Round
	From       Voter             `json:"from"`           // who said it
	Electorate []Voter           `json:"electorate"`
	Addressed  []string          `json:"addressed,omitempty"`
	Due        time.Time         `json:"due"`
	Silence    bool              `json:"silence,omitempty"` // opened by the silence breaker
	Ballots    map[string]Ballot `json:"ballots"`
	Decided    bool              `json:"decided,omitempty"`
	Refused    map[Refusal]int   `json:"refused,omitempty"`
}

// Refusal says why a vote did not count.
type Refusal string

// Why votes do not count.
const (
	Stranger Refusal = "stranger" // not in the electorate
	Repeated Refusal = "repeated" // the voter has voted
	Late     Refusal = "late"     // the round is decided
	Invalid  Refusal = "invalid"  // breaks the rules of a vote
)

// Open starts a round from its entry's seq and body. Electorate ids that kinds
// does not know count as companions; an id that is named twice votes once.
func Open(id uint64, b entry.Round, from Voter, kinds map[string]abi.ParticipantKind) *Round {
	r := &Round{
		ID: id, About: b.About, Upto: b.Upto, From: from, Addressed: slices.Clone(b.Addressed), Due: b.Due, Silence: b.Silence,
		Ballots: map[string]Ballot{}, Refused: map[Refusal]int{},
	}
	for _, who := range b.Electorate {
		if r.has(who) {
			continue
		}
		kind, ok := kinds[who]
		if !ok {
			kind = abi.KindCompanion
		}
		r.Electorate = append(r.Electorate, Voter{who, kind})
	}
	return r
}

// Newest is the seq of the newest turn as the round opened.
func (r *Round) Newest() uint64 { return max(r.About, r.Upto) }

// Carry takes over the votes of a round that was superseded before it was
// decided, so that nobody's wish is lost when the voter is too slow to answer
// again before this round is due. The speaker of the message this round is about
// has had its wish; and a vote already cast in this round stays.
func (r *Round) Carry(old *Round) {
	for who, b := range old.Ballots {
		_, voted := r.Ballots[who]
		if b.Absent == "" && !voted && who != r.From.ID && r.has(who) {
			r.ballot(who, Ballot{Vote: b.Vote, Carried: true})
		}
	}
}

// Keep takes over the votes of a round about the same message that came to nothing
// because others were late: nobody is asked twice.
func (r *Round) Keep(old *Round) {
	for who, b := range old.Ballots {
		if b.Absent == "" && r.has(who) {
			r.ballot(who, b)
		}
	}
}

// Cast counts a vote, or counts and names the reason why it does not count. A
// voter that was given up on and answers after all, before the round is
// decided, is counted: no wish to speak is lost, and whether [Round.Fail] or
// the vote came first makes no difference.
func (r *Round) Cast(voter string, v abi.Vote) (Refusal, bool) {
	why := Refusal("")
	b, voted := r.Ballots[voter]
	switch {
	case !r.has(voter):
		why = Stranger
	case r.Decided:
		why = Late
	case voted && !b.Carried && b.Absent == "":
		why = Repeated
	case v.Check() != nil:
		why = Invalid
	default:
		r.ballot(voter, Ballot{Vote: v})
		return "", true
	}
	if r.Refused == nil { // a round without refusals comes back from JSON like this
		r.Refused = map[Refusal]int{}
	}
	r.Refused[why]++
	return why, false
}

// Fail notes that a voter will not vote; a carried vote of its stays. It
// answers false where there is nothing to note: the voter has voted or failed
// already, is a stranger, or the round is decided.
func (r *Round) Fail(voter, why string) bool { return r.fail(voter, why, false) }

// Late is [Round.Fail] for a voter that is not known to be broken or gone, but
// was too slow: one that a human called may still be asked for a line. So may
// one of which nothing was heard when the round is decided.
func (r *Round) Late(voter, why string) bool { return r.fail(voter, why, true) }

// Bar notes that a voter is not asked: a vote of its that was carried does not stay.
func (r *Round) Bar(voter, why string) {
	if !r.Decided && r.has(voter) {
		r.ballot(voter, Ballot{Absent: why})
	}
}

func (r *Round) fail(voter, why string, late bool) bool {
	if !r.Awaits(voter) {
		return false
	}
	why = cmp.Or(why, noAnswer)
	b, carried := r.Ballots[voter]
	if carried {
		b.Failed = why
	} else {
		b.Absent, b.Late = why, late
	}
	r.ballot(voter, b)
	return true
}

// noAnswer is why somebody is absent of whom nothing was heard.
const noAnswer = "no answer"

// humanCall says whether those who are addressed were addressed by a human.
func (r *Round) humanCall() bool { return r.From.Kind == abi.KindHuman }

// Complete says whether every voter has answered for this round, be it that it
// will not vote.
func (r *Round) Complete() bool {
	return !slices.ContainsFunc(r.Electorate, func(v Voter) bool { return r.open(v.ID) })
}

// Awaits says whether the voter's own answer for this round is still to come.
func (r *Round) Awaits(voter string) bool {
	return !r.Decided && r.has(voter) && r.open(voter)
}

// open says whether somebody of the electorate has neither answered for this round
// nor failed to.
func (r *Round) open(voter string) bool {
	b, ok := r.Ballots[voter]
	return !ok || b.Carried && b.Failed == ""
}

func (r *Round) ballot(voter string, b Ballot) {
	if r.Ballots == nil {
		r.Ballots = map[string]Ballot{}
	}
	r.Ballots[voter] = b
}

func (r *Round) has(who string) bool {
	return slices.ContainsFunc(r.Electorate, func(v Voter) bool { return v.ID == who })
}
