// Package playback follows what is heard in a room: a line while bodies say it (which of its
// parts were heard, until when it may sound, what people have heard of it when it is cut
// off), the bodies, and the humans who speak.
//
// It is pure: the time, the rules of the room and every word of a body come in, and it
// never asks how long a text takes, which was found out when the text was written down. It
// decides nothing about whose turn it is; host/room/rules does.
package playback

import (
	"cmp"
	"slices"
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
	making   = 10 * time.Second       // for a voice to be made, which may take as long for few words as for many
	longest  = time.Minute
	sure     = 3                // a voice may take a part more than the estimate of what it says
	surer    = 6                // where it told how long it takes, and only a sentence of it is estimated
	grace    = time.Second      // behind a sentence that was to be the last
	sentence = 10 * time.Second // in which it is to end, however long it is by the estimate or a body's word
)

// Part is a piece of the line, as it went out.
type Part struct {
	Text  string       `json:"text"`
	Voice []entry.Beat `json:"voice,omitempty"`
	Shown time.Time    `json:"shown"`
	Exact bool         `json:"exact,omitempty"` // a body has told how long it takes
	Sound bool         `json:"sound,omitempty"` // it has one, or it is known that it will have none
}

// Line is one that sounds, or is about to.
type Line struct {
	ID    string `json:"line"` // the grant's token
	Who   string `json:"who"`
	Basis uint64 `json:"basis,omitempty"` // seq of the newest turn that it may answer; 0: not known
	Of    uint64 `json:"of,omitempty"`    // seq of its message; 0: more of it may come
	Parts []Part `json:"parts,omitempty"`
	// Rate is how long the slowest body takes for what is estimated at 1000; 0: 1000.
	Rate int64 `json:"rate,omitempty"`
	// Waits has how many parts each body has played that tells when it has; empty:
	// none does.
	Waits  map[string]int `json:"waits,omitempty"`
	Told   time.Time      `json:"told,omitzero"`    // when the slowest of them was last heard of
	Done   bool           `json:"done,omitempty"`   // all of them have played it
	Failed string         `json:"failed,omitempty"` // why it was not played to its end, or not said to its end
	How    entry.End      `json:"how,omitempty"`    // how it ends then; empty: it failed
	Over   bool           `json:"over,omitempty"`   // it took as long as it may
	Cut    time.Time      `json:"cut,omitzero"`     // it is cut off then
	By     string         `json:"by,omitempty"`     // whoever cuts it off
	UpTo   int            `json:"up_to,omitempty"`  // or as soon as so many parts were played; 0: then
	Words  int            `json:"words,omitempty"`  // bytes of its text that will have been heard; 0: by how long it sounds
	Off    bool           `json:"off,omitempty"`    // it was cut off
	Quiet  []string       `json:"quiet,omitempty"`  // bodies that say no more of it
	Sure   int            `json:"sure,omitempty"`   // bytes of its text that were heard, by the word of a body
	// Sentences says that all bodies that say it get a sentence when they have told of the one
	// before: what they have not told of was not heard, as far as anybody knows.
	Sentences bool      `json:"sentences,omitempty"`
	Since     time.Time `json:"since,omitzero"` // when the part began of which they have told some sentences
	Asked     time.Time `json:"asked,omitzero"` // when somebody spoke over such a line
	// Unheard is what goes on of it in bodies that are connected to nobody any more; nil: nothing.
	Unheard *Lingering `json:"unheard,omitempty"`
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
	begun := l.Told
	if !l.Since.IsZero() {
		begun = l.Since
	}
	if from, to := was, min(part, len(l.Parts)); to > from && len(l.Waits) == 1 {
		if est := l.took(to) - l.took(from); est > 0 && !l.Parts[to-1].Shown.After(begun) { // else it had to wait for them
			rate = int64(at.Sub(begun) * 1000 / est)
		}
	}
	l.Waits[body] = min(part, len(l.Parts))
	if l.Sentences {
		l.Sure = max(l.Sure, size(l.Parts[:l.Waits[body]]))
		l.reached(at)
	}
	if l.UpTo > 0 && !l.Off && l.slowest() >= l.UpTo && at.Before(l.Cut) {
		l.Cut = at
	}
	if l.slowest() > before || len(l.Waits) == 1 {
		l.Told, l.Since = at, time.Time{}
	}
	l.settle()
	return rate
}

