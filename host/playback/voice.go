package playback

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// Voice is the part of a room's state that is about what is heard.
type Voice struct {
	Playing *Line `json:"playing,omitempty"` // sounds, or is being read
	// Lingering is what goes on of the last line, which has ended; nil: nothing.
	Lingering *Lingering `json:"lingering,omitempty"`
	Bodies    []Body     `json:"bodies,omitempty"`   // connected
	Speaking  []Speaker  `json:"speaking,omitempty"` // humans who speak into a microphone
	Hush      time.Time  `json:"hush,omitzero"`      // nobody else begins before
	Began     time.Time  `json:"began,omitzero"`     // when the newest round opened
	Leads     []int64    `json:"leads,omitempty"`    // milliseconds from then to the first words, of the newest lines
	Wasted    Wasted     `json:"wasted,omitzero"`
	Alike     []bool     `json:"alike,omitempty"` // whether the newest lines say what others did before
}

// Body is one that is connected.
type Body struct {
	entry.Body
	Missed int `json:"missed,omitempty"` // lines in a row that it was to tell of and did not
	// Doubted says that it is not waited for because of these; its next word ends that.
	Doubted bool  `json:"doubted,omitempty"`
	Rate    int64 `json:"rate,omitempty"` // how long it takes for what is estimated at 1000, of late
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
	noise       = 500 * time.Millisecond // shorter speech is none
	textIn      = 2 * time.Second        // after speech, the time in which its text comes
	longSpeech  = 30 * time.Second       // without a word that it goes on; then nobody waits for its end
	maxSpeakers = 16
	repeats     = 2 // lines alike, of the newest window, that move the closing on
	window      = 4
	news        = 5   // tenths of what is new of a body's rate
	quickest    = 500 // for what is estimated at 1000
	laziest     = 2000
	firstGap    = 100 // milliseconds between two lines, as people leave
	gaps        = 301
)

// Sound notes that part n of a line went out. auto says whether a line that no body says is
// waited for, as long as it takes to read.
func (v *Voice) Sound(line, who string, n int, p Part, auto bool) {
	l := v.Playing
	if l == nil || l.ID != line {
		if n > 1 {
			return
		}
		l = &Line{ID: line, Who: who, Silent: true}
	}
	if l.Silent { // also a body that came while it was read says the rest
		v.embody(l)
	}
	if l.Silent && !auto && l != v.Playing {
		return
	}
	if l != v.Playing {
		for i := range v.Speaking { // it begins because they are not waited for any more
			v.Speaking[i].Counted = true
		}
	}
	v.Playing, v.Lingering = l, nil
	l.Add(p)
}

// embody has the bodies of a speaker say what comes of its line.
func (v *Voice) embody(l *Line) {
	l.Sentences = len(l.Parts) == 0 && v.tellsSentences(l.Who) // of what was read before they tell nothing
	for _, b := range v.Bodies {
		if b.Who != l.Who || b.Mute {
			continue
		}
		if l.Silent = false; !b.Plays {
			continue
		}
		if l.Waits == nil {
			l.Waits = map[string]int{}
		}
		l.Waits[b.ID] = len(l.Parts)
		l.Rate = max(l.Rate, cmp.Or(b.Rate, 1000))
	}
}

// tellsSentences says whether all bodies that speak for somebody tell of each sentence.
func (v *Voice) tellsSentences(who string) bool {
	some := false
	for _, b := range v.Bodies {
		if b.Who == who && !b.Mute {
			if some = b.Plays && b.Sentences; !some {
				return false
			}
		}
	}
	return some
}

// Lead notes how long a line that was not made ahead took to its first words.
func (v *Voice) Lead(took time.Duration) {
	if v.Leads = append(v.Leads, took.Milliseconds()); len(v.Leads) > leads {
		v.Leads = v.Leads[1:]
	}
}

// Echo notes whether a line says what others did before.
func (v *Voice) Echo(like bool) {
	v.Alike = append(v.Alike, like)
	v.Alike = v.Alike[max(0, len(v.Alike)-window):]
}

// Moved notes that the talk came nearer to its end: of the newest lines only the last
// counts any more, so that the next one that is alike brings it on again.
func (v *Voice) Moved() { v.Alike = v.Alike[max(0, len(v.Alike)-1):] }

// Circles says whether the newest lines go round in circles.
func (v *Voice) Circles() bool {
	n := 0
	for _, like := range v.Alike {
		if like {
			n++
		}
	}
	return n >= repeats
}

