package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/replay"
	. "github.com/companiond/companiond/host/room/rules"
)

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// table is a room without a house: its rules, its journal and its clock.
type table struct {
	t       fataler
	m       *Machine
	at      time.Time
	journal []entry.Entry
}

// poolRules are those of a room with a pool in which nothing else hurries.
func poolRules() entry.Rules {
	return entry.Rules{Version: Version, Policy: "pool", Seed: "test", Patience: 1000, Floor: 5000, MaxTurns: 6, Stale: entry.StaleReask}
}

// newTable seats the companions a and b and the agents x, y and z, which do not
// vote.
func newTable(t fataler, rules entry.Rules) *table {
	w := &table{t: t, m: &Machine{State: New()}, at: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	w.input(entry.KindRules, rules)
	w.join(joined("a"), joined("b"), agent("x"), agent("y"), agent("z"))
	return w
}

// newAgents is newTable without companions.
func newAgents(t fataler, rules entry.Rules) *table {
	w := newTable(t, rules)
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "a"}, {ID: "b"}}})
	return w
}

func agent(id string) entry.Joined { return entry.Joined{ID: id, Kind: abi.KindAgent, NoVote: true} }

func (w *table) join(js ...entry.Joined) {
	w.t.Helper()
	w.input(entry.KindCast, entry.Cast{Joined: js})
}

func (w *table) input(kind entry.Kind, body any) {
	w.t.Helper()
	if err := w.m.Input(kind, w.at, body); err != nil {
		w.t.Fatal(err)
	}
	w.journal = append(w.journal, w.m.Take()...)
}

func (w *table) say(l Line) entry.Entry {
	w.t.Helper()
	if l.ID == "" {
		l.ID = fmt.Sprintf("m%d", w.m.State.Head+1)
	}
	l.Said = meant(w.m.State, l.Said)
	e, err := w.m.Say(l, w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.journal = append(w.journal, w.m.Take()...)
	return e
}

func (w *table) human(text string) entry.Entry {
	w.t.Helper()
	return w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: text, Kind: abi.KindTurn}})
}

// turn is a short turn of an agent that has seen everything; it costs 5.
func (w *table) turn(who string) entry.Entry {
	w.t.Helper()
	return w.late(who, 0)
}

// late is turn with a basis that is so many entries behind the newest turn.
func (w *table) late(who string, behind uint64) entry.Entry {
	w.t.Helper()
	return w.say(Line{Said: entry.Said{From: who, By: abi.KindAgent, Text: "そうだね", Kind: abi.KindTurn, Basis: w.m.State.Last.Seq - behind}})
}

// long is a turn of 50 characters, which cost 60.
func (w *table) long(who string) entry.Entry {
	w.t.Helper()
	return w.say(Line{Said: entry.Said{From: who, By: abi.KindAgent, Text: strings.Repeat("あ", 50), Kind: abi.KindTurn, Basis: w.m.State.Last.Seq}})
}

func (w *table) aside(who string) entry.Entry {
	w.t.Helper()
	return w.say(Line{Said: entry.Said{From: who, By: abi.KindAgent, Text: "うん", Kind: abi.KindBackchannel}})
}

// vote casts a vote to speak in the open round.
func (w *table) vote(who string, importance float64) {
	w.t.Helper()
	if w.m.State.Round == nil {
		w.t.Fatalf("no round is open for the vote of %s\n%s", who, w)
	}
	w.input(entry.KindVote, entry.Voted{Round: w.m.State.Round.ID, Voter: who, Vote: abi.Vote{State: abi.Speak, Importance: importance}})
}

func (w *table) listen(who string) {
	w.t.Helper()
	w.input(entry.KindVote, entry.Voted{Round: w.m.State.Round.ID, Voter: who, Vote: abi.Vote{State: abi.Listen}})
}

// quiet lets everybody who is asked listen, so that nobody has the floor.
func (w *table) quiet() {
	w.t.Helper()
	for w.m.State.Round != nil {
		for _, v := range w.m.State.Round.Electorate {
			w.listen(v.ID)
			if w.m.State.Round == nil {
				return
			}
		}
	}
}

// speak is the line of the companion that has the floor.
func (w *table) speak(text string) entry.Entry {
	w.t.Helper()
	f := w.m.State.Floor
	if f == nil {
		w.t.Fatalf("nobody has the floor\n%s", w)
	}
	return w.say(Line{Said: entry.Said{From: f.Who, By: abi.KindCompanion, Text: text, Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}})
}

// wait lets time pass, with the stored times that come meanwhile.
func (w *table) wait(d time.Duration) {
	w.t.Helper()
	end := w.at.Add(d)
	for n := 0; ; n++ {
		at, due, ok := w.m.State.NextDue()
		if !ok || at.After(end) {
			break
		}
		if n > 10000 {
			w.t.Fatalf("stored times come for ever: %+v\n%s", due, w)
		}
		if at.After(w.at) {
			w.at = at
		}
		w.input(entry.KindDue, due)
	}
	w.at = end
}

// said and refused hold an entry to what it should be.
func (w *table) said(e entry.Entry) {
	w.t.Helper()
	if e.Kind != entry.KindSaid {
		w.t.Fatalf("not said: %s", replay.Show(e))
	}
}

func (w *table) refused(e entry.Entry, code abi.Code, why string) entry.Refused {
	w.t.Helper()
	var b entry.Refused
	if e.Kind == entry.KindRefused {
		if err := json.Unmarshal(e.Body, &b); err != nil {
			w.t.Fatal(err)
		}
	}
	if b.Code != code || !strings.Contains(b.Why, why) {
		w.t.Fatalf("want %s, %q: %s", code, why, replay.Show(e))
	}
	return b
}

// last gives the newest decision.
func (w *table) last() (d entry.Decision) {
	for _, e := range w.journal {
		if e.Kind == entry.KindDecision {
			d = entry.Decision{}
			if err := json.Unmarshal(e.Body, &d); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return d
}

// replay holds the journal to a replay.
func (w *table) replay() {
	w.t.Helper()
	p := replay.NewPlayer(New())
	for _, e := range w.journal {
		if diff, err := p.Play(e); diff != nil || err != nil {
			w.t.Fatalf("replay: %v %v\n%s", diff, err, w)
		}
	}
}

// String gives the journal for people.
func (w *table) String() string {
	var b strings.Builder
	for _, e := range w.journal {
		fmt.Fprintf(&b, "%4d %s\n", e.Seq, replay.Show(e))
	}
	return b.String()
}
