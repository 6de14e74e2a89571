// Package world is what a rule of turn taking is measured in: members that vote
// and write lines after some time, people who speak when they like, voices that
// last as long as their words, and a clock of its own.
//
// A [Cast] is a model: what its members wish, how long they think and what people
// do is drawn from a seed, for the same talk alike whatever rule is measured. The
// world decides nothing about turns. It is pure: no clock but its own, no
// randomness but the seed's, no goroutine, no I/O.
package world

import (
	"container/heap"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// Rule is a rule of turn taking, with whatever room it needs. It is called at the
// world's time and answers at once; what it waits for it asks the world for.
type Rule interface {
	// Start is called once, before anything happens.
	Start(w *World)
	// Begins is called when a person begins to speak aloud.
	Begins(who string)
	// Said is called when the words of a person are there.
	Said(t *Turn)
	// Stopped is called when a person has said STOP, instead of Said.
	Stopped(t *Turn)
}

// Config is what a talk is made of.
type Config struct {
	Cast Cast
	Seed string // talks with equal casts and seeds are equal
	// Speech is how long a text takes to say aloud.
	Speech func(text string) time.Duration
	Minds  Minds // of the cast's members; nil: they are models
}

// World is one talk. Times are counted from its beginning.
type World struct {
	cfg    Config
	now    time.Duration
	queue  events
	made   int // events so far, which puts those of one moment in order
	rule   Rule
	record Record

	answers map[question]answer // of minds
	tries   map[question]int    // lines that were asked for
}

// Run plays a talk under a rule and gives what happened. The people of the cast stop
// speaking after its length; the talk goes on for [Tail].
func Run(c Config, r Rule) Record {
	w := &World{cfg: c, rule: r, answers: map[question]answer{}, tries: map[question]int{}}
	w.record = Record{Cast: c.Cast, Horizon: c.Cast.Length + Tail, Passed: map[int][]string{}}
	r.Start(w)
	for i := range c.Cast.Humans {
		w.human(i, 0, w.span(c.Cast.Humans[i].First, "first", c.Cast.Humans[i].Name))
	}
	for len(w.queue) > 0 && w.queue[0].at <= w.record.Horizon {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	for _, t := range w.record.Turns {
		t.Ended = min(t.Ended, max(t.Begun, w.record.Horizon))
	}
	return w.record
}

// Tail is how long a talk is watched after the last person could have spoken.
const Tail = time.Minute

// Now gives the time.
func (w *World) Now() time.Duration { return w.now }

// After calls do when a time has passed. What is to happen at one moment happens in
// the order in which it was asked for.
func (w *World) After(d time.Duration, do func()) {
	w.made++
	heap.Push(&w.queue, event{w.now + max(0, d), w.made, do})
}

// Members gives the cast's members.
func (w *World) Members() []Member { return w.cfg.Cast.Members }

// Turn gives a turn by its number.
func (w *World) Turn(n int) *Turn { return w.record.Turns[n-1] }

// Newest gives the number of the newest turn, 0 before the first.
func (w *World) Newest() int { return len(w.record.Turns) }

// Saying is how a line is said.
type Saying struct {
	Kind  abi.MessageKind
	Ready time.Duration // from now until its text is complete; a voice does not end before that
	Wait  time.Duration // from now until it is heard
}

// Say has a member's line heard by everybody, from now or a little later.
func (w *World) Say(l Line, s Saying) *Turn {
	t := w.line(l, s.Kind)
	t.Begun, t.Done = w.now+s.Wait, w.now+s.Ready
	t.Ended = max(t.Begun+w.voice(l.Text, t.rate), t.Done)
	t.parts = []part{{l.Text, t.Begun, t.Ended}}
	return w.publish(t)
}

// Begin has a member's line heard from now on, of which l is the first part.
func (w *World) Begin(l Line) *Turn {
	t := w.publish(w.line(l, abi.KindTurn))
	t.Begun, t.Ended, t.Text, t.Written = w.now, w.now, "", ""
	w.Add(t, l.Text)
	return t
}

// Add has a voice that Begin has begun say more, when it has said what it has.
func (w *World) Add(t *Turn, text string) {
	p := part{text: text, begun: max(w.now, t.Ended)}
	p.ends = p.begun + w.voice(text, t.rate)
	t.parts, t.Ended, t.Done = append(t.parts, p), p.ends, w.now
	t.Text += text
	t.Written += text
}

// line makes a turn of a member's line, in its voice of the moment.
func (w *World) line(l Line, kind abi.MessageKind) Turn {
	key := strconv.Itoa(w.Newest())
	return Turn{
		From: l.From, By: w.member(l.From).Kind, To: l.To, Text: l.Text, Written: l.Text, Kind: kind, Basis: l.Basis,
		rate: 1 + float64(w.cfg.Cast.Off*w.normal(l.From, "rate", key)),
	}
}

// voice is how long a voice takes for a text.
func (w *World) voice(text string, rate float64) time.Duration {
	return time.Duration(float64(w.cfg.Speech(text)) * rate).Round(time.Millisecond)
}

// Cut ends a voice now: what was not heard yet never is.
func (w *World) Cut(t *Turn) {
	if w.now < t.Ended {
		t.Ended, t.Cut = max(t.Begun, w.now), true
		t.Text = w.heard(t)
	}
}

// heard gives the words of a voice that were said by the time it ended.
func (w *World) heard(t *Turn) (text string) {
	for _, p := range t.parts {
		if p.ends <= t.Ended {
			text += p.text
			continue
		}
		for i, r := range p.text {
			end := i + utf8.RuneLen(r)
			if p.begun+w.voice(p.text[:end], t.rate) > t.Ended {
				return text + p.text[:i]
			}
		}
	}
	return text
}

// End notes that the rule takes the talk to be over until a person speaks.
func (w *World) End() { w.record.Ends = append(w.record.Ends, w.now) }

// publish gives a turn its number and everybody a wish about it.
func (w *World) publish(t Turn) *Turn {
	t.N, t.At = len(w.record.Turns)+1, w.now
	turn := &t
	w.record.Turns = append(w.record.Turns, turn)
	if t.Kind == abi.KindTurn && !t.Stop {
		for _, m := range w.cfg.Cast.Members {
			if v := w.Wish(m.ID, t.N); v.State == abi.Speak && v.Closing != abi.ClosingTerminal {
				turn.Wants = append(turn.Wants, m.ID)
			}
		}
	}
	return turn
}

// audible gives when the last of the voices that are heard now ends, ok false when
// none is.
func (w *World) audible() (until time.Duration, ok bool) {
	for _, t := range w.record.Turns {
		if t.Begun <= w.now && w.now < t.Ended {
			until, ok = max(until, t.Ended), true
		}
	}
	return until, ok
}

func (w *World) member(id string) Member {
	i := slices.IndexFunc(w.cfg.Cast.Members, func(m Member) bool { return m.ID == id })
	return w.cfg.Cast.Members[i]
}

// event is something to be done at a time.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

// events is a heap, the earliest first.
type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
