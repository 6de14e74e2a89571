package turn

import (
	"github.com/companiond/companiond/abi"
)

// ConversationPolicy is the name of the policy of rooms that are for a conversation. No
// configuration gives it to another.
const ConversationPolicy = "conversation"

// Conversation is the policy "conversation", of seed E: members answer as they can, and
// whether one may speak is for the conversation's life to say (host/conversation). Companions
// of the house are asked for votes, since two that are asked at once would speak at
// once. Nothing is paid, nothing capped, and no vote brings the talk to an end.
type Conversation struct{ Vote }

// FreeTurns says that a turn needs no floor.
func (Conversation) FreeTurns() bool { return true }

// Admit takes every line, as a turn.
func (Conversation) Admit(Bid) Verdict { return Verdict{Admit: true, Kind: abi.KindTurn} }
