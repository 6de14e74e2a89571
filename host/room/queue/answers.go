// Package queue is what waits in a room: a human's turn for an answer, a request for the
// floor, a perception to be judged, an action for its result. It is pure, and never decides
// whose turn it is; host/room/rules does.
package queue

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Unanswered is a human's newest turn that nobody has answered. It stays until
// somebody does, until the same human says something newer, or until the room says in
// writing why nobody will.
type Unanswered struct {
	abi.Message
	Meant  []string `json:"meant,omitempty"`  // whom it addresses, or the turns of the same human before it did
	Calls  bool     `json:"calls,omitempty"`  // it calls a name that nobody is known to have
	Passed int      `json:"passed,omitempty"` // lines that were about another while it waited
	Crowd  bool     `json:"crowd,omitempty"`  // of those who are many
}

// idle says whether it is what one of many said to nobody: it waits behind all else.
func (u Unanswered) idle() bool { return u.Crowd && len(u.Meant) == 0 }

// For says whether somebody who speaks is told that it waits, as one of those that the line
// answers. What many say to nobody is in the history, or is not.
func (u Unanswered) For(who string, basis uint64) bool {
	return u.Seq <= basis && !u.idle() && (len(u.Meant) == 0 || slices.Contains(u.Meant, who))
}

// Answers are the turns that wait for an answer.
type Answers struct {
	Unanswered []Unanswered `json:"unanswered,omitempty"` // one a human, oldest first
	Dismissed  *Unanswered  `json:"dismissed,omitempty"`  // nobody wanted to answer it, though it was not the newest turn
}

// Bounds of what waits for an answer.
const (
	maxUnanswered = 32 // humans
	maxPassed     = 2  // lines about somebody newer before the oldest is next
)

// Ask notes what a human said. Of too many the oldest goes that one of many said to
// nobody, else that addresses nobody; what an answer is being made to stays.
func (a *Answers) Ask(u Unanswered, subject uint64) {
	if i := a.index(func(w Unanswered) bool { return w.From == u.From }); i >= 0 {
		if was := a.Unanswered[i]; len(u.Meant) == 0 {
			u.Meant = was.Meant // "Aya, listen." "What do you think?"
		}
		a.Unanswered = slices.Delete(a.Unanswered, i, i+1)
	}
	if len(a.Unanswered) == maxUnanswered {
		i := a.index(func(w Unanswered) bool { return w.idle() && w.Seq != subject })
		if i < 0 {
			i = max(0, a.index(func(w Unanswered) bool { return len(w.Meant) == 0 && w.Seq != subject }))
		}
		a.Unanswered = slices.Delete(a.Unanswered, i, i+1)
	}
	a.Unanswered = append(a.Unanswered, u)
}

func (a *Answers) index(which func(Unanswered) bool) int {
	return slices.IndexFunc(a.Unanswered, which)
}

// Turn gives the turn with a seq, nil where it does not wait.
func (a *Answers) Turn(seq uint64) *Unanswered {
	if i := a.index(func(u Unanswered) bool { return u.Seq == seq }); i >= 0 {
		return &a.Unanswered[i]
	}
	return nil
}

// Next gives the turn that is to be answered first: the newest, but the oldest where that
// was passed over; 0 where none waits. What one of many said to nobody comes after all else.
func (a *Answers) Next() (seq uint64) {
	if len(a.Unanswered) == 0 {
		return 0
	}
	oldest := max(0, a.index(func(u Unanswered) bool { return !u.idle() }))
	if a.Unanswered[oldest].Passed >= maxPassed {
		return a.Unanswered[oldest].Seq
	}
	for _, u := range slices.Backward(a.Unanswered) {
		if !u.idle() {
			return u.Seq
		}
	}
	return a.Unanswered[len(a.Unanswered)-1].Seq
}

// Calls says whether a turn that waits addresses somebody.
func (a *Answers) Calls(who string) bool {
	return a.index(func(u Unanswered) bool { return slices.Contains(u.Meant, who) }) >= 0
}

// Answer notes that a line was said: it answers the turn that it was granted for, and
// all up to its basis that are not addressed to others. It says whether the first was
// somebody's who waited.
func (a *Answers) Answer(b entry.Said, subject uint64) (asked bool) {
	before := len(a.Unanswered)
	asked = a.Turn(subject) != nil
	a.Unanswered = slices.DeleteFunc(a.Unanswered, func(u Unanswered) bool {
		return u.Seq == subject || (b.Basis == 0 || u.Seq <= b.Basis) && (len(u.Meant) == 0 || slices.Contains(u.Meant, b.From))
	})
	if len(a.Unanswered) < before {
		for i := range a.Unanswered {
			a.Unanswered[i].Passed++
		}
	}
	return asked
}

// Dismiss notes that nobody will answer a turn, which is in writing, and with it all
// before it that are addressed to nobody else. keep says whether a silence may be broken
// about it.
func (a *Answers) Dismiss(subject uint64, keep bool) {
	a.Dismissed = nil
	if u := a.Turn(subject); u != nil && keep {
		was := *u
		a.Dismissed = &was
	}
	a.Unanswered = slices.DeleteFunc(a.Unanswered, func(u Unanswered) bool {
		return u.Seq == subject || u.Seq < subject && len(u.Meant) == 0
	})
}

// Recall has a silence be broken about a human's turn after which somebody else's came,
// that was being made meanwhile: else whoever said that would have nobody to answer.
func (a *Answers) Recall() {
	if a.Dismissed != nil {
		a.Unanswered, a.Dismissed = append(a.Unanswered, *a.Dismissed), nil
	}
}
