package fold

import (
	"cmp"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
)

// Stalled is how long a line that has begun to sound waits for its next word.
const Stalled = 4 * time.Second

// begins notes how long whoever has the floor took to its first words.
func (s *State) begins(at time.Time) {
	if s.Floor == nil || s.Floor.Segments > 0 || s.Floor.Opened.IsZero() || s.Floor.Ahead {
		return // one that was held says nothing of that
	}
	s.Lead(at.Sub(s.Floor.Opened))
}

// sounded notes that a line was said to its end: it is heard from now on, where a body
// says it or the room goes at the pace of its lines, and else there is a pause.
func (s *State) sounded(e entry.Entry, b entry.Said) {
	line := cmp.Or(b.Grant, e.ID)
	if b.Segments == 0 {
		s.begins(e.At)
		s.Sound(line, b.From, 1, playback.Part{Text: b.Text, Voice: b.Voice, Shown: e.At}, s.Rules.Auto)
	}
	s.Pace = time.Time{}
	if s.Playing != nil && s.Playing.ID == line {
		s.Playing.Complete(e.Seq, b.Broken, b.Ends)
	} else if !s.Sounds() {
		s.Playing, s.Pace = nil, e.At.Add(time.Duration(s.Rules.Pace)*time.Millisecond)
	}
	s.Echo(b.Like != 0)
}

// MayBegin says whether a line with this grant may go out: nobody else is heard, nothing goes on
// of a line that was cut off, and nobody speaks; at is when to look again, zero for when something happens.
func (s *State) MayBegin(line string, now time.Time) (ok bool, at time.Time) {
	if s.Playing != nil && s.Playing.ID != line {
		return false, time.Time{}
	}
	at = later(s.Pauses(), s.Hush)
	return !now.Before(at), at
}

// MayMake says whether the next line may be made while the last one is heard.
func (s *State) MayMake() bool { return s.MayWaste(s.At, s.Rules.Ahead) }

// Opens is when the next round opens: while a line is heard, so long before its end
// that the next is there by then, or at once where a human waits; not while somebody
// speaks, for what is said then is what it would have to be about.
func (s *State) Opens() time.Time { return later(s.earliest(), s.Hush) }

// earliest is opens, but for who speaks.
func (s *State) earliest() time.Time {
	switch at := s.pace(); {
	case s.forLoading() != nil:
		return s.forLoading().At.Add(LongestLoad)
	case s.Playing == nil:
		return at
	case !s.MayMake():
		return s.Playing.Until()
	case len(s.Unanswered) > 0:
		return at
	default:
		return later(at, s.Playing.Ends().Add(-s.Ahead()))
	}
}

// waste counts a line that was made ahead for nothing.
func (s *State) waste(at time.Time) {
	if s.Floor != nil && s.Floor.Ahead {
		s.Waste(at)
	}
}

// Orphan says whether a line has begun to sound that nobody makes any more.
func (s *State) Orphan() bool {
	return s.Playing != nil && s.Playing.Of == 0 && (s.Floor == nil || s.Floor.Token != s.Playing.ID)
}

// wasHeard is the fold of a line that is over.
func (s *State) wasHeard(e entry.Entry, b entry.Heard) {
	s.Ended(b, e.At)
	if b.End != entry.EndSaid && s.Last.Seq == b.Of {
		s.Last.Text = b.Text
	}
	if f := s.Floor; f != nil && f.Ahead && f.Segments == 0 { // it may sound now
		if held := e.At.Add(time.Duration(s.Rules.Floor) * time.Millisecond); held.Before(f.Expires) {
			f.Expires = held
		}
	}
	s.Pace = e.At.Add(time.Duration(b.Gap) * time.Millisecond)
}
