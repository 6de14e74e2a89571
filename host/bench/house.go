package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
)

// house is a room of companiond in the world of the bench: the rules as they are,
// driven as host/room drives them. It is the only part of the bench that knows them.
type house struct {
	w        *world.World
	m        *rules.Machine
	rules    entry.Rules
	journal  []entry.Entry
	trouble  error
	numbered map[uint64]int // the world's number of the message of an entry
	newest   int            // of these

	asking  map[string]bool        // voters with a call running
	writing string                 // the grant and basis that a line is made for
	voices  map[string]*world.Turn // of lines that are heard while they are made, by grant
	nods    map[string]nod         // that came with votes, by the voter
	wake    time.Duration          // the earliest stored time that is waited for
}

// nod is a backchannel that came with a vote in a round.
type nod struct {
	round uint64
	text  string
}

// newHouse makes a room with these rules.
func newHouse(r entry.Rules) *house {
	return &house{
		rules: r, m: &rules.Machine{State: rules.New()}, numbered: map[uint64]int{},
		asking: map[string]bool{}, voices: map[string]*world.Turn{}, nods: map[string]nod{},
	}
}

// epoch is the journal's time at the world's beginning.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *house) at() time.Time { return epoch.Add(h.w.Now()) }

// Start takes the room over and lets everybody in.
func (h *house) Start(w *world.World) {
	h.w = w
	owner, err := entry.Entry{Seq: 1, Epoch: 1, At: h.at(), Kind: entry.KindOwner, ID: "owner/1", V: entry.KindOwner.Version()}.WithBody(entry.Owner{Owner: "bench"})
	if err == nil {
		err = h.m.State.Apply(owner)
	}
	h.must(err)
	h.journal = append(h.journal, owner)
	var cast entry.Cast
	for _, m := range w.Members() {
		cast.Joined = append(cast.Joined, entry.Joined{ID: m.ID, Name: m.Name, Kind: m.Kind})
	}
	h.input(entry.KindRules, h.rules)
	h.input(entry.KindCast, cast)
	h.settle()
}

// Begins is nothing: nothing of the room hears a person begin.
func (h *house) Begins(string) {}

// Said is what a person said.
func (h *house) Said(t *world.Turn) {
	h.say(rules.Line{Said: entry.Said{From: t.From, By: abi.KindHuman, To: t.To, Text: t.Text, Kind: t.Kind}}, t)
	h.settle()
}

// Stopped is a person's STOP: what was heard is said, and nobody speaks on.
func (h *house) Stopped(t *world.Turn) {
	h.breakOff()
	h.input(entry.KindStop, entry.Stop{From: t.From})
	h.settle()
}

func (h *house) must(err error) {
	if err != nil && h.trouble == nil {
		h.trouble = err
	}
}

func (h *house) input(kind entry.Kind, body any) { h.must(h.m.Input(kind, h.at(), body)) }

// say gives a line to the rules. heard is its turn where people hear it already; else
// it is heard from now on, if it is not refused.
func (h *house) say(l rules.Line, heard *world.Turn) {
	l.ID = fmt.Sprintf("m%d", h.m.State.Head+1)
	l.Addressed, _ = address.Meant(abi.Message{From: l.From, To: l.To, Text: l.Text}, h.m.State.Named(), "")
	e, err := h.m.Say(l, h.at())
	h.must(err)
	if err != nil || e.Kind != entry.KindSaid {
		return
	}
	if heard == nil {
		b, err := entry.Decode[entry.Said](e)
		h.must(err)
		heard = h.w.Say(world.Line{From: l.From, To: l.To, Text: l.Text, Basis: h.newest}, world.Saying{Kind: b.Kind})
	}
	h.numbered[e.Seq] = heard.N
	h.newest = max(h.newest, heard.N)
}

// settle does what follows from the state, as the room's loop does after each event.
func (h *house) settle() {
	for again := 0; h.trouble == nil; again++ {
		at, due, ok := h.m.State.NextDue()
		if !ok || at.After(h.at()) {
			break
		}
		if again > 1000 {
			h.must(fmt.Errorf("%s: the stored time %s of %d comes again and again", at, due.What, due.Of))
		}
		if f := h.m.State.Floor; due.What == entry.DueGrant && f != nil && h.m.State.Begun(f.Token) {
			h.breakOff()
			continue
		}
		h.input(entry.KindDue, due)
	}
	if h.trouble != nil {
		return
	}
	h.sayNods()
	h.keep()
	h.askVoters()
	h.askSpeaker()
	if at, _, ok := h.m.State.NextDue(); ok {
		if wake := at.Sub(epoch); h.wake != wake {
			h.wake = wake
			h.w.After(wake-h.w.Now(), h.settle)
		}
	}
}

// keep writes the entries down.
func (h *house) keep() {
	for _, e := range h.m.Take() {
		h.journal = append(h.journal, e)
		if b, err := entry.Decode[entry.ClosingMoved](e); e.Kind == entry.KindClosing && err == nil && b.To == abi.ClosingTerminal {
			h.w.End()
		}
	}
}

