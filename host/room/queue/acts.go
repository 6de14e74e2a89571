package queue

import (
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// Act is an action whose result may still come.
type Act struct {
	ID     string `json:"id"`
	Who    string `json:"who"`
	Action string `json:"action"`
	// Due is until when an answer is waited for, of a query; zero: it is none.
	Due time.Time `json:"due,omitzero"`
}

// Deeds are the actions of a room whose results may come.
type Deeds struct {
	Acts []Act `json:"acts,omitempty"` // oldest first
}

// QueryPatience is how long an answer to a query is waited for, as in aikyo.
const QueryPatience = 30 * time.Second

// maxActs is how many actions of one companion a room waits for.
const maxActs = 64

// Act notes an action. Where there are too many the oldest of its name goes, so
// that one that takes long is not lost to many short ones; else the oldest. No query goes.
func (d *Deeds) Act(b entry.Action) {
	same, other, n := -1, -1, 0
	for i, a := range slices.Backward(d.Acts) {
		if a.Who != b.Who || !a.Due.IsZero() {
			continue
		}
		other = i
		if n++; a.Action == b.Action {
			same = i
		}
	}
	if same < 0 {
		same = other
	}
	if n >= maxActs {
		d.Acts = slices.Delete(d.Acts, same, same+1)
	}
	d.Acts = append(d.Acts, Act{b.ID, b.Who, b.Action, b.Due})
}

// MaxQueries is how many queries of one companion wait for an answer at a time.
const MaxQueries = 16

// Queries is how many queries of a companion's wait for an answer.
func (d *Deeds) Queries(who string) (n int) {
	for _, a := range d.Acts {
		if a.Who == who && !a.Due.IsZero() {
			n++
		}
	}
	return n
}

// Unask ends all queries: what comes of them is nobody's business any more.
func (d *Deeds) Unask() {
	d.Acts = slices.DeleteFunc(d.Acts, func(a Act) bool { return !a.Due.IsZero() })
}

// Waiting gives the action of a companion that has an id, nil where nobody waits for its result.
func (d *Deeds) Waiting(who, id string) *Act {
	i := slices.IndexFunc(d.Acts, func(a Act) bool { return a.ID == id && a.Who == who })
	if i < 0 {
		return nil
	}
	return &d.Acts[i]
}

// Overdue gives the query whose time is over first, nil where none waits.
func (d *Deeds) Overdue() (first *Act) {
	for i, a := range d.Acts {
		if !a.Due.IsZero() && (first == nil || a.Due.Before(first.Due)) {
			first = &d.Acts[i]
		}
	}
	return first
}

// Finish forgets an action: its result has come.
func (d *Deeds) Finish(id string) {
	d.Acts = slices.DeleteFunc(d.Acts, func(a Act) bool { return a.ID == id })
}
