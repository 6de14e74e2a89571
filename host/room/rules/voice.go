package rules

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
)

// Voice is the part of a room's state that is about what is heard.
type Voice struct {
	Playing  *playback.Line `json:"playing,omitempty"`  // sounds, or is being read
	Bodies   []Body         `json:"bodies,omitempty"`   // connected
	Speaking []Speaker      `json:"speaking,omitempty"` // humans who speak into a microphone
	Hush     time.Time      `json:"hush,omitzero"`      // nobody else begins before
	Began    time.Time      `json:"began,omitzero"`     // when the newest round opened
	Leads    []int64        `json:"leads,omitempty"`    // milliseconds from then to the first words, of the newest lines
	Wasted   Wasted         `json:"wasted,omitzero"`
	Alike    []bool         `json:"alike,omitempty"` // whether the newest lines say what others did before
}

// Body is one that is connected.
type Body struct {
	entry.Body
	Missed int   `json:"missed,omitempty"` // lines in a row that it was to tell of and did not
	Rate   int64 `json:"rate,omitempty"`   // how long it takes for what is estimated at 1000, of late
}

// Speaker is a human who speaks.
type Speaker struct {
	From    string    `json:"from"`
	Since   time.Time `json:"since"`
	Counted bool      `json:"counted,omitempty"` // it is no noise
}

// Wasted is what was made ahead and thrown away.
type Wasted struct {
	Turn int         `json:"turn,omitempty"` // lines since one was heard
	At   []time.Time `json:"at,omitempty"`   // the newest, at most maxWasted
}

// MaxBodies is how many bodies a room knows.
const MaxBodies = 64

const (
	firstLead   = 4 * time.Second // before it is known how long a line takes to make
	longestLead = 8 * time.Second
	leads       = 20
	wastedTurn  = 2
	maxWasted   = 256
	stalled     = 4 * time.Second        // in a line, without a word
	noise       = 500 * time.Millisecond // shorter speech is none
	textIn      = 2 * time.Second        // after speech, the time in which its text comes
	longSpeech  = 15 * time.Second       // for which a room waits without a word
	maxSpeakers = 16
	repeats     = 2 // lines alike, of the newest window, that move the closing on
	window      = 4
	news        = 5   // tenths of what is new of a body's rate
	quickest    = 500 // for what is estimated at 1000
	laziest     = 2000
	firstGap    = 100 // milliseconds between two lines, as people leave
	gaps        = 301
)

// sound notes that part n of a line went out.
func (s *State) sound(line, who string, n int, p playback.Part) {
	if here := s.Playing != nil && s.Playing.ID == line; here && s.Playing.Silent {
		s.joins(who) // a body that came while it was read says the rest
	} else if !here {
		if n > 1 {
			return
		}
		l := &playback.Line{ID: line, Who: who, Silent: true, Waits: map[string]int{}}
		for _, b := range s.Bodies {
			if b.Who != who {
				continue
			}
			if l.Silent = false; b.Plays {
				l.Waits[b.ID] = 0
				l.Rate = max(l.Rate, cmp.Or(b.Rate, 1000))
			}
		}
		if l.Silent && !s.Rules.Auto {
			return
		}
		s.Playing = l
	}
	s.Playing.Add(p)
}

// begins notes how long whoever has the floor took to its first words.
func (s *State) begins(at time.Time) {
	if s.Floor == nil || s.Floor.Segments > 0 || s.Floor.Opened.IsZero() || s.Floor.Ahead {
		return // one that was held says nothing of that
	}
	if s.Leads = append(s.Leads, at.Sub(s.Floor.Opened).Milliseconds()); len(s.Leads) > leads {
		s.Leads = s.Leads[1:]
	}
}

