// Package turn decides whose turn it is: it counts a round's votes, ranks the
// voters in a total order, and says in words why. The rule is seed B's
// (aikyo's TurnTakingManager) with its gaps closed.
//
// It is pure: no clock, no randomness, no goroutine, no I/O. The same input
// gives the same output whatever the order in which votes arrived. It never
// calls a module and never writes a journal; host/room does.
package turn

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
)

// Policy is a room's turn rule. An implementation holds no state of its own:
// all it may know comes in, so that a replayed journal gives the same answers.
//
// It is an interface for the house's own rules (votes now, a talk budget
// beside or instead of them), not for third parties.
type Policy interface {
	// Name is the policy's name in companiond.toml.
	Name() string
	// Decide ends a round: it is called once, when every voter has answered or
	// the round's due time has come.
	Decide(in Input) Ruling
	// Admit judges a line before it is recorded, whoever says it and with or
	// without the floor. The room has already checked the grant, the basis and
	// STOP; a policy without a budget admits everything.
	Admit(b Bid) Verdict
	// Memory is how far back Bid.Ledger reaches; 0 means the policy needs none.
	Memory() time.Duration
}

// Input is all a policy may know when it ends a round.
type Input struct {
	Round    *Round
	Seed     string         // the room's; makes the last resort of the order
	Debt     map[string]int // rounds each member wanted to speak and did not since it last spoke
	Stage    abi.Closing    // the room's closing
	Turns    int            // companion turns since a human last spoke
	MaxTurns int            // 0: no cap
	Now      time.Time
	Ledger   []Spend
}

// Ruling is how a round ends. Ranking holds everybody in the electorate, best
// first; the room hands the floor down this list when a speaker fails.
type Ruling struct {
	Outcome abi.Outcome // grant, silence, closed or capped
	Speaker string
	Rule    abi.Rule
	Reason  string // one English sentence
	Ranking []abi.Candidate
	Stage   abi.Closing // the room's closing from now on: the same, or one stage on
	Silence bool        // the round was the silence breaker's, so Next may ask listeners
}

// Bid is a line that asks to be recorded.
type Bid struct {
	From   string
	By     abi.ParticipantKind
	Kind   abi.MessageKind
	Text   string
	Floor  bool // it comes with a valid grant
	Amount float64
	Now    time.Time
	Ledger []Spend
}

// Spend is a recorded line's cost.
type Spend struct {
	From string
	At   time.Time
	Cost float64
}

// Verdict is a policy's answer to a Bid.
type Verdict struct {
	Admit bool
	Cost  float64
	Code  abi.Code // when not admitted
	Why   string
}

// New gives the policy of that name; settings are the policy's own, as JSON,
// null for none.
func New(name string, settings json.RawMessage) (Policy, error) {
	switch name {
	case "vote":
		if s := string(bytes.TrimSpace(settings)); s != "" && s != "null" && s != "{}" {
			return nil, abi.Errorf(abi.CodeInvalid, "policy_settings: policy vote has no settings")
		}
		return Vote{}, nil
	}
	return nil, abi.Errorf(abi.CodeInvalid, "policy: %q is unknown, have: vote", name)
}