// size is how many bytes of text some parts have.
func size(parts []Part) (n int) {
	for _, p := range parts {
		n += len(p.Text)
	}
	return n
}

// Takes notes how long a part takes by the word of a body, which has made its sound
// already: what was estimated is as much longer or shorter. Part 0 is all that went out.
func (l *Line) Takes(part int, d time.Duration) {
	from, to := part-1, part
	if part == 0 {
		from, to = 0, len(l.Parts)
	}
	if to > len(l.Parts) {
		return
	}
	est := l.rated(l.took(to) - l.took(from))
	if est <= 0 || d <= 0 {
		return
	}
	for i := from; i < to; i++ {
		voice := slices.Clone(l.Parts[i].Voice)
		for k := range voice {
			voice[k].MS = voice[k].MS * d.Milliseconds() / est.Milliseconds()
		}
		l.Parts[i].Voice, l.Parts[i].Exact = voice, true
	}
}

// Complete says that no more of the line comes; of is the seq of its message, and
// broken says why it breaks off, and ends how that is to be called. A body that could not
// play it has said so before.
func (l *Line) Complete(of uint64, broken string, ends entry.End) {
	l.Of = of
	if l.Failed == "" {
		l.Failed, l.How = broken, ends
	}
	l.settle()
}

func (l *Line) settle() { l.Done = l.Of != 0 && len(l.Waits) > 0 && l.slowest() == len(l.Parts) }

// Ended says whether the line is over.
func (l *Line) Ended() bool { return l.Of != 0 && (l.Done || l.Over || l.Off) }

