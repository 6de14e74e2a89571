package fold

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
)

// firstWords is how long a request for a conversation waits for the message that comes with
// it before companions are asked about it.
const firstWords = 300 * time.Millisecond

// happened is the fold of what happens to the conversation. Companions that are invited are
// asked about the request as about a line; about one that says nothing when something is said.
func (s *State) happened(e entry.Entry, in conversation.Input) {
	if s.Life.Happens(in, e.At) {
		s.Last = abi.Message{Seq: e.Seq, ID: e.ID, From: in.Who, To: in.Terms.Members[1:], Text: in.Terms.Purpose, Kind: abi.KindTurn, At: e.At}
		s.LastBy, s.Pace = abi.KindAgent, e.At.Add(firstWords)
		if s.Last.Text == "" {
			s.Asked = s.Last.Seq
		}
	}
}
