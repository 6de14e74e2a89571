package conversation

import (
	"fmt"
	"slices"
	"time"
)

// Kind is what happened.
type Kind string

// What may happen to a conversation.
const (
	Start   Kind = "start"   // it is asked for
	Join    Kind = "join"    // one who is invited authenticates with its id; a hosted companion votes for it
	Say     Kind = "say"     // a message; of one who is invited it is also an answer
	Decline Kind = "decline" // one who is invited does not want to
	End     Kind = "end"     // a member ends it, or leaves a group
	Stop    Kind = "stop"    // a human of the project stops it
	Gone    Kind = "gone"    // a member's last session has ended or expired
	Lapse   Kind = "lapse"   // its time is over, see Due
	Tell    Kind = "tell"    // a member was told of the ending
	Read    Kind = "read"    // a member has read the messages up to a seq: always, and nothing follows from it
)

// Input is one thing that happened.
type Input struct {
	Kind Kind      `json:"kind"`
	Who  string    `json:"who,omitempty"`
	At   time.Time `json:"-"` // of the entry
	// Terms are those of a Start.
	Terms *Terms `json:"terms,omitempty"`
	// Absent are the members without a session now, of whatever may end it: whoever has not
	// joined and is not there is not waited for.
	Absent []string `json:"absent,omitempty"`
	// Upto is the seq of a Read.
	Upto uint64 `json:"upto,omitempty"`
	// Why is what a member that declines, or leaves, says of that; nothing follows from it.
	Why string `json:"why,omitempty"`
}

// role is what somebody is to a conversation.
type role string

const (
	initiator role = "initiator"
	invited   role = "invited"  // a member that has not joined
	joined    role = "joined"   // a member that has, and did not open it
	out       role = "out"      // for this member it is over
	outsider  role = "outsider" // no member
	clock     role = "clock"
)

// row is one transition that there is. For a group the second state is where it goes when too
// few are left.
type row struct {
	from   State
	on     Kind
	by     role
	to     State
	reason Reason // why it is over for whoever leaves by it, "" where nobody does
	few    State  // where it goes when fewer than two are left, "" where it goes to anyhow
}

// table is all that can happen; what is not in it is refused.
var table = []row{
	{None, Start, outsider, Pending, "", ""},

	{Pending, Say, initiator, Pending, "", ""},
	{Pending, Say, invited, Active, "", ""},
	{Pending, Join, invited, Active, "", ""},
	{Pending, Decline, invited, Pending, WasDeclined, Declined},
	{Pending, End, invited, Pending, WasDeclined, Declined},
	{Pending, End, initiator, Terminating, InitiatorEnded, ""},
	{Pending, Stop, outsider, Terminating, ParticipantEnded, ""},
	{Pending, Gone, initiator, Terminating, SessionExpired, ""},
	{Pending, Gone, invited, Pending, "", ""}, // it may come back in time
	{Pending, Lapse, clock, Expired, Timeout, ""},
	{Pending, Tell, out, Pending, "", ""},
	{Pending, Gone, out, Pending, "", ""},

	{Active, Say, initiator, Active, "", ""},
	{Active, Say, joined, Active, "", ""},
	{Active, Say, invited, Active, "", ""},
	{Active, Join, invited, Active, "", ""},
	{Active, Decline, invited, Active, WasDeclined, Terminating},
	{Active, End, invited, Active, WasDeclined, Terminating},
	{Active, End, initiator, Terminating, InitiatorEnded, ""},
	{Active, End, joined, Active, ParticipantEnded, Terminating},
	{Active, Stop, outsider, Terminating, ParticipantEnded, ""},
	{Active, Gone, initiator, Active, SessionExpired, Terminating},
	{Active, Gone, joined, Active, SessionExpired, Terminating},
	{Active, Gone, invited, Active, "", ""},
	{Active, Lapse, clock, Terminating, Timeout, ""},
	{Active, Tell, out, Active, "", ""},
	{Active, Gone, out, Active, "", ""},

	{Terminating, Tell, out, Terminating, "", ""}, // and Ended with the last one
	{Terminating, Gone, out, Terminating, "", ""},
	{Expired, Tell, out, Expired, "", ""},
	{Expired, Gone, out, Expired, "", ""},
	{Declined, Tell, out, Declined, "", ""},
	{Declined, Gone, out, Declined, "", ""},
}

// role gives what somebody is to the conversation.
func (c *Conversation) role(in Input) role {
	if in.Kind == Lapse {
		return clock
	}
	m := c.Member(in.Who)
	switch {
	case m == nil || in.Kind == Stop:
		return outsider
	case m.Ending != nil:
		return out
	case m.ID == c.Initiator():
		return initiator
	case m.Joined:
		return joined
	}
	return invited
}

