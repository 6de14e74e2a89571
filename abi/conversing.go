package abi

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
