package ollmv

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/companiond/companiond/host/door/socket/session"
)

const (
	// How long the sound of a part is waited for when it is its turn: the room waits for ten seconds at least until it hears that it
	// was played. And how long where none came of the line so far.
	soon, soonAgain = 6 * time.Second, time.Second
	// How long the next part is held back when one has sounded: the room, which is told, may end the line behind it, and what the
	// page was sent by then it would show.
	answers = 50 * time.Millisecond
)

// sound is how a part of a line sounds; of no length where it does not.
type sound struct {
	wav    []byte // until it is sent
	length time.Duration
}

// sounds takes how a part sounds.
func (f *Front) sounds(o session.Sound) {
	l := f.line(o.Line)
	if l == nil || f.Sound == nil {
		return
	}
	i := slices.IndexFunc(l.sentences, func(s sentence) bool { return s.of == o.Part })
	if i < l.shown || l.sentences[i].there {
		return
	}
	s := &l.sentences[i]
	s.there = true
	if o.Failed != "" {
		return
	}
	if wav, err := f.Sound(o.Blob); err == nil { // else it is gone by now
		s.sound, l.mute = sound{wav, time.Duration(o.Seconds * float64(time.Second))}, false
	}
}

// sounding says whether the next sentence can go out: its sound is there, or was waited for long enough.
func (l *line) sounding(now time.Time) bool {
	s := &l.sentences[l.shown]
	switch {
	case s.there:
	case l.patience.IsZero():
		l.patience = now.Add(map[bool]time.Duration{false: soon, true: soonAgain}[l.mute])
		return false
	case now.Before(l.patience):
		return false
	default:
		s.there, l.mute = true, true
	}
	l.patience = time.Time{}
	return true
}

// starts takes the page's word that a sentence begins: it was sent before, and takes as long as it sounds from now on.
func (f *Front) starts(raw json.RawMessage, now time.Time) {
	var shows display
	if f.Sound == nil || json.Unmarshal(raw, &shows) != nil {
		return
	}
	for _, l := range f.lines {
		if l.shown == 0 || l.told == l.shown {
			continue
		}
		if s := &l.sentences[l.shown-1]; s.text == shows.Text && s.sound.length > 0 && !s.begun {
			s.begun, l.next = true, now.Add(s.sound.length)
			return
		}
	}
}

// sounded tells the room of each part when it has sounded, not only when the next goes out. Of the last the page tells.
func (f *Front) sounded(l *line, now time.Time) {
	if f.Sound == nil || now.Before(l.next) || l.last && l.shown == len(l.sentences) {
		return
	}
	if f.played(l) {
		l.next = now.Add(answers)
	}
}