// Leave forgets a body that has gone, or does not tell any more. Where it got the line sentence by
// sentence, and nobody else does, nobody hears more of it.
func (l *Line) Leave(body string, at time.Time) {
	if _, waits := l.Waits[body]; !waits {
		return
	}
	last := len(l.Waits) == 1
	heard := l.slowest()
	delete(l.Waits, body)
	if last && l.Sentences {
		if l.Over = true; l.Failed == "" && !l.told() {
			l.Failed = "its body has gone"
		}
		return
	}
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

// rest is what no body has played yet, or where they tell of sentences, what none has told of.
func (l *Line) rest() []Part {
	if !l.Sentences {
		return l.Parts[l.slowest():]
	}
	parts, told := l.Parts, l.Sure
	for len(parts) > 0 && told >= len(parts[0].Text) {
		told, parts = told-len(parts[0].Text), parts[1:]
	}
	if told == 0 {
		return parts
	}
	p := parts[0]
	for len(p.Voice) > 0 && p.Voice[0].Bytes <= told {
		n := p.Voice[0].Bytes
		told, p.Text, p.Voice = told-n, p.Text[n:], p.Voice[1:]
	}
	return append([]Part{p}, parts[1:]...)
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
	for _, p := range l.rest() {
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
		return l.Told.Add(max(rest, making, min(patience*rest+silence, longest)))
	}
	return l.Told.Add(rest + (rest / slack).Truncate(time.Millisecond) + outset + time.Duration(len(l.Parts))*each)
}

// unsure says how far the estimate of some parts may be wrong: a voice may take one in so
// many longer.
func unsure(parts []Part) time.Duration {
	if slices.ContainsFunc(parts, func(p Part) bool { return !p.Exact }) {
		return sure
	}
	return surer
}

// Heard is what people have surely heard of the line at a moment: a voice may take a third
// longer than estimated, or a sixth where it told how long the whole part takes.
func (l *Line) Heard(at time.Time) string {
	text := l.Text()
	return text[:max(l.Sure, len(l.guessed(at)))]
}

// Hears takes the word of a body that so many bytes of the text were heard. Where a sentence comes
// behind that, it begins now.
func (l *Line) Hears(bytes int, at time.Time) {
	text := l.Text()
	for bytes = min(bytes, len(text)); bytes > 0 && bytes < len(text) && !utf8.RuneStart(text[bytes]); bytes-- {
	}
	if l.Sentences && bytes > l.Sure {
		if l.Since.IsZero() {
			l.Since = l.Told
		}
		l.Told = at
	}
	l.Sure = max(l.Sure, bytes)
	if l.Sentences {
		l.reached(at)
	}
}

// guessed is what people have surely heard by the parts that were played, and by how long the rest takes.
func (l *Line) guessed(at time.Time) string {
	text, done := l.Text(), l.slowest()
	switch {
	case l.Done:
		return text
	case l.Sentences:
		return text[:l.Sure]
	}
	n := size(l.Parts[:done])
	if l.Off && l.Words > 0 {
		return text[:max(n, l.Words)]
	}
	rest := l.Parts[done:]
	if len(l.Waits) > 0 { // of the others it would have told
		rest = rest[:min(1, len(rest))]
	}
	from, k := l.Told, unsure(rest)
	at = from.Add(at.Sub(from) * k / (k + 1))
	for _, p := range rest {
		if p.Shown.After(from) {
			from = p.Shown
		}
		heard, whole := p.heard(at.Sub(from) * 1000 / time.Duration(cmp.Or(l.Rate, 1000)))
		if n += len(heard); !whole {
			break
		}
		from = from.Add(l.rated(p.length()))
	}
	return text[:n]
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

// letters gives how many bytes of a text the first share of the time that it takes is
// enough for: a rest takes as long as some letters, one at the end nothing.
func letters(s string, share float64) (n int) {
	whole := 0
	for _, r := range strings.TrimRight(s, rests) {
		whole += weight(r)
	}
	left := int(share*float64(whole)) - 1 // the one that sounds may not be over
	for i, r := range s {
		if left -= weight(r); left < 0 {
			return i
		}
	}
	return len(s)
}

const rests = "、。，．,.!?！？…;:"

func weight(r rune) int {
	if strings.ContainsRune(rests, r) {
		return 4
	}
	return 1
}

// Stop plans the end of the line, behind the sentence that sounds at a moment: where
// that is the last of a part, when the bodies tell that they have played it; and within
// some seconds. It does nothing and answers false where no more would come behind that.
func (l *Line) Stop(at time.Time) bool {
	if l.Sentences {
		return l.stopTold(at)
	}
	stops := l.stop(at)
	if most := at.Add(sentence); stops && l.Cut.After(most) {
		l.Cut, l.Words = most, 0
	}
	return stops
}

func (l *Line) stop(at time.Time) bool {
	from, n, done := l.Told, 0, l.slowest()
	for i, p := range l.Parts {
		if i < done {
			n += len(p.Text)
			continue
		}
		if p.Shown.After(from) {
			from = p.Shown
		}
		words := n
		for k, v := range p.Voice {
			end := from.Add(l.rated(time.Duration(v.MS) * time.Millisecond))
			told := len(l.Waits) > 0 && k == len(p.Voice)-1
			words += v.Bytes
			switch last := l.Of != 0 && i == len(l.Parts)-1 && k == len(p.Voice)-1; {
			case (told || end.After(at)) && last && l.Ends().Sub(at) <= sentence:
				return false
			case told:
				limit := grace + (l.rated(p.length()) / sure).Truncate(time.Millisecond) // should no word come
				l.Cut, l.UpTo, l.Words = at.Add(max(0, end.Sub(at))+limit), i+1, words
				return true
			case end.After(at):
				late := (end.Sub(l.Told) / unsure(l.Parts[done:i+1])).Truncate(time.Millisecond)
				if l.Cut = end.Add(min(late, grace)); late <= grace { // else it may not be over by then
					l.Words = words
				}
				return true
			}
			from = end
		}
		n += len(p.Text)
	}
	if l.Of != 0 {
		return false
	}
	l.Cut, l.Words = at, n
	return true
}
