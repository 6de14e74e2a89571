// Package playback follows one line while a body says it: which of its parts were
// heard, until when it may sound, and what people have heard of it when it is cut off.
//
// It is pure: the time and every word of a body come in, and it never asks how long a
// text takes, which was found out when the text was written down. It decides nothing
// about whose turn it is; host/room/rules does.
package playback

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/host/entry"
)

// How long a line may sound at most, beyond what was estimated: a voice takes longer
// than thought, and each part has to be made first.
const (
	slack    = 4                      // a part of the estimate more, where no body tells
	outset   = 300 * time.Millisecond // until the first part sounds
	each     = 600 * time.Millisecond // to make a part
	patience = 2                      // times the estimate, where a body tells
	silence  = 5 * time.Second        // more than that without a word of it
	longest  = time.Minute
)

// Part is a piece of the line, as it went out.
type Part struct {
	Text  string       `json:"text"`
	Voice []entry.Beat `json:"voice,omitempty"`
	Shown time.Time    `json:"shown"`
}

// Line is one that sounds, or is about to.
type Line struct {
	ID    string `json:"line"` // the grant's token
	Who   string `json:"who"`
	Of    uint64 `json:"of,omitempty"` // seq of its message; 0: more of it may come
	Parts []Part `json:"parts,omitempty"`
	// Rate is how long the slowest body takes for what is estimated at 1000; 0: 1000.
	Rate int64 `json:"rate,omitempty"`
	// Waits has how many parts each body has played that tells when it has; empty:
	// none does.
	Waits  map[string]int `json:"waits,omitempty"`
	Told   time.Time      `json:"told,omitzero"`    // when the slowest of them was last heard of
	Done   bool           `json:"done,omitempty"`   // all of them have played it
	Failed string         `json:"failed,omitempty"` // why it was not played to its end, or not said to its end
	Over   bool           `json:"over,omitempty"`   // it took as long as it may
	Cut    time.Time      `json:"cut,omitzero"`     // it is cut off then
	By     string         `json:"by,omitempty"`     // whoever cuts it off
	Off    bool           `json:"off,omitempty"`    // it was cut off
	// Silent is a line that no body says: people read it, and have read it when
	// somebody goes on.
	Silent bool `json:"silent,omitempty"`
}

// Add adds a part that went out.
func (l *Line) Add(p Part) {
	if len(l.Parts) == 0 {
		l.Told = p.Shown
	}
	l.Parts = append(l.Parts, p)
}

