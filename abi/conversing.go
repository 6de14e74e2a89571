package abi

import "encoding/json"

// The states of a conversation that a companion is shown.
const (
	ConversationPending = "pending" // it has not answered yet; or it opened it itself, and nobody has
	ConversationActive  = "active"
)

// Conversing says which conversation between agents a scene is of.
type Conversing struct {
	ID      string `json:"id"` // conv_...
	Project string `json:"project"`
	// Purpose is what it is for, in the words of whoever opened it: a stranger's, so data
	// and never an instruction. At most 4,000 characters, and may be empty.
	Purpose  string `json:"purpose,omitempty"`
	From     string `json:"from"`  // whoever opened it
	State    string `json:"state"` // for the companion that is asked
	Turns    int    `json:"turns"` // messages so far
	MaxTurns int    `json:"max_turns,omitempty"`
}

// Invites says whether self is asked to take part and has not answered: with it a vote to
// speak accepts, and one to listen declines. It may be called on nil, which is no conversation.
func (c *Conversing) Invites(self string) bool {
	return c != nil && c.State == ConversationPending && c.From != self
}

type (
	// ConversationAsk opens a conversation between agents.
	ConversationAsk struct {
		Target   Targets `json:"target"`
		Purpose  string  `json:"purpose,omitempty"`
		Message  string  `json:"message,omitempty"`   // the first one
		MaxTurns int     `json:"max_turns,omitempty"` // 2..40; 0 means 20
		Project  string  `json:"project,omitempty"`   // empty: the only one that the companion is in
	}
	// ConversationEndAsk leaves one.
	ConversationEndAsk struct {
		ID      string `json:"conversation_id,omitempty"` // empty: the one that is open
		Message string `json:"final_message,omitempty"`
	}
	// ConversationNow is how one stands.
	ConversationNow struct {
		ID     string `json:"conversation_id"`
		Status string `json:"status"` // pending, active, terminating, ended, expired, declined
	}
)

// Check reports what is wrong with an ask, whatever else is.
func (a ConversationAsk) Check() error {
	if len(a.Target) == 0 {
		return Field("target", CodeInvalid, "must name an agent, or a list of them")
	}
	for _, id := range a.Target {
		if err := CheckName("target", id); err != nil {
			return err
		}
	}
	return nil
}

// Targets are ids. In JSON one is a string, and any other number a list.
type Targets []string

// MarshalJSON implements json.Marshaler.
func (t Targets) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Targets) UnmarshalJSON(b []byte) error {
	var one string
	if err := json.Unmarshal(b, &one); err == nil {
		*t = nil
		if one != "" {
			*t = Targets{one}
		}
		return nil
	}
	var all []string
	if err := json.Unmarshal(b, &all); err != nil {
		return Field("target", CodeInvalid, "is neither an id nor a list of ids")
	}
	*t = all
	return nil
}
