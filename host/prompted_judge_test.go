package host_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/companiond/companiond/host/entry"
)

// promptedNames are the agents.
var promptedNames = []string{"aya", "kyoko", "natsumi"}

// promptedEvent is what happened to one of them: an answer it waited for, with what it
// tells, or what its model did then.
type promptedEvent struct {
	Event, Who, Reason, Grant, Did, Refused string
	About                                   uint64
	Messages                                []uint64 // seqs
}

// promptedLog is what was there to do, by the journal, and what the agents were told.
type promptedLog struct {
	t       testing.TB
	entries []entry.Entry
	events  []promptedEvent
}

// told gives what each was told.
func (l promptedLog) told() map[string][]promptedEvent {
	all := map[string][]promptedEvent{}
	for _, e := range l.events {
		if e.Event == "answer" {
			all[e.Who] = append(all[e.Who], e)
		}
	}
	return all
}

// idle says whether nobody's model is at work.
func (l promptedLog) idle() bool {
	n := 0
	for _, e := range l.events {
		switch e.Event {
		case "answer":
			n++
		case "model":
			n--
		}
	}
	return n == 0
}

// things are what there was to do for one agent.
type things struct {
	messages []uint64
	rounds   map[uint64]int  // in which it could vote, by what they are about
	passed   map[uint64]bool // rounds that something newer ended: it may not have been told
	grants   []string
}

// things gives what there was to do for each.
func (l promptedLog) things() map[string]*things {
	of := map[string]*things{}
	for _, who := range promptedNames {
		of[who] = &things{rounds: map[uint64]int{}, passed: map[uint64]bool{}}
	}
	rounds := map[uint64]entry.Round{}
	for _, e := range l.entries {
		switch e.Kind {
		case entry.KindSaid:
			var s entry.Said
			l.decode(e, &s)
			for who, t := range of {
				if who != s.From {
					t.messages = append(t.messages, e.Seq)
				}
			}
		case entry.KindRound:
			var r entry.Round
			l.decode(e, &r)
			rounds[e.Seq] = r
			for _, who := range r.Electorate {
				of[who].rounds[r.About]++
			}
		case entry.KindDecision:
			var d entry.Decision
			l.decode(e, &d)
			if r := rounds[d.Round]; d.Outcome == entry.OutcomeSuperseded {
				for _, who := range r.Electorate {
					of[who].passed[r.About] = true
				}
			}
			if d.Grant != nil && of[d.Speaker] != nil {
				of[d.Speaker].grants = append(of[d.Speaker].grants, d.Grant.Token)
			}
		}
	}
	return of
}

func (l promptedLog) decode(e entry.Entry, into any) {
	if err := json.Unmarshal(e.Body, into); err != nil {
		l.t.Errorf("entry %d: %v", e.Seq, err)
	}
}

// unseen gives who was not told of a message.
func (l promptedLog) unseen() []string {
	var who []string
	told := l.told()
	for name, t := range l.things() {
		seen := map[uint64]bool{}
		for _, e := range told[name] {
			for _, seq := range e.Messages {
				seen[seq] = true
			}
		}
		if slices.ContainsFunc(t.messages, func(seq uint64) bool { return !seen[seq] }) {
			who = append(who, name)
		}
	}
	return who
}

// cost is what calls of models came to.
type cost struct {
	calls, things int
	nothing       []string // calls that told nothing new
	again, missed int      // things that were told more than once, and not at all
}

// tally holds how often things were told against how often there was something.
func (c *cost) tally(told, wanted int) {
	c.things += wanted
	c.again += max(0, told-wanted)
	c.missed += max(0, wanted-told)
}

// cost holds what was told against what there was to tell.
func (l promptedLog) cost() (c cost) {
	told := l.told()
	for who, t := range l.things() {
		messages, rounds, grants := map[uint64]int{}, map[uint64]int{}, map[string]int{}
		for _, e := range told[who] {
			c.calls++
			news := false
			for _, seq := range e.Messages {
				messages[seq]++
				news = news || messages[seq] == 1
			}
			switch e.Reason {
			case "asked":
				rounds[e.About]++
				news = news || rounds[e.About] <= t.rounds[e.About]
			case "granted":
				grants[e.Grant]++
				news = news || grants[e.Grant] == 1
			}
			if !news {
				c.nothing = append(c.nothing, fmt.Sprintf("%s %s %s", who, e.Reason, cmp.Or(e.Grant, fmt.Sprint(e.About))))
			}
		}
		for _, seq := range t.messages {
			c.tally(messages[seq], 1)
		}
		for about, n := range t.rounds {
			if told := rounds[about]; told > 0 || !t.passed[about] {
				c.tally(told, n)
			}
		}
		for _, g := range t.grants {
			c.tally(grants[g], 1)
		}
	}
	return c
}

// judge holds agents to one call of a model for each thing.
func (l promptedLog) judge() {
	l.t.Helper()
	c := l.cost()
	l.t.Logf("%d calls for %d things, %d for nothing; told again %d, missed %d", c.calls, c.things, len(c.nothing), c.again, c.missed)
	if c.calls == 0 || c.calls > c.things || len(c.nothing) > 0 || c.again > 0 || c.missed > 0 {
		l.t.Errorf("for nothing: %q", c.nothing[:min(len(c.nothing), 10)])
	}
	var refused []string
	for _, e := range l.events {
		if e.Refused != "" {
			refused = append(refused, e.Who+" "+e.Did+": "+e.Refused)
		}
	}
	if len(refused) > 0 {
		l.t.Errorf("%d calls were refused: %q", len(refused), refused[:min(len(refused), 5)])
	}
}