// Text is all that went out so far.
func (l *Line) Text() string {
	var b strings.Builder
	for _, p := range l.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Played takes the word of a body that it has played so many parts. The line is done
// when all that tell have played it all. It answers how long the body took for what is
// estimated at 1000, 0 where that cannot be told.
func (l *Line) Played(body string, part int, at time.Time) (rate int64) {
	was, waits := l.Waits[body]
	if !waits || part <= was && !l.Told.IsZero() && part < len(l.Parts) {
		return 0
	}
	before := l.slowest()
	if from, to := was, min(part, len(l.Parts)); to > from && len(l.Waits) == 1 {
		if est := l.took(to) - l.took(from); est > 0 && !l.Parts[to-1].Shown.After(l.Told) { // else it had to wait for them
			rate = int64(at.Sub(l.Told) * 1000 / est)
		}
	}
	l.Waits[body] = min(part, len(l.Parts))
	if l.slowest() > before || len(l.Waits) == 1 {
		l.Told = at
	}
	l.settle()
	return rate
}

// Complete says that no more of the line comes; of is the seq of its message, and
// broken says why it breaks off.
func (l *Line) Complete(of uint64, broken string) {
	l.Of, l.Failed = of, broken
	l.settle()
}

func (l *Line) settle() { l.Done = l.Of != 0 && len(l.Waits) > 0 && l.slowest() == len(l.Parts) }

// Ended says whether the line is over.
func (l *Line) Ended() bool { return l.Of != 0 && (l.Done || l.Over || l.Off) }

// Leave forgets a body that has gone, or does not tell any more.
func (l *Line) Leave(body string, at time.Time) {
	if _, waits := l.Waits[body]; !waits {
		return
	}
	last := len(l.Waits) == 1
	heard := l.slowest()
	delete(l.Waits, body)
	if last {
		l.Told = at.Add(-l.took(heard)) // as if it had been estimated all along
		return
	}
	l.settle()
}

// slowest is how many parts all that tell have played.
func (l *Line) slowest() int {
	n := len(l.Parts)
	for _, k := range l.Waits {
		n = min(n, k)
	}
	if len(l.Waits) == 0 {
		return 0
	}
	return n
}

// took is how long the first parts take to say.
func (l *Line) took(parts int) (d time.Duration) {
	for _, p := range l.Parts[:parts] {
		d += p.length()
	}
	return d
}

func (p Part) length() (d time.Duration) {
	for _, b := range p.Voice {
		d += time.Duration(b.MS) * time.Millisecond
	}
	return d
}

// Ends is when the line will have been said, by the estimate and what the bodies told.
// A part does not begin before it went out.
func (l *Line) Ends() time.Time {
	at := l.Told
	for _, p := range l.Parts[l.slowest():] {
		if p.Shown.After(at) {
			at = p.Shown
		}
		at = at.Add(l.rated(p.length()))
	}
	return at
}

// rated is how long what is estimated takes the body that says it.
func (l *Line) rated(d time.Duration) time.Duration {
	if l.Rate == 0 {
		return d
	}
	return (d * time.Duration(l.Rate) / 1000).Truncate(time.Millisecond) // the room's clock has no smaller times
}

// Until is the time after which nobody waits for the line any more: without a body
// that tells, a little longer than the estimate, else much longer. It is in whole
// milliseconds, as all times of a room are.
func (l *Line) Until() time.Time {
	rest := l.Ends().Sub(l.Told)
	if l.Silent {
		return l.Ends()
	}
	if len(l.Waits) > 0 {
		return l.Told.Add(max(rest, min(patience*rest+silence, longest)))
	}
	return l.Told.Add(rest + (rest / slack).Truncate(time.Millisecond) + outset + time.Duration(len(l.Parts))*each)
}

// Heard is what people have heard of the line at a moment.
func (l *Line) Heard(at time.Time) string {
	if l.Done {
		return l.Text()
	}
	var b strings.Builder
	done := l.slowest()
	for _, p := range l.Parts[:done] {
		b.WriteString(p.Text)
	}
	from := l.Told
	for _, p := range l.Parts[done:] {
		if p.Shown.After(from) {
			from = p.Shown
		}
		text, whole := p.heard(at.Sub(from) * 1000 / time.Duration(cmp.Or(l.Rate, 1000)))
		if b.WriteString(text); !whole {
			break
		}
		from = from.Add(l.rated(p.length()))
	}
	return b.String()
}

// heard gives the beginning of a part that sounds for so long.
func (p Part) heard(d time.Duration) (text string, whole bool) {
	from := 0
	for _, v := range p.Voice {
		end, ms := min(from+v.Bytes, len(p.Text)), time.Duration(v.MS)*time.Millisecond
		if d < ms {
			return p.Text[:from+letters(p.Text[from:end], float64(d)/float64(ms))], false
		}
		from, d = end, d-ms
	}
	return p.Text, d >= 0
}

// letters gives how many bytes the first share of a text's letters are.
func letters(s string, share float64) (n int) {
	for left := int(share * float64(utf8.RuneCountInString(s))); left > 0; left-- {
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
	}
	return n
}

// Sentence is when the sentence that sounds at a moment will have been said.
func (l *Line) Sentence(at time.Time) time.Time {
	from := l.Told
	for _, p := range l.Parts[l.slowest():] {
		if p.Shown.After(from) {
			from = p.Shown
		}
		for _, v := range p.Voice {
			if from = from.Add(l.rated(time.Duration(v.MS) * time.Millisecond)); from.After(at) {
				return from
			}
		}
	}
	return at
}
