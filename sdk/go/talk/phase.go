package talk

import (
	"slices"
	"strconv"

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
// a little different from talk to talk, and early enough for the goodbyes. A remark that
// asks nothing and is about nothing is not talked about for as long.
func pace(m *mind, s companion.Scene, room string) (windDown, limit int) {
	limit = s.MaxTurns
	if limit <= 0 {
		limit = usualTurns
	}
	if o := m.opener(); remark(o) {
		return max(1, min(5+int(words.Hash(room, o.text)%3), limit-8)), limit
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
	if m.visit.byes && m.visit.seq == m.opener().seq {
		if wind, _ := pace(m, s, room); s.Turns >= wind || s.Closing.Stage() > 0 {
			return over // once a visit is enough, where the person has not
		}
	}
	wind, limit := pace(m, s, room)
	stage, turns := s.Closing.Stage(), s.Turns
	first := parting(m.opener(), room)
	switch {
	case stage >= 2 || turns >= wind+5 || turns >= limit-3 && limit > 8:
		return leaving
	case last.question && turns < wind+3 && (stage == 0 || slices.Contains(last.to, self)):
		return talking
	case stage == 1 || turns >= wind+3:
		return max(thanking, first)
	case turns >= wind:
		return first
	}
	return talking
}

// remark says whether a person's message is one that is said in passing.
func remark(o beat) bool {
	_, told := words.Introduced(o.text)
	return o.human && !told && !o.question && len(o.topics) == 0 && len(o.intents) == 0
}

// parting gives how a talk begins to end. Not each takes all three steps: people notice.
func parting(o beat, room string) phase {
	if !o.human {
		return ending
	}
	return ending + phase(words.Hash(room, o.text, strconv.FormatUint(o.seq, 10))%3)
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
