// Package face keeps how the face of a companion stands, by what a room shows of it: the emotion of what it says, and
// its mouth, which follows the timeline of a sound from the moment at which a body begins to play it.
//
// It knows no avatar and no wire, opens nothing, and plays no sound. Where the time matters it is asked with a time,
// and [Face.Play] alone looks at the clock.
package face

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

// Neutral is the emotion of a face that shows none.
const Neutral = "neutral"

// Options of a face.
type Options struct {
	// Guess has the mouth move by the text, as long as it is estimated to take, where a part has no sound that
	// says how, and where no body plays: a line that is over without having begun is said then.
	Guess bool
	// Rest is how long an emotion stays when its line is over; with 0 it stays until the next.
	Rest time.Duration
}

// Pose is how a face stands at a moment. Two that are equal look alike.
type Pose struct {
	Emotion string  // of what is said, or was just now: neutral, happy, angry, sad, relaxed or surprised
	Worn    int     // grows whenever an emotion is put on, also where the next line has the same
	Open    float64 // of the mouth, 0..1
	Shape   string  // of the mouth: a, i, u, e, o or n; empty where nobody knows
	Talks   bool    // the mouth follows a timeline now
}

// Face is how a face stands. Make one with New; its methods may be called from several goroutines.
type Face struct {
	opts    Options
	changed chan struct{}

	mu      sync.Mutex
	lines   map[key]*line
	order   []key // of lines, as they came
	saying  saying
	emotion string
	worn    int
	wearer  key       // the line that gave the emotion
	rests   time.Time // when the emotion is taken off; zero for never
}

// New makes a face that shows nothing.
func New(o Options) *Face {
	return &Face{opts: o, changed: make(chan struct{}, 1), lines: map[key]*line{}, emotion: Neutral}
}

// key is a line of a companion's.
type key struct{ companion, line string }

// line is what is known of a line that is not over.
type line struct {
	parts map[int]*part
	begun bool // to be said
}

// part is what is known of a part of a line.
type part struct {
	text, emotion string
	seconds       float64      // that it takes, as it is estimated
	mouth         []abi.Viseme // its sound's, or guessed
	known         bool         // mouth is there, or never will be
	long          time.Duration
}

// saying is which part is being said, all of a line where it is 0, since when.
type saying struct {
	of    key
	part  int
	since time.Time
	now   int  // the part of a whole line that was come to
	alone bool // no body says it, and nobody tells when it is over
}

// mostLines bounds the lines that are kept; of those whose end is not shown the oldest are forgotten.
const mostLines = 64

// Get fetches a blob, as [companion.Host.GetBlob] does.
type Get func(abi.BlobRef) (abi.Blob, error)

// Show takes what a room shows, which came at a time. An error says which timelines could not be read: their parts
// are said with the mouth shut, or as it is guessed.
func (f *Face) Show(at time.Time, s abi.Showing, get Get) error {
	var wrong []string
	for _, x := range s.Shown {
		var mouth []abi.Viseme
		if x.Kind == abi.ShowSound && x.Sound != nil && x.Sound.Failed == "" && x.Sound.Mouth.Hash != "" {
			blob, err := get(x.Sound.Mouth) // not under the lock: it asks the daemon
			if err == nil {
				mouth, err = ReadMouth(blob.Bytes)
			}
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("the mouth of line %s part %d: %v", x.Line, x.Part, err))
			}
		}
		f.mu.Lock()
		f.show(at, key{s.Companion, x.Line}, x, mouth)
		f.mu.Unlock()
	}
	select {
	case f.changed <- struct{}{}:
	default: // it will be looked at
	}
	if len(wrong) > 0 {
		return abi.Errorf(abi.CodeInvalid, "%s", strings.Join(wrong, "; "))
	}
	return nil
}

func (f *Face) show(at time.Time, k key, x abi.Shown, mouth []abi.Viseme) {
	switch x.Kind {
	case abi.ShowPiece:
		first := f.lines[k] == nil || len(f.lines[k].parts) == 0
		p := f.part(k, x.Part)
		p.text, p.emotion, p.seconds = x.Text, x.Emotion, x.Seconds
		// A face changes before the first word, and then as it comes to the others.
		if first || f.saying.of == k && f.saying.part == x.Part {
			f.wear(k, x.Emotion)
		}
	case abi.ShowSound:
		if x.Sound == nil {
			return
		}
		p := f.part(k, x.Part)
		if x.Sound.Failed == "" {
			p.mouth, p.known = mouth, mouth != nil
			p.long = seconds(x.Sound.Seconds)
		}
	case abi.ShowStarts:
		f.begin(at, saying{of: k, part: x.Part, since: at})
		if x.Part > 0 {
			p := f.part(k, x.Part)
			if x.Seconds > 0 {
				p.seconds = x.Seconds
			}
			if p.emotion != "" || p.text != "" {
				f.wear(k, p.emotion)
			}
		}
	case abi.ShowEnd:
		if l := f.lines[k]; f.opts.Guess && x.End == "said" && l != nil && !l.begun {
			f.begin(at, saying{of: k, since: at, alone: true})
			return
		}
		f.over(at, k)
	case abi.ShowStop:
		for known := range f.lines {
			if known.companion == k.companion {
				f.over(at, known)
			}
		}
		f.over(at, f.wearer)
		if f.saying.of.companion == k.companion {
			f.saying = saying{}
		}
	}
}