// Sounds says whether a body says a line, so that nobody else does.
func (v *Voice) Sounds() bool { return v.Playing != nil && !v.Playing.Silent }

// MayWaste says whether the next line may be made while the last one is heard: too many
// were made for nothing else, where most is how many may be in an hour.
func (v *Voice) MayWaste(now time.Time, most int) bool {
	hour := 0
	for _, at := range v.Wasted.At {
		if now.Sub(at) < time.Hour {
			hour++
		}
	}
	return v.Wasted.Turn < wastedTurn && hour < most
}

// Ahead is how long before the end of a line the next one is asked for: as long as it
// takes, nineteen times of twenty, from the first question to the first words, and a
// quarter more. A voice may be that much quicker than estimated, and the lines that tell
// are few: only those that were not made ahead.
func (v *Voice) Ahead() time.Duration {
	if len(v.Leads) == 0 {
		return firstLead
	}
	sorted := slices.Sorted(slices.Values(v.Leads))
	return min(longestLead, time.Duration(sorted[(len(sorted)*19+19)/20-1]*5/4)*time.Millisecond)
}

// Waste counts a line that was made ahead for nothing.
func (v *Voice) Waste(at time.Time) {
	v.Wasted.Turn++
	v.Wasted.At = append(v.Wasted.At, at)
	if len(v.Wasted.At) > maxWasted {
		v.Wasted.At = v.Wasted.At[1:]
	}
}

// Interrupt is what a human's turn does to the line that is heard, by the rules of the room.
func (v *Voice) Interrupt(b entry.Said, r entry.Rules, at time.Time) {
	v.Speaking = slices.DeleteFunc(v.Speaking, func(p Speaker) bool { return p.From == b.From })
	if len(v.Speaking) == 0 {
		v.Hush = time.Time{}
	}
	if v.Playing == nil {
		return
	}
	if v.Playing.Silent {
		if v.Playing.Of != 0 {
			v.Playing = nil // it was read
		}
		return
	}
	called := slices.Contains(b.Addressed, v.Playing.Who) && b.How != "reply" // a bare question calls nobody
	if called || b.Source != entry.SourceChat && mayInterrupt(r, b.From) {
		v.cut(b.From, r, at)
	}
}

func mayInterrupt(r entry.Rules, who string) bool {
	return slices.Contains(r.Interrupters, "*") || slices.Contains(r.Interrupters, who)
}

// cut has the line that is heard end before its time, unless it is about to end.
func (v *Voice) cut(by string, r entry.Rules, at time.Time) {
	l := v.Playing
	if r.Interrupt == entry.InterruptNever || !l.Cut.IsZero() {
		return
	}
	if r.Interrupt == entry.InterruptNow && !l.Sentences { // a sentence that was sent is not taken back
		l.Cut = at
	} else if !l.Stop(at) {
		return
	}
	l.By = by
}

// Hurry has the line of somebody end before its time, for something else is to be done: behind
// the sentence that sounds, or now.
func (v *Voice) Hurry(who, by string, now bool, r entry.Rules, at time.Time) {
	if !v.Sounds() || v.Playing.Who != who || r.Interrupt == entry.InterruptNever {
		return
	}
	if r.Interrupt = entry.InterruptSentence; now && !v.Playing.Sentences {
		r.Interrupt, v.Playing.Cut = entry.InterruptNow, time.Time{} // sooner than it was to be
	}
	v.cut(by, r, at)
}

// Listen notes what a microphone hears.
func (v *Voice) Listen(b entry.Speaking, at time.Time) {
	i := slices.IndexFunc(v.Speaking, func(p Speaker) bool { return p.From == b.From })
	switch {
	case b.On && i < 0 && len(v.Speaking) < maxSpeakers:
		v.Speaking, v.Hush = append(v.Speaking, Speaker{From: b.From, Since: at}), at.Add(longSpeech)
	case b.On && i >= 0:
		if !at.Before(v.Hush) { // it was not waited for any more
			v.Speaking[i].Since, v.Speaking[i].Counted = at, false
		}
		v.Hush = at.Add(longSpeech)
	case !b.On && i >= 0:
		v.Speaking = slices.Delete(v.Speaking, i, i+1)
		if len(v.Speaking) == 0 {
			v.Hush = at.Add(textIn)
		}
	}
}

// News says whether it is of any use to know that a human speaks, or has ended: that was not
// known, or was last told so long ago that the room might soon not wait any more.
func (v *Voice) News(who string, on bool, at time.Time) bool {
	if on != v.Speaks(who) {
		return true
	}
	return on && !at.Before(v.Hush.Add(-longSpeech/2))
}

