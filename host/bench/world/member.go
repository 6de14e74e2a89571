package world

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/companiond/companiond/abi"
)

// Line is what a member says when it is asked for a line.
type Line struct {
	From  string
	To    []string
	Text  string
	First string        // the first sentence of it
	Rest  time.Duration // from when that is there until all is
	Basis int           // number of the newest turn that the member was told of
	Pass  bool          // it has nothing to say
}

// Wish gives a member's vote about a turn, at once: what it would answer if it
// were asked. It is the same whenever it is asked about the turn, and whatever rule
// asks.
func (w *World) Wish(who string, n int) abi.Vote {
	m, t := w.member(who), w.Turn(n)
	v := abi.Vote{State: abi.Listen}
	if m.Dead || t.Stop || t.From == who {
		return v
	}
	if w.cfg.Minds != nil {
		return w.asked(who, n).vote
	}
	key := strconv.Itoa(n)
	addressed := slices.Contains(t.To, who)
	often, importance := m.Talk, float64(m.Low)+float64(m.High-m.Low)*w.draw(who, "importance", key)
	switch {
	case m.Claims:
		v.Selected = true
	case addressed:
		often, importance, v.Selected = m.Answer, 7+3*w.draw(who, "importance", key), true
	case len(t.To) > 0: // somebody else was asked
		often, importance = often*0.5, importance*0.7
	}
	v.Importance = math.Round(importance)
	if w.draw(who, "wish", key) < often {
		v.State = abi.Speak
	} else if w.draw(who, "nod", key) < m.Nods {
		v.Backchannel = nods[int(w.draw(who, "which nod", key)*float64(len(nods)))]
	}
	if over := w.since(n) - m.Closes; m.Closes > 0 && over >= 0 {
		v.State, v.Backchannel = abi.Speak, ""
		v.Closing = [...]abi.Closing{abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal}[min(over, 2)]
	}
	return v
}

// since counts the turns of members up to a turn since a person spoke.
func (w *World) since(n int) (count int) {
	for _, t := range slices.Backward(w.record.Turns[:n]) {
		if t.By == abi.KindHuman && t.Kind == abi.KindTurn {
			break
		}
		if t.Speaks() {
			count++
		}
	}
	return count
}

// Vote asks a member for its vote about a turn. One that is dead never calls then.
func (w *World) Vote(who string, n int, then func(abi.Vote)) {
	m := w.member(who)
	if t := w.Turn(n); w.cfg.Minds != nil && !t.Stop && t.From != who {
		if a := w.asked(who, n); a.err == nil {
			w.After(a.took, func() { then(a.vote) })
		}
		return
	}
	w.record.Calls++
	if m.Dead {
		return
	}
	w.After(w.span(m.Think, who, "think", strconv.Itoa(n))+max(0, m.Cold-w.now), func() { then(w.Wish(who, n)) })
}

// Line asks a member for a line about a turn, knowing all up to now. first is called
// when the first sentence is there and done when all is; for a member that passes done
// alone, for one whose line breaks off first alone, for a dead one neither. chars bounds
// the line's length; 0: the member's own.
func (w *World) Line(who string, n, chars int, first, done func(Line)) {
	w.record.Calls++
	m := w.member(who)
	if m.Dead {
		return
	}
	if w.cfg.Minds != nil {
		w.say(who, n, first, done)
		return
	}
	key := strconv.Itoa(n)
	l := Line{From: who, Basis: w.Newest()}
	after := w.span(m.First, who, "first", key) + max(0, m.Cold-w.now)
	if w.draw(who, "pass", key) < m.Pass {
		l.Pass = true
		w.After(after, func() { done(l) })
		return
	}
	l.To, l.Text, l.First = w.words(m, n, chars)
	breaks := w.draw(who, "breaks", key) < m.Breaks
	if breaks {
		l.Text = l.First
	}
	rest := runes(l.Text) - runes(l.First)
	l.Rest = time.Duration(rest) * m.Rune
	w.After(after, func() {
		w.record.Written += runes(l.First)
		first(l)
	})
	if breaks {
		return
	}
	w.After(after+l.Rest, func() {
		w.record.Written += rest
		done(l)
	})
}

// words makes a line and whom it addresses.
func (w *World) words(m Member, n, chars int) (to []string, text, first string) {
	key := strconv.Itoa(n)
	if w.draw(m.ID, "calls", key) < m.Calls {
		if friend := w.friend(m, key); friend != "" {
			to = []string{friend}
		}
	}
	size := m.Short + int(w.draw(m.ID, "length", key)*float64(m.Long-m.Short+1))
	if chars > 0 {
		size = min(size, chars)
	}
	text, first = w.text(w.name(to), size, m.ID, key)
	return to, text, first
}

// friend gives whom a line addresses.
func (w *World) friend(m Member, key string) string {
	if m.Friend != "" {
		return m.Friend
	}
	var others []string
	for _, o := range w.cfg.Cast.Members {
		if o.ID != m.ID {
			others = append(others, o.ID)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return others[int(w.draw(m.ID, "friend", key)*float64(len(others)))]
}

// name gives the name of the only addressee, "" for none.
func (w *World) name(to []string) string {
	if len(to) == 0 {
		return ""
	}
	return w.member(to[0]).Name
}
