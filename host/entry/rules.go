package entry

import "encoding/json"

// Rules is the body of KindRules: everything a decision depends on besides
// the other entries. Durations are milliseconds.
type Rules struct {
	// Version is that of the code that decides (host/room/rules). Entries without
	// one are of version 1.
	Version   int       `json:"version,omitempty"`
	Policy    string    `json:"policy"`
	Seed      string    `json:"seed"`
	Patience  int64     `json:"patience_ms"`
	Floor     int64     `json:"floor_ms"`            // how long a grant holds
	Silence   int64     `json:"silence_ms"`          // 0: never break a silence
	Pace      int64     `json:"pace_ms"`             // pause between a companion's line and the next round
	Auto      bool      `json:"pace_auto,omitempty"` // the pause is as long as the line takes to say
	Perceived int       `json:"perceived,omitempty"` // turns a minute that perceptions may lead to, which MaxTurns does not count
	Ahead     int       `json:"ahead,omitempty"`     // lines an hour that may be made for nothing, so that the next is there when the last was heard
	Interrupt Interrupt `json:"interrupt,omitempty"` // how a human who speaks over a line ends it
	// Interrupters are the humans who end a line with whatever they say; "*" are all of
	// them but those in a chat. Whoever addresses the speaker does so too.
	Interrupters []string        `json:"interrupters,omitempty"`
	MaxTurns     int             `json:"max_turns"` // companion turns since a human last spoke; 0: no cap
	Stale        Stale           `json:"stale"`
	PolicyRaw    json.RawMessage `json:"policy_settings,omitempty"` // the policy's own
}

// Stale says what becomes of a line whose basis is older than the room's head.
type Stale string

// The ways in which a stale line can end.
const (
	StaleRefuse Stale = "refuse" // dropped and counted; a new round decides
	StaleReask  Stale = "reask"  // the same speaker is asked once more, unless somebody else is addressed by now; then refuse
	StaleAccept Stale = "accept" // kept and counted
)

// Interrupt says how a line ends that a human speaks over.
type Interrupt string

// The ways to end it.
const (
	InterruptNever    Interrupt = ""         // not before its time
	InterruptSentence Interrupt = "sentence" // when the sentence was said
	InterruptNow      Interrupt = "now"
)