// Speaks says whether a human speaks.
func (v *Voice) Speaks(who string) bool {
	return slices.ContainsFunc(v.Speaking, func(p Speaker) bool { return p.From == who })
}

// Spoken notes that whoever spoke for so long means it.
func (v *Voice) Spoken(r entry.Rules, at time.Time) {
	for i, p := range v.Speaking {
		if !p.Counted && !at.Before(p.Since.Add(noise)) {
			v.Speaking[i].Counted = true
			if v.Sounds() && mayInterrupt(r, p.From) {
				v.cut(p.From, r, at)
			}
		}
	}
}

// Connect notes which bodies have come and gone.
func (v *Voice) Connect(b entry.Bodies, at time.Time) {
	for _, j := range slices.Concat(b.Joined, b.Left) {
		v.Bodies = slices.DeleteFunc(v.Bodies, func(have Body) bool { return have.ID == j.ID })
		if v.Playing != nil {
			v.Playing.Leave(j.ID, at)
		}
		v.Lingering.quiet(j.ID, at)
		if v.Playing != nil {
			v.Playing.Unheard.quiet(j.ID, at)
		}
	}
	for _, j := range b.Joined {
		v.Lingering.again(j)
		if v.Playing != nil {
			v.Playing.Unheard.again(j)
		}
		if len(v.Bodies) < MaxBodies {
			v.Bodies = append(v.Bodies, Body{Body: j})
		}
	}
}

// Abandon forgets all bodies and microphones: whoever they were connected to is gone since a moment, and
// somebody else is there now. Bodies that finish their sentence do so unheard; a zero now says that they do not, as by rules
// before version 6.
func (v *Voice) Abandon(at, now time.Time) {
	if !now.IsZero() {
		v.unheard(at, now)
	}
	var gone entry.Bodies
	for _, b := range v.Bodies {
		gone.Left = append(gone.Left, b.Body)
	}
	v.Connect(gone, at)
	v.Speaking, v.Hush = nil, time.Time{}
}

// Report takes the word of a body about a line.
func (v *Voice) Report(b entry.Played, at time.Time) {
	v.trust(b, at)
	l := v.Playing
	if g := v.Lingering; (b.Done || b.Failed != "") && g.Waits(b.Line, b.Body) {
		if g.quiet(b.Body, at); g.Alone && len(g.Tell) == 0 {
			g.Guess = at
		}
	}
	switch {
	case l == nil || l.ID != b.Line:
	case b.Bytes > 0:
		if _, waits := l.Waits[b.Body]; waits {
			l.Hears(b.Bytes, at)
		}
	case b.Seconds > 0:
		l.Takes(b.Part, time.Duration(b.Seconds*1000)*time.Millisecond)
	case b.Failed != "":
		l.Quiet = append(l.Quiet, b.Body)
		if _, waits := l.Waits[b.Body]; waits && len(l.Waits) == 1 {
			l.Failed, l.Over = b.Failed, true
			return
		}
		l.Leave(b.Body, at)
	case b.Done:
		v.learn(b.Body, l.Played(b.Body, len(l.Parts), at))
	default:
		v.learn(b.Body, l.Played(b.Body, b.Part, at))
	}
}

// Sounded notes that a part of the line that is heard has a sound, or will have none. Nothing is decided by it.
func (v *Voice) Sounded(b entry.Sound) {
	if l := v.Playing; l != nil && l.ID == b.Line && b.Part > 0 && b.Part <= len(l.Parts) {
		l.Parts[b.Part-1].Sound = true
	}
}

// HearsOf says whether a body's word is of use though its line is not heard now, or it is not waited for.
func (v *Voice) HearsOf(b entry.Played) bool {
	if v.Lingering.Waits(b.Line, b.Body) {
		return true
	}
	i := slices.IndexFunc(v.Bodies, func(have Body) bool { return have.ID == b.Body })
	return i >= 0 && v.Bodies[i].Doubted && b.Seconds == 0 && b.Failed == ""
}

// trust waits again for a body that tells after all, also of the line that is heard now.
func (v *Voice) trust(b entry.Played, at time.Time) {
	i := slices.IndexFunc(v.Bodies, func(have Body) bool { return have.ID == b.Body })
	if i < 0 || !v.Bodies[i].Doubted || b.Seconds > 0 || b.Failed != "" {
		return
	}
	v.Bodies[i].Plays, v.Bodies[i].Doubted, v.Bodies[i].Missed = true, false, 0
	l := v.Playing
	if l == nil || l.ID != b.Line || l.Who != v.Bodies[i].Who || l.Silent || l.Ended() {
		return
	}
	if l.Waits == nil {
		l.Waits = map[string]int{}
	}
	l.Waits[b.Body], l.Told, l.Sentences = 0, at, v.tellsSentences(l.Who)
}