// begin says what is said from now on.
func (f *Face) begin(at time.Time, s saying) {
	if f.saying.alone && f.saying.of != s.of {
		f.over(at, f.saying.of)
	}
	f.saying = s
	if l := f.lines[s.of]; l != nil {
		l.begun = true
	}
}

// part gives what is known of a part, and makes room for it.
func (f *Face) part(k key, n int) *part {
	l := f.lines[k]
	if l == nil {
		l = &line{parts: map[int]*part{}}
		f.lines[k] = l
		f.order = append(f.order, k)
		if len(f.order) > mostLines {
			delete(f.lines, f.order[0])
			f.order = f.order[1:]
		}
	}
	if l.parts[n] == nil {
		l.parts[n] = &part{}
	}
	return l.parts[n]
}

// wear puts on the emotion of a line.
func (f *Face) wear(k key, emotion string) {
	if emotion == "" {
		emotion = Neutral
	}
	f.rests = time.Time{}
	if f.wearer != k || f.emotion != emotion {
		f.wearer, f.emotion = k, emotion
		f.worn++
	}
}

// over says that a line is.
func (f *Face) over(at time.Time, k key) {
	if f.saying.of == k {
		f.saying = saying{}
	}
	if f.wearer == k && f.emotion != Neutral && f.opts.Rest > 0 && f.rests.IsZero() {
		f.rests = at.Add(f.opts.Rest)
	}
	if f.lines[k] != nil {
		delete(f.lines, k)
		for i, o := range f.order {
			if o == k {
				f.order = append(f.order[:i], f.order[i+1:]...)
				break
			}
		}
	}
}

// Pose gives how the face stands at a time, which is none before the last that it was asked or shown with.
func (f *Face) Pose(at time.Time) Pose {
	f.mu.Lock()
	defer f.mu.Unlock()
	mouth, into, talks := f.mouth(at)
	if !f.rests.IsZero() && !at.Before(f.rests) {
		f.rests, f.wearer = time.Time{}, key{}
		f.emotion = Neutral
		f.worn++
	}
	p := Pose{Emotion: f.emotion, Worn: f.worn, Talks: talks}
	if talks {
		p.Open, p.Shape = sample(mouth, into)
	}
	return p
}

// mouth gives the timeline that is being said at a time, and how far into it that is.
func (f *Face) mouth(at time.Time) (mouth []abi.Viseme, into time.Duration, talks bool) {
	l := f.lines[f.saying.of]
	if l == nil {
		return nil, 0, false
	}
	into = max(at.Sub(f.saying.since), 0)
	if f.saying.part > 0 {
		p := l.parts[f.saying.part]
		f.shape(p)
		return p.mouth, into, len(p.mouth) > 0 && into < length(p.mouth)
	}
	for n := 1; l.parts[n] != nil; n++ { // one part behind the other
		p := l.parts[n]
		f.shape(p)
		if long := p.takes(); into >= long {
			into -= long
			continue
		}
		if n != f.saying.now {
			f.saying.now = n
			f.wear(f.saying.of, p.emotion)
		}
		return p.mouth, into, f.saying.alone || len(p.mouth) > 0 && into < length(p.mouth)
	}
	if f.saying.alone {
		f.over(at, f.saying.of)
	}
	return nil, 0, false
}

// shape guesses the timeline of a part that has none, where that is wanted.
func (f *Face) shape(p *part) {
	if !f.opts.Guess || p.known || p.text == "" {
		return
	}
	long := seconds(p.seconds)
	if p.long > 0 {
		long = p.long
	}
	if long == 0 { // nobody has estimated it
		long = time.Duration(len(beatsOf(p.text))) * beat
	}
	p.mouth, p.known = Guess(p.text, long), true
}

// takes gives how long a part is said.
func (p *part) takes() time.Duration {
	switch {
	case p.long > 0:
		return p.long
	case len(p.mouth) > 0:
		return length(p.mouth)
	}
	return seconds(p.seconds)
}

// rest gives how long it is until the emotion is taken off; ok is false where it stays.
func (f *Face) rest(at time.Time) (d time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rests.Sub(at), !f.rests.IsZero()
}

func seconds(s float64) time.Duration {
	const most = 3600 // whatever somebody says
	return time.Duration(min(max(s, 0), most) * float64(time.Second))
}