// sounded notes that a line was said to its end: it is heard from now on, where a body
// says it or the room goes at the pace of its lines, and else there is a pause.
func (s *State) sounded(e entry.Entry, b entry.Said) {
	line := cmp.Or(b.Grant, e.ID)
	if b.Segments == 0 {
		s.begins(e.At)
		s.sound(line, b.From, 1, playback.Part{Text: b.Text, Voice: b.Voice, Shown: e.At})
	}
	s.Pace = time.Time{}
	if s.Playing != nil && s.Playing.ID == line {
		s.Playing.Complete(e.Seq, b.Broken)
	} else if !s.Sounds() {
		s.Playing, s.Pace = nil, e.At.Add(time.Duration(s.Rules.Pace)*time.Millisecond)
	}
	s.Alike = append(s.Alike, b.Like != 0)
	s.Alike = s.Alike[max(0, len(s.Alike)-window):]
}

// circles says whether the newest lines go round in circles.
func (s *State) circles() bool {
	n := 0
	for _, like := range s.Alike {
		if like {
			n++
		}
	}
	return n >= repeats
}

func bodiesOf(all []Body) (bodies []entry.Body) {
	for _, b := range all {
		bodies = append(bodies, b.Body)
	}
	return bodies
}

// joins has the bodies of a speaker say the rest of a line that nobody said so far.
func (s *State) joins(who string) {
	for _, b := range s.Bodies {
		if b.Who != who {
			continue
		}
		if s.Playing.Silent = false; b.Plays {
			s.Playing.Waits[b.ID] = len(s.Playing.Parts)
		}
	}
}

// Sounds says whether a body says a line, so that nobody else does.
func (s *State) Sounds() bool { return s.Playing != nil && !s.Playing.Silent }

// MayBegin says whether a line with this grant may go out: nobody else is heard, and
// nobody speaks; at is when to look again, zero for when something happens.
func (s *State) MayBegin(line string, now time.Time) (ok bool, at time.Time) {
	if s.Playing != nil && s.Playing.ID != line {
		return false, time.Time{}
	}
	at = s.Pace
	if s.Hush.After(at) {
		at = s.Hush
	}
	return !now.Before(at), at
}

// ahead says whether the next line may be made while the last one is heard: too many
// were made for nothing else.
func (s *State) ahead() bool {
	hour := 0
	for _, at := range s.Wasted.At {
		if s.At.Sub(at) < time.Hour {
			hour++
		}
	}
	return s.Wasted.Turn < wastedTurn && hour < s.Rules.Ahead
}

// lead is how long before the end of a line the next one is asked for: as long as it
// takes, nineteen times of twenty, from the first question to the first words, and a
// quarter more. A voice may be that much quicker than estimated, and the lines that tell
// are few: only those that were not made ahead.
func (s *State) lead() time.Duration {
	if len(s.Leads) == 0 {
		return firstLead
	}
	sorted := slices.Sorted(slices.Values(s.Leads))
	return min(longestLead, time.Duration(sorted[(len(sorted)*19+19)/20-1]*5/4)*time.Millisecond)
}

// opens is when the next round opens: while a line is heard, so long before its end
// that the next is there by then, or at once where a human waits; not while somebody
// speaks, for what is said then is what it would have to be about.
func (s *State) opens() time.Time {
	if at := s.earliest(); !s.Hush.After(at) {
		return at
	}
	return s.Hush
}

// earliest is opens, but for who speaks.
func (s *State) earliest() time.Time {
	switch at := s.pace(); {
	case s.forLoading() != nil:
		return s.forLoading().At.Add(longestLoad)
	case s.Playing == nil:
		return at
	case !s.ahead():
		return s.Playing.Until()
	case len(s.Unanswered) > 0:
		return at
	default:
		if early := s.Playing.Ends().Add(-s.lead()); early.After(at) {
			return early
		}
		return at
	}
}

// waste counts a line that was made ahead for nothing.
func (s *State) waste(at time.Time) {
	if s.Floor == nil || !s.Floor.Ahead {
		return
	}
	s.Wasted.Turn++
	s.Wasted.At = append(s.Wasted.At, at)
	if len(s.Wasted.At) > maxWasted {
		s.Wasted.At = s.Wasted.At[1:]
	}
}

