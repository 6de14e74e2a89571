package talk

import (
	"slices"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/words"
)

// phase is how far a talk is for one character.
type phase int

const (
	talking  phase = iota
	ending         // says that it is getting late
	thanking       // says what it was good for
	leaving        // says goodbye
	over           // has said goodbye
)

// closing gives the room's word for a phase.
func (p phase) closing() abi.Closing {
	return [...]abi.Closing{abi.ClosingNone, abi.ClosingPre, abi.ClosingClosing, abi.ClosingClosing, abi.ClosingTerminal}[p]
}

// usualTurns is the cap a talk is paced for where the room has none.
const usualTurns = 24

// pace gives the turn after which a talk winds down: about half of the cap,
// a little different from talk to talk, and early enough for the goodbyes.
func pace(m *mind, s companion.Scene, room string) (windDown, limit int) {
	limit = s.MaxTurns
	if limit <= 0 {
		limit = usualTurns
	}
	if limit < usualTurns {
		return max(1, min(12, limit-8)), limit
	}
	return 12 + int(words.Hash(room, m.opener().text)%3), limit
}

// phaseOf reads the phase from the room's closing, the turns left and what was
// said: a question is answered before anybody winds down.
func phaseOf(m *mind, s companion.Scene, self, room string) phase {
	last := m.last()
	switch {
	case m.byes[self], s.Closing == abi.ClosingTerminal && !last.human:
		return over
	case m.opener().intents[words.Bye] && !m.opener().question:
		return leaving
	case last.human:
		return talking
	}
	wind, limit := pace(m, s, room)
	stage, turns := s.Closing.Stage(), s.Turns
	switch {
	case stage >= 2 || turns >= wind+5 || turns >= limit-3 && limit > 8:
		return leaving
	case last.question && turns < wind+3 && (stage == 0 || slices.Contains(last.to, self)):
		return talking
	case stage == 1 || turns >= wind+3:
		return thanking
	case turns >= wind:
		return ending
	}
	return talking
}

// lastToLeave says whether everybody else who talks here has said goodbye, or
// there is no time to wait for them.
func lastToLeave(m *mind, s companion.Scene, self, room string) bool {
	if _, limit := pace(m, s, room); s.Turns >= limit-1 {
		return true
	}
	return !slices.ContainsFunc(s.Members, func(o companion.Member) bool {
		return o.Kind == abi.KindCompanion && o.ID != self && !m.byes[o.ID]
	})
}
