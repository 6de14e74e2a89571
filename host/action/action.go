// Package action is what goes out to the bodies of companions, before a room writes it
// down: who is connected to play it, whose mouth is open, how much there may be, and
// which of it is speech.
//
// It sends nothing: the doors read actions out of the journal.
package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
)

// Bodies are those that are connected to play the actions of companions, also while a
// room sleeps. The zero value is ready.
type Bodies struct {
	mu   sync.Mutex
	last int
	of   map[string][]entry.Body // by room
	says map[string]mouth        // by companion
	lent map[lender]*lending     // what games offer

	games map[string]*Game // by body
}

// mouth is a companion's while it speaks in a room.
type mouth struct {
	room  string
	waits map[string]func() // rooms to be told when it is free
}

// Mouth is the one mouth that is open in a room. Its loop alone uses it.
type Mouth struct {
	bodies    *Bodies
	room, who string
}

// Mouth gives that of a room; nobody's is open.
func (b *Bodies) Mouth(room string) Mouth { return Mouth{bodies: b, room: room} }

// Of says whose it is, "" for nobody's.
func (m *Mouth) Of() string { return m.who }

// Open opens a companion's mouth as [Bodies.Open] does. One without a body needs none.
func (m *Mouth) Open(companion string, free func()) bool {
	if m.bodies.Count(m.room, companion) == 0 {
		return true
	}
	if m.who != companion && !m.bodies.Open(m.room, companion, free) {
		return false
	}
	m.who = companion
	return true
}

// Shut gives the mouth back.
func (m *Mouth) Shut() {
	if m.who != "" {
		m.bodies.Shut(m.room, m.who)
		m.who = ""
	}
}

// Open gives a companion's mouth to a room, where no other room has it: it has one,
// wherever it lives. Else free is called once that may be tried again.
func (b *Bodies) Open(room, companion string, free func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.says == nil {
		b.says = map[string]mouth{}
	}
	m, speaks := b.says[companion]
	if speaks && m.room != room {
		m.waits[room] = free
		return false
	}
	if !speaks {
		b.says[companion] = mouth{room, map[string]func(){}}
	}
	return true
}

// Shut gives a companion's mouth back.
func (b *Bodies) Shut(room, companion string) {
	b.mu.Lock()
	m := b.says[companion]
	if m.room == room {
		delete(b.says, companion)
	}
	b.mu.Unlock()
	if m.room == room {
		for _, free := range m.waits {
			free()
		}
	}
}

// Embody says that a body of a companion is connected, until leave is called. It answers the id
// that the body is given.
func (b *Bodies) Embody(room string, x entry.Body) (id string, leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[string][]entry.Body{}
	}
	id = b.join(room, x)
	return id, sync.OnceFunc(func() { b.leave(room, id) })
}

// join adds a body to a room, and gives its id. The lock is held.
func (b *Bodies) join(room string, x entry.Body) string {
	b.last++
	x.ID = fmt.Sprintf("%s#%d", x.Who, b.last)
	b.of[room] = append(slices.Clone(b.of[room]), x)
	return x.ID
}

func (b *Bodies) leave(room, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(b.of[room]), func(x entry.Body) bool { return x.ID == id })
	if b.of[room] = left; len(left) == 0 {
		delete(b.of, room)
	}
}

// Of gives the bodies that are connected to a room. The list is not to be changed.
func (b *Bodies) Of(room string) []entry.Body {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[room]
}

// Change gives which bodies came to a room and left it since it had some.
func (b *Bodies) Change(room string, had []playback.Body) (change entry.Bodies) {
	here := b.Of(room)
	for _, x := range here {
		if !slices.ContainsFunc(had, func(h playback.Body) bool { return h.ID == x.ID }) {
			change.Joined = append(change.Joined, x)
		}
	}
	for _, h := range had {
		if !slices.ContainsFunc(here, func(x entry.Body) bool { return x.ID == h.ID }) {
			change.Left = append(change.Left, h.Body)
		}
	}
	change.Joined = change.Joined[:min(len(change.Joined), playback.MaxBodies-len(had)+len(change.Left))]
	return change
}

// Count gives how many bodies of a companion are connected to a room. Games are none of it: they play what
// they offer, and nothing else.
func (b *Bodies) Count(room, companion string) (n int) {
	for _, x := range b.Of(room) {
		if x.Who == companion && !x.Mute {
			n++
		}
	}
	return n
}

// Answering gives how many bodies of a companion are connected to a room that can answer queries.
func (b *Bodies) Answering(room, companion string) (n int) {
	for _, x := range b.Of(room) {
		if x.Who == companion && x.Answers {
			n++
		}
	}
	return n
}

// MaxASecond is how many actions a companion may play in a second.
const MaxASecond = 32

// Rate counts the actions of this second. The zero value is ready.
type Rate struct {
	second time.Time
	count  map[string]int
}

// Take counts an action; false says that there were too many.
func (a *Rate) Take(who string, at time.Time) bool {
	if s := at.Truncate(time.Second); !s.Equal(a.second) {
		a.second, a.count = s, map[string]int{}
	}
	a.count[who]++
	return a.count[who] <= MaxASecond
}

// Speech gives the words of an action that is a message at once.
func Speech(a entry.Action) string {
	text := card.Message(a.Parameters)
	if a.Action != card.Speak || abi.CheckText("message", text) != nil {
		return ""
	}
	return text
}

// CheckWords reports what is wrong with the words of an action that is to be a message at once: they are no action of
// another kind, for which nobody would wait.
func CheckWords(a entry.Action) error {
	text := card.Message(a.Parameters)
	if a.Action != card.Speak || text == "" {
		return nil
	}
	return abi.CheckText("parameters.message", text)
}

// CheckSpeech reports the first thing that is wrong with the parameters of the action
// "speak" that come with a judgement: they are the card's, and their message is its text.
// permit asks the card; the words may be about any of what was perceived.
func CheckSpeech(j abi.Judgement, perceived []abi.Percept, permit func(abi.ActionAsk) (string, error)) (err error) {
	if Speech(entry.Action{Action: card.Speak, Parameters: j.Parameters}) != j.Text {
		return abi.Errorf(abi.CodeInvalid, "judgement.parameters: their message is not the text")
	}
	for _, x := range slices.Backward(perceived) {
		if x.Unasked() {
			x.Title = "" // no card has events for it
		}
		if _, err = permit(abi.ActionAsk{Action: card.Speak, Parameters: j.Parameters, Perception: x.Title}); err == nil {
			return nil
		}
	}
	return err
}

// CheckLine reports the first thing that is wrong with the parameters of the action "speak"
// that come with a line; the words are about no perception.
func CheckLine(l abi.Line, permit func(abi.ActionAsk) (string, error)) error {
	_, err := permit(abi.ActionAsk{Action: card.Speak, Parameters: l.Parameters})
	return err
}

// Said gives the parameters that a line has in the journal: none where they are a message
// alone. Their message has to be the text that was said; space around it does not count.
func Said(parameters json.RawMessage, text string) (json.RawMessage, error) {
	switch {
	case len(parameters) == 0:
		return nil, nil
	case strings.TrimSpace(card.Message(parameters)) != strings.TrimSpace(text):
		return nil, abi.Errorf(abi.CodeInvalid, "line.parameters: their message is not the text")
	}
	return card.Beside(card.Saying(parameters, text)), nil
}
