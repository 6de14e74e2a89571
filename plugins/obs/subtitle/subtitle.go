// Package subtitle decides which words stand on the screen at a time, from what rooms show of companions.
//
// It reads no clock, waits for nothing and reaches nothing: the time comes in with what is asked. It never shows
// a word before the room did, nor after somebody said STOP.
//
// # When a part is shown
//
// A body that plays a line says when it begins a part, and that counts. Where nobody says it, the clock does: the first
// part is shown when it goes out, and each other one when the one before has had the time that it takes to say. Where it is
// likely that a body will say it, the clock waits for that for [Patience] longer: a voice takes a while to be
// made, and words that stand there before they are heard give a joke away. It is likely where a body said the companion's
// line before, and not where none did. Of a companion's first line nobody knows: there a sound makes it likely, which has
// a [Moment] to come.
package subtitle

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// How much longer than its time a part is waited for: Patience where a body is likely to begin it, Moment where nobody
// knows yet.
const (
	Patience = 5 * time.Second
	Moment   = time.Second
)

// lost is how long after its last part a line is taken for over of which nothing comes any more.
const lost = 30 * time.Second

// Track is what is being said, of several companions. Use New.
type Track struct {
	prefix string
	linger time.Duration
	lines  []*line         // in the order in which they were first shown; those that were not are at the end
	last   time.Time       // that it was brought to
	plays  map[string]bool // by companion: whether a body began the parts of its last line; not there: unknown
}

// New makes a track on which nobody says anything. A line stands for linger after its end. The prefix stands
// before the words, with {name} in it for the companion's name.
func New(prefix string, linger time.Duration) *Track {
	return &Track{prefix: prefix, linger: linger, plays: map[string]bool{}}
}

// line is one that is being said.
type line struct {
	companion, id, name string
	parts               []part // in their order; those that were shown are gone, but for the one that is on
	on                  bool   // whether the first of parts is being said
	since               time.Time
	whole               int       // how many parts it has; 0: that is not known yet
	sounds              bool      // whether a part has a sound
	begun               bool      // a body said of a part that it begins
	byItself            bool      // a body says all of it, and not when it begins a part
	over                time.Time // when it ended, zero before
	cut                 bool      // nothing more of it is shown, whatever the clock says
}

// part is one of a line's.
type part struct {
	number int
	text   string
	takes  time.Duration
	came   time.Time
	silent bool // it has no sound, and will have none
}

// Show takes what a room shows of a companion. now never goes back.
func (t *Track) Show(now time.Time, s abi.Showing) {
	for _, x := range s.Shown {
		t.advance(now)
		switch x.Kind {
		case abi.ShowStop:
			t.lines = slices.DeleteFunc(t.lines, func(l *line) bool { return l.companion == s.Companion })
		case abi.ShowPiece:
			t.line(s, x).add(x, now)
		case abi.ShowWhole:
			t.all(now, s, x)
		default:
			if l := t.find(s.Companion, x.Line); l != nil {
				t.of(now, l, x)
			}
		}
	}
}

// At gives the words that stand on the screen at a time, and when to ask again where nothing is shown before; zero is
// never.
func (t *Track) At(now time.Time) (text string, again time.Time) {
	t.advance(now)
	for _, l := range t.lines {
		if at := t.next(l); again.IsZero() || at.Before(again) {
			again = at
		}
		if l.on {
			text = t.words(l)
		}
	}
	return text, again
}

// of takes what is shown of a line that is known.
func (t *Track) of(now time.Time, l *line, x abi.Shown) {
	switch x.Kind {
	case abi.ShowSound:
		if x.Sound != nil {
			l.sound(*x.Sound)
		}
	case abi.ShowStarts:
		t.begin(now, l, x)
	case abi.ShowEnd:
		t.end(now, l, x.End)
	}
}

func (t *Track) find(companion, id string) *line {
	for _, l := range t.lines {
		if l.companion == companion && l.id == id {
			return l
		}
	}
	return nil
}

// line gives the line of which something is shown, also where it is new.
func (t *Track) line(s abi.Showing, x abi.Shown) *line {
	l := t.find(s.Companion, x.Line)
	if l == nil {
		l = &line{companion: s.Companion, id: x.Line, name: s.Name}
		t.lines = append(t.lines, l)
	}
	return l
}

// add puts a part at its place.
func (l *line) add(x abi.Shown, now time.Time) {
	p := part{number: max(x.Part, 1), text: x.Text, takes: takes(x.Seconds, x.Text), came: now}
	at, has := slices.BinarySearchFunc(l.parts, p.number, func(p part, n int) int { return p.number - n })
	if !has && l.over.IsZero() {
		l.parts = slices.Insert(l.parts, at, p)
		if at == 0 && l.on {
			l.parts = l.parts[1:] // it is older than what is on
		}
	}
}

// all takes that no more of a line comes. One of which no part is known, because the handler is new, is a single
// part where it has no more.
func (t *Track) all(now time.Time, s abi.Showing, x abi.Shown) {
	l := t.find(s.Companion, x.Line)
	if l == nil && x.Part <= 1 && x.Text != "" {
		l = t.line(s, x)
		l.add(x, now)
	}
	if l != nil {
		l.whole = max(x.Part, 1)
	}
}