func (c *Conversation) find(in Input) (row, bool) {
	by := c.role(in)
	if in.Kind == Read && by != outsider {
		return row{c.State, Read, by, c.State, "", ""}, true
	}
	i := slices.IndexFunc(table, func(r row) bool { return r.from == c.State && r.on == in.Kind && r.by == by })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// Check gives why an input is refused, a *Fault, nil where it is not.
func (c *Conversation) Check(in Input) error {
	if in.Kind == Start {
		return c.checkStart(in)
	}
	if c.State == None {
		return Refuse(NotFound, "")
	}
	if _, ok := c.find(in); !ok {
		if c.role(in) == outsider && in.Kind != Stop {
			return Refuse(NotParticipant, "")
		}
		return Refuse(NotOpen, fmt.Sprintf("it is %s", c.State))
	}
	switch in.Kind {
	case Say:
		// One that joins with it has had no turn yet, and waits for none.
		if next := c.Next(); next != "" && next != in.Who && (c.State == Pending || c.Member(in.Who).Joined) {
			return Refuse(NotYourTurn, "it is "+next+"'s")
		}
	case Lapse:
		if due, _ := c.Due(); in.At.Before(due) {
			return Refuse(NotOpen, "its time is not over")
		}
	case Tell:
		if c.Untold(in.Who) == nil {
			return Refuse(NotOpen, in.Who+" was told")
		}
	}
	return nil
}

func (c *Conversation) checkStart(in Input) error {
	t := in.Terms
	switch {
	case c.State != None:
		return Refuse(AlreadyActive, "")
	case t == nil || len(t.Members) == 0 || t.Members[0] != in.Who:
		return Refuse(NotParticipant, "")
	case len(t.Members) < 2, slices.Contains(t.Members[1:], in.Who):
		return Refuse(WithSelf, "")
	case (t.MaxTurns < MinTurns || t.MaxTurns > MaxMaxTurns) && !(t.Chat() && t.MaxTurns == 0):
		return Refuse(Invalid, fmt.Sprintf("max_turns is %d to %d, not %d", MinTurns, MaxMaxTurns, t.MaxTurns))
	case t.Pending <= 0 || t.Idle <= 0:
		return Refuse(Invalid, "a time-out of nothing")
	}
	for i, m := range t.Members {
		if m == "" || slices.Contains(t.Members[:i], m) {
			return Refuse(Invalid, fmt.Sprintf("members: %q is there twice, or is nobody", m))
		}
	}
	return nil
}

// Apply changes the conversation as the table says. What Check refuses it refuses as well.
func (c *Conversation) Apply(in Input) error {
	if err := c.Check(in); err != nil {
		return err
	}
	if in.Kind == Start {
		c.open(in)
		return nil
	}
	r, _ := c.find(in)
	switch in.Kind {
	case Say:
		c.join(in)
		c.Turns, c.Last, c.Heard = c.Turns+1, in.Who, in.At
	case Join:
		c.join(in)
	case Read:
		m := c.Member(in.Who)
		m.Read = max(m.Read, in.Upto)
	case Tell:
		c.Member(in.Who).Told = true
	case Gone:
		if r.by == out {
			c.Member(in.Who).Told = true
		}
	}
	c.State = r.to
	if r.reason != "" {
		c.part(in, r)
	}
	if c.Open() && in.Kind == Say && c.Left() == 0 {
		c.end(in, Terminating, Ending{in.Who, MaxTurns})
	}
	if c.State == Terminating && c.Done() {
		c.State = Ended
	}
	return nil
}

func (c *Conversation) open(in Input) {
	c.Terms, c.State, c.Opened, c.Heard = *in.Terms, Pending, in.At, in.At
	for i, id := range in.Terms.Members {
		c.Members = append(c.Members, Member{ID: id, Joined: i == 0})
	}
}

func (c *Conversation) join(in Input) {
	if m := c.Member(in.Who); !m.Joined {
		m.Joined, c.Heard = true, in.At
	}
}

// part ends it for one member, or for all.
func (c *Conversation) part(in Input, r row) {
	e := Ending{in.Who, r.reason}
	if m := c.Member(in.Who); m != nil {
		m.Why = in.Why
	}
	if in.Kind == Lapse {
		e.By = ""
	}
	if r.few == "" { // whoever may do this ends it for all
		c.end(in, r.to, e)
		c.gone(in)
		return
	}
	m := c.Member(in.Who)
	m.Ending = &e
	c.gone(in)
	if c.taking() < 2 {
		c.end(in, r.few, e)
	}
}

// gone notes that nobody is there to be told.
func (c *Conversation) gone(in Input) {
	if in.Kind == Gone {
		c.Member(in.Who).Told = true
	}
}

// taking gives how many take part, or may yet.
func (c *Conversation) taking() (n int) {
	for _, m := range c.Members {
		if m.Ending == nil {
			n++
		}
	}
	return n
}

// end ends it for all for whom it is not over.
func (c *Conversation) end(in Input, to State, e Ending) {
	c.State, c.Ending, c.Over = to, &e, in.At
	for i := range c.Members {
		m := &c.Members[i]
		if m.Ending != nil {
			continue
		}
		own := e
		m.Ending = &own
		m.Told = m.Told || !m.Joined && slices.Contains(in.Absent, m.ID)
	}
}
