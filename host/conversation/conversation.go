// Package conversation decides the life of a conversation between agents: who may do what
// in which state, when it is over, and who has to be told of that.
//
// It is pure: what happened comes in with its time, and nothing but the table in table.go
// moves a state, whoever asks. It knows no rooms, sessions or clocks, keeps no messages, and never
// decides who speaks; a conversation's texts are its room's.
//
// The states, the two time-outs and the first four reasons are those of seed E; the rest
// is its future work: groups, declining, a bound on turns, and an ending that reaches
// each member once (docs/CONVERSATIONS.md).
package conversation

import (
	"slices"
	"time"
)

// Prefix begins the id of every conversation, which is the name of its room; no other room
// has such a name.
const Prefix = "conv_"

// State is where a conversation stands.
type State string

// The states. Expired, declined and ended are the last ones.
const (
	None        State = ""
	Pending     State = "pending"     // asked for; none of those who are invited has answered
	Active      State = "active"      // at least one has
	Terminating State = "terminating" // over; not everybody has been told
	Ended       State = "ended"       // over, and everybody was told or is gone
	Expired     State = "expired"     // nobody came in time
	Declined    State = "declined"    // nobody wanted to
)

// Reason is why it is over.
type Reason string

// The reasons. The first four are seed E's.
const (
	InitiatorEnded   Reason = "initiator_ended"
	ParticipantEnded Reason = "participant_ended" // also a human of the project who stops it
	Timeout          Reason = "timeout"
	SessionExpired   Reason = "session_expired"
	MaxTurns         Reason = "max_turns"
	WasDeclined      Reason = "declined"
)

// Bounds of what one may ask for. A message is a turn.
const (
	MinTurns     = 2
	MaxMaxTurns  = 40
	UsualTurns   = 20
	Remind       = 5    // after so many turns each is told how many are left
	MaxText      = 4000 // characters of a message or a purpose
	UsualPending = 5 * time.Minute
	UsualIdle    = 10 * time.Minute
)

// Terms are what a conversation was opened with. Durations are milliseconds.
type Terms struct {
	Project  string   `json:"project"`
	Purpose  string   `json:"purpose,omitempty"`
	MaxTurns int      `json:"max_turns"`
	Pending  int64    `json:"pending_ms"`        // until it expires where nobody answers
	Idle     int64    `json:"idle_ms"`           // until it ends where nobody says anything
	InTurn   bool     `json:"in_turn,omitempty"` // one after the other, in the order of the members
	Members  []string `json:"members"`           // the first is the one that opens it
	// Humans and Hosted are those of the members who are humans, and companions that live in
	// the house: both are told of an ending at once, for the house shows it to them.
	Humans []string `json:"humans,omitempty"`
	Hosted []string `json:"hosted,omitempty"`
}

// Chat says whether a human is a member: then any number of turns may be taken.
func (t *Terms) Chat() bool { return len(t.Humans) > 0 }

// Ending is how it ended for somebody.
type Ending struct {
	By     string `json:"ended_by,omitempty"` // empty for a time-out
	Reason Reason `json:"reason"`
}

// Member is one of those who are in it.
type Member struct {
	ID     string  `json:"id"`
	Joined bool    `json:"joined,omitempty"` // it opened it, or has answered
	Ending *Ending `json:"ending,omitempty"` // nil while it takes part or may yet come
	Told   bool    `json:"told,omitempty"`   // of the ending, or it is gone and cannot be
	Read   uint64  `json:"read,omitempty"`   // seq of the newest message that it says it has read
	Why    string  `json:"why,omitempty"`    // what it said of declining, or of leaving
}

// Conversation is what became of one. The zero value is none.
type Conversation struct {
	Terms   Terms     `json:"terms"`
	State   State     `json:"state,omitempty"`
	Members []Member  `json:"members,omitempty"` // the first opened it
	Turns   int       `json:"turns"`
	Last    string    `json:"last,omitempty"` // whoever spoke last
	Opened  time.Time `json:"opened,omitzero"`
	Heard   time.Time `json:"heard,omitzero"` // when something was said last, or somebody joined
	Over    time.Time `json:"over,omitzero"`  // when it ended, expired or was declined; not when all were told
	Ending  *Ending   `json:"ending,omitempty"`
}

// Initiator is whoever opened it.
func (c *Conversation) Initiator() string {
	if len(c.Members) == 0 {
		return ""
	}
	return c.Members[0].ID
}

// Member gives one of its members, nil for anybody else.
func (c *Conversation) Member(id string) *Member {
	i := slices.IndexFunc(c.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Members[i]
}

// Open says whether something can be said in it.
func (c *Conversation) Open() bool { return c.State == Pending || c.State == Active }

// Done says whether it is over and nobody is left to be told.
func (c *Conversation) Done() bool {
	return !c.Open() && c.State != None && !slices.ContainsFunc(c.Members, func(m Member) bool { return !m.Told })
}

// Untold gives the ending that a member has to be told of, nil for none.
func (c *Conversation) Untold(id string) *Ending {
	if m := c.Member(id); m != nil && !m.Told {
		return m.Ending
	}
	return nil
}

// Due is when it will be over if nothing happens; ok is false where no time ends it.
func (c *Conversation) Due() (at time.Time, ok bool) {
	switch c.State {
	case Pending:
		return c.Opened.Add(time.Duration(c.Terms.Pending) * time.Millisecond), true
	case Active:
		return c.Heard.Add(time.Duration(c.Terms.Idle) * time.Millisecond), true
	}
	return time.Time{}, false
}

// Clone gives a copy that no later input changes.
func (c *Conversation) Clone() Conversation {
	n := *c
	n.Members = slices.Clone(c.Members)
	return n
}

// Left is how many turns are left, -1 where there may be any number.
func (c *Conversation) Left() int {
	if c.Terms.MaxTurns == 0 {
		return -1
	}
	return max(0, c.Terms.MaxTurns-c.Turns)
}

// Reminds says whether everybody is told now how many turns are left.
func (c *Conversation) Reminds() bool {
	return c.Open() && c.Terms.MaxTurns > 0 && c.Turns > 0 && c.Turns%Remind == 0
}

// Next is whose turn it is, empty where that is anybody's: those who may yet come, or have left,
// are passed over, but for a conversation in which nobody has answered.
func (c *Conversation) Next() string {
	if !c.Terms.InTurn || !c.Open() {
		return ""
	}
	if c.Last == "" {
		return c.Initiator()
	}
	last := slices.IndexFunc(c.Members, func(m Member) bool { return m.ID == c.Last })
	for i := 1; i <= len(c.Members); i++ {
		m := c.Members[(last+i)%len(c.Members)]
		if m.Ending == nil && (m.Joined || c.State == Pending) && m.ID != c.Last {
			return m.ID
		}
	}
	return ""
}
