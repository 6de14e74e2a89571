// Package turn decides whose turn it is: it counts a round's votes, ranks the
// voters in a total order, and says in words why. The rule is that
// of aikyo's TurnTakingManager with its gaps closed.
//
// It is pure: no clock, no randomness, no goroutine, no I/O. The same input
// gives the same output whatever the order in which votes arrived. It never
// calls a module and never writes a journal; host/room does.
package turn

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Policy is a room's turn rule. An implementation holds no state of its own:
// all it may know comes in, so that a replayed journal gives the same answers.
//
// It is an interface for the house's own rules (votes now, a talk budget
// beside or instead of them), not for third parties.
type Policy interface {
	// Decide ends a round: it is called once, when every voter has answered or
	// the round's due time has come.
	Decide(in Input) Ruling
	// Admit judges a line before it is recorded, whoever says it and with or
	// without the floor: of what kind it is, what it costs, and whether it may be
	// said. The grant, the basis and STOP are the room's own business.
	Admit(b Bid) Verdict
	// Memory is how far back Bid.Ledger reaches; 0 means the policy needs none.
	Memory() time.Duration
	// FreeTurns says whether who pays may say a turn without the floor.
	FreeTurns() bool
	// Budget gives what there is to spend at a moment; ok is false for a policy
	// without a budget.
	Budget(now time.Time, ledger []Spend) (b abi.Budget, ok bool)
}

// Input is all a policy may know when it ends a round.
type Input struct {
	Round *Round
	Seed  string // the room's; makes the last resort of the order
	// Lost has, by member, the rounds since it was heard in which it voted to speak
	// (a farewell is no such vote) and somebody else was heard. A round that goes to
	// a human, or to somebody for a human's call, counts for nobody; a line that
	// fails takes nothing off; a vote to listen, and being heard, set it to 0.
	// Counted like this it never exceeds [Bound].
	Lost map[string]int
	// Silent are members that had the floor and have not spoken since: a human's call
	// does not get them the floor without a vote.
	Silent   []string
	Stage    abi.Closing // the room's closing
	Turns    int         // companion turns since a human last spoke
	MaxTurns int         // 0: no cap
	Now      time.Time
	Ledger   []Spend
}

// Ruling is how a round ends. Ranking holds everybody in the electorate, best
// first; the room hands the floor down this list when a speaker fails.
type Ruling struct {
	Outcome entry.Outcome // grant, silence, absent, closed, capped or waits
	Speaker string
	Rule    entry.Rule
	Reason  string // one English sentence
	Ranking []entry.Candidate
	Stage   abi.Closing // the room's closing from now on: the same, or one stage on
	Silence bool        // the round was the silence breaker's, so Next may ask listeners
	Until   time.Time   // with waits: when the round is to be asked again
}

// Bid is a line that asks to be recorded.
type Bid struct {
	From      string
	By        abi.ParticipantKind
	Kind      abi.MessageKind // empty: the policy says which
	Text      string
	Floor     bool     // it comes with a valid grant
	Addressed bool     // From was addressed by the newest turn, or by a human since
	Offer     *float64 // what From would pay; nil: the price
	Now       time.Time
	Ledger    []Spend
}

// Spend is a recorded line's cost.
type Spend struct {
	From string    `json:"from"`
	At   time.Time `json:"at"`
	Cost float64   `json:"cost"`
}

// Verdict is a policy's answer to a Bid.
type Verdict struct {
	Admit bool
	Kind  abi.MessageKind // what the line is, also of one that is not admitted
	Cost  float64
	Code  abi.Code // when not admitted
	Why   string
	Until time.Time // with exhausted: when it could be paid for
}

// policies are all there are. A new one is a line here.
func policies() []policy {
	return []policy{
		{"vote", newVote},
		{"pool", func(settings json.RawMessage) (Policy, error) { return newPool(settings) }},
		{"vote+pool", func(settings json.RawMessage) (Policy, error) {
			p, err := newPool(settings)
			return VotePool{p}, err
		}},
	}
}

type policy struct {
	name string
	open func(settings json.RawMessage) (Policy, error)
}

// Names gives the names of all policies that a room may be given.
func Names() (all []string) {
	for _, p := range policies() {
		all = append(all, p.name)
	}
	return all
}

// New gives the policy of that name; settings are the policy's own, as JSON,
// null for none.
func New(name string, settings json.RawMessage) (Policy, error) {
	if name == ConversationPolicy {
		return Conversation{}, nil
	}
	for _, p := range policies() {
		if p.name == name {
			return p.open(settings)
		}
	}
	return nil, abi.Errorf(abi.CodeInvalid, "policy: %q is unknown, have: %s", name, strings.Join(Names(), ", "))
}

func newVote(settings json.RawMessage) (Policy, error) {
	if s := string(bytes.TrimSpace(settings)); s != "" && s != "null" && s != "{}" {
		return nil, abi.Errorf(abi.CodeInvalid, "policy_settings: policy vote has no settings")
	}
	return Vote{}, nil
}
