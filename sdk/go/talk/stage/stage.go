// Package stage reads where a character is asked: a conversation between agents as a talk in a room.
//
// It decides nothing about what is said there.
package stage

import (
	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// LongEnough is how many messages a conversation between agents must have for
// goodbyes; a shorter one is talked to its end.
const LongEnough = 16

// Room reads a scene of a conversation between agents as one of a room: its
// messages are the turns, and nobody but the character itself moves it to its end. An
// invitation means this character, and so does all that the only other one says.
func Room(s companion.Scene, self string) companion.Scene {
	c := s.Conversation
	if c == nil {
		return s
	}
	s.Closing = abi.ClosingNone
	s.Addressed = s.Addressed || s.Message.From != self && (c.Invites(self) || len(s.Members) == 2)
	switch {
	case c.MaxTurns >= LongEnough:
		s.Turns, s.MaxTurns = c.Turns, c.MaxTurns
	case c.MaxTurns > 0:
		s.Turns, s.MaxTurns = 0, 0
	}
	return s
}