// learn notes how fast a body speaks.
func (v *Voice) learn(body string, rate int64) {
	i := slices.IndexFunc(v.Bodies, func(b Body) bool { return b.ID == body })
	if rate == 0 || i < 0 {
		return
	}
	was := cmp.Or(v.Bodies[i].Rate, 1000)
	v.Bodies[i].Rate = (was*(10-news) + min(max(rate, quickest), laziest)*news) / 10
}

// End says how the line that is heard ends at a moment; over says why nobody may speak any
// more, "" where somebody may, and seed is the room's.
func (v *Voice) End(over, seed string, at time.Time) entry.Heard {
	l := v.Playing
	b := entry.Heard{Line: l.ID, Who: l.Who, Of: l.Of, Text: l.Heard(at), Gap: gap(seed, l.ID)}
	switch {
	case over != "":
		b.End, b.Why = entry.EndStopped, over
	case l.Of == 0:
		b.End, b.Why = entry.EndFailed, "nobody goes on with it"
	case l.Off:
		b.End, b.Why, b.Text = entry.EndCut, l.By+" spoke over it", l.Heard(l.Cut)
		if (b.Text == l.Text() || l.told()) && l.Failed == "" {
			b.End = entry.EndSaid
		}
	case l.Failed != "":
		b.End, b.Why = cmp.Or(l.How, entry.EndFailed), l.Failed
	case l.Done || l.told():
		b.End, b.Why = entry.EndSaid, "played"
	case len(l.Waits) > 0 && l.Sentences: // what else was sent is not known to have been heard
		b.End, b.Why, b.Missed = entry.EndFailed, "no word that the rest was played", l.behind()
	case len(l.Waits) > 0:
		b.End, b.Why, b.Missed = entry.EndSaid, "no word that it was played", slices.Sorted(maps.Keys(l.Waits))
	default:
		b.End, b.Why = entry.EndSaid, "by its length"
	}
	if b.End == entry.EndSaid {
		b.Text = ""
	}
	return b
}

// behind gives the bodies that have not told that all of a line was played.
func (l *Line) behind() (bodies []string) {
	for _, b := range slices.Sorted(maps.Keys(l.Waits)) {
		if l.Waits[b] < len(l.Parts) {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// gap is how long nobody speaks behind a line, in milliseconds.
func gap(seed, line string) int64 {
	h := fnv.New32a()
	h.Write([]byte(seed))
	h.Write([]byte(line))
	return firstGap + int64(h.Sum32()%gaps)
}

// Ended is the fold of a line that is over.
func (v *Voice) Ended(b entry.Heard, at time.Time) {
	v.linger(b, at)
	for i, have := range v.Bodies {
		switch {
		case slices.Contains(b.Missed, have.ID):
			if v.Bodies[i].Missed++; v.Bodies[i].Missed == 2 {
				v.Bodies[i].Plays, v.Bodies[i].Doubted = false, true // it says that it tells, and does not
			}
		case have.Who == b.Who && b.End == entry.EndSaid:
			v.Bodies[i].Missed = 0
		}
	}
	v.Playing, v.Wasted.Turn = nil, 0
}

// Expire ends the line of a message: it took as long as it may.
func (v *Voice) Expire(of uint64) {
	if v.Playing != nil && v.Playing.Of == of {
		v.Playing.Over = true
		if v.Playing.Silent {
			v.Playing = nil
		}
	}
}

// CutOff ends the line of a message before its time.
func (v *Voice) CutOff(of uint64) {
	if v.Playing != nil && v.Playing.Of == of {
		v.Playing.Off = true
	}
}

// Dues gives the stored times of what is heard, each with its kind and the message that it
// is about.
func (v *Voice) Dues(consider func(time.Time, entry.DueKind, uint64)) {
	l := v.Playing
	if l == nil {
		return
	}
	if !l.Cut.IsZero() && !l.Off {
		consider(l.Cut, entry.DueCut, l.Of)
	} else if l.Of != 0 && !l.Over {
		consider(l.Until(), entry.DueHeard, l.Of)
	}
	for _, p := range v.Speaking {
		if !p.Counted {
			consider(p.Since.Add(noise), entry.DueSpoken, 0)
		}
	}
}
