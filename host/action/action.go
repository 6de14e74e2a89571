// Package action is what goes out to the bodies of companions, before a room writes it
// down: who is connected to play it, how much there may be, and which of it is speech.
//
// It sends nothing: the doors read actions out of the journal.
package action

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
)

// Bodies counts who is connected to play the actions of whom, also while the room
// sleeps. The zero value is ready.
type Bodies struct {
	mu sync.Mutex
	of map[body]int
}

type body struct{ room, companion string }

// Embody says that a body of a companion is connected, until leave is called.
func (b *Bodies) Embody(room, companion string) (leave func()) {
	b.add(body{room, companion}, 1)
	return sync.OnceFunc(func() { b.add(body{room, companion}, -1) })
}

func (b *Bodies) add(of body, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[body]int{}
	}
	if b.of[of] += n; b.of[of] == 0 {
		delete(b.of, of)
	}
}

// Count gives how many bodies of a companion are connected.
func (b *Bodies) Count(room, companion string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[body{room, companion}]
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

// Beside gives the parameters of a "speak" that has more than its message.
func Beside(parameters json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(parameters, &fields) != nil || len(fields) < 2 {
		return nil
	}
	return parameters
}