// stale says whether a line that is made ahead is of no use any more.
func (f *Floor) stale(s *State) bool {
	return f.Ahead && f.Segments == 0 && s.Last.Seq > f.About && s.LastBy == abi.KindHuman && s.Rules.Stale != entry.StaleAccept
}

// interrupted is what a human's turn does to the line that is heard.
func (s *State) interrupted(b entry.Said, at time.Time) {
	s.Speaking = slices.DeleteFunc(s.Speaking, func(p Speaker) bool { return p.From == b.From })
	if len(s.Speaking) == 0 {
		s.Hush = time.Time{}
	}
	if s.Playing == nil {
		return
	}
	if s.Playing.Silent {
		if s.Playing.Of != 0 {
			s.Playing = nil // it was read
		}
		return
	}
	if slices.Contains(b.Addressed, s.Playing.Who) || b.Source != entry.SourceChat && s.mayInterrupt(b.From) {
		s.cut(b.From, at)
	}
}

func (s *State) mayInterrupt(who string) bool {
	return slices.Contains(s.Rules.Interrupters, "*") || slices.Contains(s.Rules.Interrupters, who)
}

// cut has the line that is heard end before its time, unless it is about to end.
func (s *State) cut(by string, at time.Time) {
	l := s.Playing
	if s.Rules.Interrupt == entry.InterruptNever || !l.Cut.IsZero() {
		return
	}
	if s.Rules.Interrupt == entry.InterruptNow {
		l.Cut = at
	} else if !l.Stop(at) {
		return
	}
	l.By = by
}

// speaks notes what a microphone hears.
func (s *State) speaks(b entry.Speaking, at time.Time) {
	i := slices.IndexFunc(s.Speaking, func(p Speaker) bool { return p.From == b.From })
	switch {
	case b.On && i < 0 && len(s.Speaking) < maxSpeakers:
		s.Speaking, s.Hush = append(s.Speaking, Speaker{From: b.From, Since: at}), at.Add(longSpeech)
	case !b.On && i >= 0:
		s.Speaking = slices.Delete(s.Speaking, i, i+1)
		if len(s.Speaking) == 0 {
			s.Hush = at.Add(textIn)
		}
	}
}

// Speaks says whether a human speaks.
func (s *State) Speaks(who string) bool {
	return slices.ContainsFunc(s.Speaking, func(p Speaker) bool { return p.From == who })
}

// spoken notes that whoever spoke for so long means it.
func (s *State) spoken(at time.Time) {
	for i, p := range s.Speaking {
		if !p.Counted && !at.Before(p.Since.Add(noise)) {
			s.Speaking[i].Counted = true
			if s.Sounds() && s.mayInterrupt(p.From) {
				s.cut(p.From, at)
			}
		}
	}
}

func (s *State) bodies(b entry.Bodies, at time.Time) {
	for _, j := range slices.Concat(b.Joined, b.Left) {
		s.Bodies = slices.DeleteFunc(s.Bodies, func(have Body) bool { return have.ID == j.ID })
		if s.Playing != nil {
			s.Playing.Leave(j.ID, at)
		}
	}
	for _, j := range b.Joined {
		if len(s.Bodies) < MaxBodies {
			s.Bodies = append(s.Bodies, Body{Body: j})
		}
	}
}

func (s *State) played(b entry.Played, at time.Time) {
	l := s.Playing
	switch {
	case l == nil || l.ID != b.Line:
	case b.Seconds > 0:
		l.Takes(b.Part, time.Duration(b.Seconds*1000)*time.Millisecond)
	case b.Failed != "":
		if _, waits := l.Waits[b.Body]; waits && len(l.Waits) == 1 {
			l.Failed, l.Over = b.Failed, true
			return
		}
		l.Leave(b.Body, at)
	case b.Done:
		s.learn(b.Body, l.Played(b.Body, len(l.Parts), at))
	default:
		s.learn(b.Body, l.Played(b.Body, b.Part, at))
	}
}

