package fold

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/life"
	"github.com/companiond/companiond/host/turn"
)

// forked is what a room begins with that shares the past of another: nobody has the floor, no
// call is out, no time is stored, and nobody waits for an answer, but whoever spoke last, where that is a
// human whom nobody had answered. Of a conversation it is a plain room. What a human stopped stays stopped.
func (s *State) forked(e entry.Entry) {
	last := s.Turn(s.Last.Seq)
	s.taken(e.At)
	s.hush()
	s.Life, s.Voice, s.Accounts, s.Barred, s.Acts = life.Life{}, playback.Voice{}, turn.Accounts{}, nil, nil
	s.Opened, s.Archived, s.Seen, s.Heeded, s.Silent, s.Rest, s.Alone = "", "", nil, nil, nil, "", false
	s.Asked, s.Knock, s.Broken = s.Last.Seq, false, false
	s.Pace = time.Time{}
	if last != nil && s.Stopped == "" {
		s.Unanswered = append(s.Unanswered, *last)
		s.Asked, s.Stage, s.Turns, s.Backchannels = s.Last.Seq-1, abi.ClosingNone, 0, 0
	}
	s.At = e.At
}

// Numbers gives the number of a turn that is said now, from 1; a backchannel belongs to the turn
// before it.
func (s *State) Numbers(kind abi.MessageKind) uint64 {
	n, _ := entry.Said{Kind: kind}.Number(s.Number)
	return n
}

// numbered counts a turn. Entries of before they were numbered do not say which one it is.
func (s *State) numbered(b entry.Said) {
	if n, turn := b.Number(s.Number); turn {
		s.Number = n
	}
}

// Uncounted says that nobody has counted the turns before the snapshot that the state
// was read from, which Count makes good.
func (s *State) Uncounted() bool { return s.uncounted }

// Count says how many turns there are up to the state's head.
func (s *State) Count(turns uint64) { s.Number, s.uncounted = turns, false }