// sound takes the sound of a part, which says best how long it is.
func (l *line) sound(s abi.Sound) {
	for i := range l.parts {
		p := &l.parts[i]
		if p.number != s.Part {
			continue
		}
		p.silent = s.Failed != ""
		if s.Seconds > 0 {
			p.takes = seconds(s.Seconds)
		}
	}
	l.sounds = l.sounds || s.Failed == ""
}

// begin takes that a body begins a part, or all of the line.
func (t *Track) begin(now time.Time, l *line, x abi.Shown) {
	t.plays[l.companion] = true
	l.begun, l.byItself = true, x.Part == 0
	if !l.over.IsZero() {
		return
	}
	if x.Part == 0 {
		if !l.on {
			t.put(l, 0, now)
		} else {
			l.since = now
		}
		return
	}
	for i, p := range l.parts {
		if p.number == x.Part {
			if x.Seconds > 0 {
				l.parts[i].takes = seconds(x.Seconds)
			}
			t.put(l, i, now)
			return
		}
	}
}

// put shows a part of a line, and takes away those before it.
func (t *Track) put(l *line, i int, at time.Time) {
	l.parts, l.since = l.parts[i:], at
	if !l.on {
		l.on = true
		t.lines = slices.DeleteFunc(t.lines, func(o *line) bool { return o == l })
		last := slices.IndexFunc(t.lines, func(o *line) bool { return !o.on })
		if last < 0 {
			last = len(t.lines)
		}
		t.lines = slices.Insert(t.lines, last, l)
	}
}

// end takes that a line is over. One that was said, while no body told of it, goes on by the clock: there would
// be no time to read it.
func (t *Track) end(now time.Time, l *line, how string) {
	if !l.begun && how == "said" {
		t.plays[l.companion] = false
		l.over, l.whole = now, l.parts[len(l.parts)-1].number
		return
	}
	l.over, l.cut = now, true
	if l.on && how != "stopped" {
		l.parts = l.parts[:1]
		return
	}
	t.remove(l)
}

func (t *Track) remove(l *line) {
	t.lines = slices.DeleteFunc(t.lines, func(o *line) bool { return o == l })
}

// advance brings the track to a time: what is due is shown, and what is over goes. A part that was waited for in vain
// begins now, and not when it would have begun.
func (t *Track) advance(now time.Time) {
	for {
		var first *line
		for _, l := range t.lines {
			if at := t.next(l); !at.After(now) && (first == nil || at.Before(t.next(first))) {
				first = l
			}
		}
		if first == nil {
			t.last = now
			return
		}
		at := t.next(first)
		if at.Before(t.last) {
			at = t.last
		}
		switch {
		case !first.on:
			t.put(first, 0, at)
		case len(first.parts) > 1:
			t.put(first, 1, at)
		default:
			if !first.begun {
				t.plays[first.companion] = false
			}
			t.remove(first)
		}
	}
}

// next gives when the next part of a line is due, or the line goes where there is none.
func (t *Track) next(l *line) time.Time {
	if !l.on {
		return l.parts[0].came.Add(t.waits(l, l.parts[0]))
	}
	at := l.since.Add(l.parts[0].takes)
	switch {
	case len(l.parts) > 1:
		if came := l.parts[1].came; came.After(at) {
			at = came
		}
		return at.Add(t.waits(l, l.parts[1]))
	case !l.over.IsZero():
		if l.cut || l.begun || l.over.After(at) {
			at = l.over
		}
		return at.Add(t.linger)
	case l.whole > 0 && l.parts[0].number >= l.whole && !l.begun:
		return at.Add(t.linger + t.waits(l, l.parts[0]))
	}
	return at.Add(t.linger + lost)
}

// waits gives how long the clock waits for a body that begins a part.
func (t *Track) waits(l *line, p part) time.Duration {
	plays, known := t.plays[l.companion]
	switch {
	case l.byItself, p.silent, known && !plays:
		return 0
	case known, l.sounds:
		return Patience
	case l.on:
		return 0 // the part before had none
	}
	return Moment
}

// words gives what stands on the screen for a line.
func (t *Track) words(l *line) string {
	text := clean(l.parts[0].text)
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(t.prefix, "{name}", clean(l.name)) + text
}

// clean leaves of a text what shows, and what joins emoji and letters: a sign that turns or hides what stands beside it
// would do so with the companion's name.
func clean(text string) string {
	const joiner, nonJoiner = '\u200d', '\u200c'
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsGraphic(r) || r == joiner || r == nonJoiner:
			return r
		case r == '\t':
			return ' '
		}
		return -1
	}, strings.ToValidUTF8(text, "")))
}

// takes gives how long a part takes to say; of one without an estimate it is one of seven letters a second.
func takes(estimate float64, text string) time.Duration {
	if estimate > 0 {
		return seconds(estimate)
	}
	return max(time.Second, time.Duration(utf8.RuneCountInString(text))*time.Second/7)
}

// seconds is how long a part may be at most, and it is an hour: a number of another program's must not overflow.
func seconds(s float64) time.Duration { return time.Duration(min(s, 3600) * float64(time.Second)) }