// learn notes how fast a body speaks.
func (s *State) learn(body string, rate int64) {
	i := slices.IndexFunc(s.Bodies, func(b Body) bool { return b.ID == body })
	if rate == 0 || i < 0 {
		return
	}
	was := cmp.Or(s.Bodies[i].Rate, 1000)
	s.Bodies[i].Rate = (was*(10-news) + min(max(rate, quickest), laziest)*news) / 10
}

// orphan says whether a line has begun to sound that nobody makes any more.
func (s *State) orphan() bool {
	return s.Playing != nil && s.Playing.Of == 0 && (s.Floor == nil || s.Floor.Token != s.Playing.ID)
}

// heard ends the line that is heard.
func (m *Machine) heard(at time.Time) error {
	l := m.State.Playing
	b := entry.Heard{Line: l.ID, Who: l.Who, Of: l.Of, Text: l.Heard(at), Gap: m.State.gap(l.ID)}
	switch {
	case m.State.over() != "":
		b.End, b.Why = entry.EndStopped, m.State.over()
	case l.Of == 0:
		b.End, b.Why = entry.EndFailed, "nobody goes on with it"
	case l.Off:
		b.End, b.Why, b.Text = entry.EndCut, l.By+" spoke over it", l.Heard(l.Cut)
	case l.Failed != "":
		b.End, b.Why = entry.EndFailed, l.Failed
	case l.Done:
		b.End, b.Why = entry.EndSaid, "played"
	case len(l.Waits) > 0:
		b.End, b.Why, b.Missed = entry.EndSaid, "no word that it was played", slices.Sorted(maps.Keys(l.Waits))
	default:
		b.End, b.Why = entry.EndSaid, "by its length"
	}
	if b.End == entry.EndSaid || b.End == entry.EndCut && b.Text == l.Text() {
		b.End, b.Text = entry.EndSaid, ""
	}
	_, err := m.record(entry.KindHeard, entry.HeardID(l.ID), at, b)
	return err
}

// gap is how long nobody speaks behind a line, in milliseconds.
func (s *State) gap(line string) int64 {
	h := fnv.New32a()
	h.Write([]byte(s.Rules.Seed))
	h.Write([]byte(line))
	return firstGap + int64(h.Sum32()%gaps)
}

// wasHeard is the fold of a line that is over.
func (s *State) wasHeard(e entry.Entry, b entry.Heard) {
	for i, have := range s.Bodies {
		switch {
		case slices.Contains(b.Missed, have.ID):
			if s.Bodies[i].Missed++; s.Bodies[i].Missed == 2 {
				s.Bodies[i].Plays = false // it says that it tells, and does not
			}
		case have.Who == b.Who && b.End == entry.EndSaid:
			s.Bodies[i].Missed = 0
		}
	}
	if b.End != entry.EndSaid && s.Last.Seq == b.Of {
		s.Last.Text = b.Text
	}
	s.Playing, s.Wasted.Turn = nil, 0
	if f := s.Floor; f != nil && f.Ahead && f.Segments == 0 { // it may sound now
		if held := e.At.Add(time.Duration(s.Rules.Floor) * time.Millisecond); held.Before(f.Expires) {
			f.Expires = held
		}
	}
	s.Pace = e.At.Add(time.Duration(b.Gap) * time.Millisecond)
}

// voiceDue gives the stored times of what is heard.
func (s *State) voiceDue(consider func(time.Time, entry.DueKind, uint64)) {
	l := s.Playing
	if l == nil {
		return
	}
	if !l.Cut.IsZero() && !l.Off {
		consider(l.Cut, entry.DueCut, l.Of)
	} else if l.Of != 0 && !l.Over {
		consider(l.Until(), entry.DueHeard, l.Of)
	}
	for _, p := range s.Speaking {
		if !p.Counted {
			consider(p.Since.Add(noise), entry.DueSpoken, 0)
		}
	}
}