// askVoters asks everybody whose vote the open round waits for, one call at a time.
func (h *house) askVoters() {
	round := h.m.State.Round
	if round == nil {
		return
	}
	for _, v := range round.Electorate {
		if !round.Awaits(v.ID) || h.asking[v.ID] {
			continue
		}
		h.asking[v.ID] = true
		id, answered := round.ID, false
		answer := func(then func()) {
			if answered {
				return
			}
			answered = true
			delete(h.asking, v.ID)
			if s := h.m.State; s.Round != nil && (s.Round.ID == id || slices.Contains(s.Chain, id)) {
				then()
			}
			h.settle()
		}
		h.w.Vote(v.ID, h.numbered[round.About], func(vote abi.Vote) {
			answer(func() {
				if vote.Backchannel != "" {
					h.nods[v.ID] = nod{id, vote.Backchannel}
				}
				h.input(entry.KindVote, entry.Voted{Round: id, Voter: v.ID, Vote: vote})
			})
		})
		h.w.After(round.Due.Sub(h.at()), func() {
			answer(func() {
				if h.m.State.Round.ID == id && h.m.State.Round.Awaits(v.ID) {
					h.input(entry.KindFailed, entry.Failed{Round: id, Who: v.ID, Code: abi.CodeTimeout, Error: "no answer in time"})
				}
			})
		})
	}
}

// askSpeaker asks for the line of whoever has the floor.
func (h *house) askSpeaker() {
	s := h.m.State
	f := s.Floor
	if f == nil || f.Lost != "" {
		return
	}
	call := fmt.Sprintf("%s@%d", f.Token, f.Basis)
	if h.writing == call {
		return
	}
	h.writing = call
	grant, basis, chars := f.Token, f.Basis, 0
	if b, ok := s.Budget(h.at()); ok && s.PaysTurns() {
		chars = max(0, b.Chars)
	}
	told := h.newest
	mine := func() bool { return h.writing == call && h.holds(grant) }
	h.w.Line(f.Who, h.numbered[basis], chars, func(l world.Line) {
		if l.Basis = told; mine() {
			h.begin(l, grant, basis)
			h.settle()
		}
	}, func(l world.Line) {
		if l.Basis = told; mine() {
			h.finish(l, grant, basis)
			h.settle()
		}
	})
}

// holds says whether a grant is in force.
func (h *house) holds(grant string) bool {
	f := h.m.State.Floor
	return f != nil && f.Token == grant && f.Lost == ""
}

// begin shows the first sentence of a line, from which on it is heard.
func (h *house) begin(l world.Line, grant string, basis uint64) {
	s := h.m.State
	if s.PaysTurns() || s.Last.Seq > basis && s.Last.From != l.From && s.Rules.Stale != entry.StaleAccept {
		return // said in one piece, or somebody spoke meanwhile
	}
	h.input(entry.KindSegment, entry.Segment{Grant: grant, Who: l.From, N: 1, Text: l.First})
	h.voices[grant] = h.w.Say(l, world.Saying{Kind: abi.KindTurn, Ready: l.Rest})
}

// finish takes the whole line, or that there is none.
func (h *house) finish(l world.Line, grant string, basis uint64) {
	s := h.m.State
	switch {
	case l.Pass:
		h.input(entry.KindFailed, entry.Failed{Grant: grant, Who: l.From, Error: "passed", Pass: true})
		return
	case !s.Begun(grant):
		h.say(rules.Line{Said: said(l, basis, grant)}, nil)
		return
	case l.Text != s.Floor.Spoken:
		h.input(entry.KindSegment, entry.Segment{Grant: grant, Who: l.From, N: s.Floor.Segments + 1, Text: l.Text[len(s.Floor.Spoken):]})
	}
	b := said(l, s.Last.Seq, grant)
	b.Segments = s.Floor.Segments
	h.say(rules.Line{Said: b}, h.voices[grant])
}

// breakOff ends a line that has begun to be heard: the part that was shown is all.
func (h *house) breakOff() {
	s := h.m.State
	if s.Floor == nil || !s.Begun(s.Floor.Token) {
		return
	}
	f, t := s.Floor, h.voices[s.Floor.Token]
	h.w.Shorten(t, f.Spoken)
	b := said(world.Line{From: f.Who, To: t.To, Text: f.Spoken}, s.Last.Seq, f.Token)
	b.Segments = f.Segments
	h.say(rules.Line{Said: b}, t)
}

func said(l world.Line, basis uint64, grant string) entry.Said {
	return entry.Said{From: l.From, By: abi.KindCompanion, To: l.To, Text: l.Text, Kind: abi.KindTurn, Basis: basis, Grant: grant}
}

// sayNods says the backchannels of those who did not get the floor.
func (h *house) sayNods() {
	f := h.m.State.Floor
	for _, who := range slices.Sorted(maps.Keys(h.nods)) {
		s, n := h.m.State, h.nods[who]
		if s.Round != nil && s.Round.ID == n.round {
			continue
		}
		delete(h.nods, who)
		if _, pool := s.Budget(h.at()); pool && f != nil && f.Round == n.round && who != f.Who {
			h.say(rules.Line{Said: entry.Said{From: who, By: abi.KindCompanion, Text: n.text, Kind: abi.KindBackchannel, Basis: s.Last.Seq}}, nil)
		}
	}
}

// replay plays the journal as it would be stored and gives the first difference, ""
// where there is none.
func (h *house) replay() (string, error) {
	p := rules.NewPlayer(rules.New())
	for _, e := range h.journal {
		raw, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		var stored entry.Entry
		if err := json.Unmarshal(raw, &stored); err != nil {
			return "", err
		}
		diff, err := p.Play(stored)
		if err != nil {
			return "", err
		}
		if diff != nil {
			return diff.String(), nil
		}
	}
	return "", nil
}
