package playback

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// longestLinger bounds how long a room waits for the word of a body that a sentence has ended; one that had to connect again
// may have begun it so long before.
const longestLinger = 10 * time.Second

// Lingering is the sentence that goes on when its line has ended: in bodies that finish what they
// have begun, whoever speaks over it.
type Lingering struct {
	Line  string    `json:"line"`
	Tell  []string  `json:"tell,omitempty"`  // bodies that tell when it is over
	Until time.Time `json:"until"`           // by then it is, whatever they tell
	Guess time.Time `json:"guess,omitzero"`  // and in those that do not tell, by its length
	Ends  time.Time `json:"ends,omitzero"`   // and in those that tell, by its length
	Who   string    `json:"who,omitempty"`   // whose line it was
	Alone bool      `json:"alone,omitempty"` // those that told are connected to nobody any more
}

// linger notes what goes on of the line that ends: b says how, at when.
func (v *Voice) linger(b entry.Heard, at time.Time) {
	l := v.Playing
	v.Lingering = nil
	if l == nil {
		return
	}
	if l.Unheard != nil {
		v.Lingering = l.Unheard
		return
	}
	next := Lingering{Line: l.ID, Who: l.Who, Until: at, Guess: at}
	for _, x := range v.Bodies {
		if !x.Finishes || x.Who != l.Who || slices.Contains(l.Quiet, x.ID) || slices.Contains(b.Missed, x.ID) && !l.Sentences {
			continue
		}
		if played, waits := l.Waits[x.ID]; !waits {
			next.Guess = l.sentenceEnds(at)
		} else if played < len(l.Parts) {
			next.Tell, next.Until, next.Ends = append(next.Tell, x.ID), at.Add(longestLinger), l.sentenceEnds(at)
			if l.Sure < l.Words && !l.Asked.IsZero() { // it was waited for already
				next.Until = later(at, l.Asked.Add(longestLinger))
			}
		}
	}
	if len(next.Tell) > 0 || next.Guess.After(at) {
		v.Lingering = &next
	}
}

// unheard notes what goes on in bodies that finish their sentence while nobody is there to whom they
// could tell so: it is over by its length, or by the word of those that come in their place.
func (v *Voice) unheard(at, now time.Time) {
	if g := v.Lingering; g != nil && len(g.Tell) > 0 && !g.Alone {
		g.Guess, g.Alone = later(g.Guess, sooner(g.Until, cmp.Or(g.Ends, g.Until))), true
	}
	l := v.Playing
	if l == nil || l.Unheard != nil {
		return
	}
	g := Lingering{Line: l.ID, Until: sooner(now.Add(longestLinger), at.Add(2*longestLinger)), Alone: true}
	if g.Guess = sooner(l.sentenceEnds(at), at.Add(longestLinger)); l.Sentences { // else more than a sentence may go on
		g.Who = l.Who
	}
	if g.Guess.After(at) && slices.ContainsFunc(v.Bodies, func(x Body) bool {
		return x.Finishes && x.Who == l.Who && !slices.Contains(l.Quiet, x.ID)
	}) {
		l.Unheard = &g
	}
}

// again has a body that comes tell when the sentence is over that a body of its speaker was left with:
// the same page, as a rule. A page that was loaded anew meanwhile costs the wait for its word.
func (g *Lingering) again(b entry.Body) {
	if g != nil && g.Alone && b.Who == g.Who && b.Plays && b.Finishes && b.Sentences {
		g.Tell = append(slices.Clone(g.Tell), b.ID)
	}
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sentenceEnds gives when the sentence that sounds at a moment is over for sure, by its length: that
// moment where none does.
func (l *Line) sentenceEnds(at time.Time) time.Time {
	from := l.Told
	for _, p := range l.rest() {
		if p.Shown.After(from) {
			from = p.Shown
		}
		for _, v := range p.Voice {
			d := l.rated(time.Duration(v.MS) * time.Millisecond)
			if from = from.Add(d); from.After(at) {
				return from.Add((d / sure).Truncate(time.Millisecond))
			}
		}
	}
	return at
}

// Lingers is until when a sentence may go on of a line that has ended: nobody else begins before.
// Zero where none does.
func (v *Voice) Lingers() time.Time {
	switch g := v.Lingering; {
	case g == nil:
		return time.Time{}
	case len(g.Tell) > 0 && g.Until.After(g.Guess):
		return g.Until
	default:
		return g.Guess
	}
}

// Waits says whether a body's word about a line is waited for though the line has ended.
func (g *Lingering) Waits(line, body string) bool {
	return g != nil && g.Line == line && slices.Contains(g.Tell, body)
}

// Before gives the line that a body was sent before it was connected, where its word that it is over is
// waited for; "" else.
func (v *Voice) Before(body string) string {
	if g := v.Lingering; g != nil && g.Alone && g.Waits(g.Line, body) {
		return g.Line
	}
	return ""
}

// quiet notes that a body says nothing any more of a line that has ended: it told so, or has gone.
func (g *Lingering) quiet(body string, at time.Time) {
	if g == nil {
		return
	}
	i := slices.Index(g.Tell, body)
	if i < 0 {
		return
	}
	if g.Tell = slices.Delete(slices.Clone(g.Tell), i, i+1); len(g.Tell) == 0 && at.After(g.Guess) {
		g.Guess = at
	}
}
