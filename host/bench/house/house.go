// Package house is a room of companiond in the world of the bench: the rules as they
// are, driven as host/room drives them, with a body for each member that plays its lines
// and tells so. It decides nothing, and asks no clock but the world's.
package house

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/replay"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// Room is the room of a talk.
type Room struct {
	w        *world.World
	m        *rules.Machine
	rules    entry.Rules
	journal  []entry.Entry
	trouble  error
	numbered map[uint64]int // the world's number of the message of an entry
	newest   int            // of these

	asking map[string]bool   // voters with a call running
	making *line             // that the newest call was for
	held   *line             // that waits until it may sound; it is making
	voices map[string]*voice // of lines that began to sound, by grant
	nods   map[string]nod    // that came with votes, by the voter
	lately speech.Lately     // said by members
	wake   time.Duration     // the earliest time that is waited for
}

// nod is a backchannel that came with a vote in a round.
type nod struct {
	round uint64
	text  string
}

// New makes a room with these rules.
func New(r entry.Rules) *Room {
	return &Room{
		rules: r, m: &rules.Machine{State: fold.New()}, numbered: map[uint64]int{},
		asking: map[string]bool{}, voices: map[string]*voice{}, nods: map[string]nod{},
	}
}

// epoch is the journal's time at the world's beginning.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *Room) at() time.Time { return epoch.Add(h.w.Now()) }

// Trouble is why the room broke down, nil where it did not.
func (h *Room) Trouble() error { return h.trouble }

// Journal gives the entries of the talk so far.
func (h *Room) Journal() []entry.Entry { return h.journal }

// Start takes the room over and lets everybody in, with a body each.
func (h *Room) Start(w *world.World) {
	h.w = w
	owner, err := entry.Entry{Seq: 1, Epoch: 1, At: h.at(), Kind: entry.KindOwner, ID: "owner/1", V: entry.KindOwner.Version()}.WithBody(entry.Owner{Owner: "bench"})
	if err == nil {
		err = h.m.State.Apply(owner)
	}
	h.must(err)
	h.journal = append(h.journal, owner)
	var cast entry.Cast
	var bodies entry.Bodies
	for _, m := range w.Members() {
		cast.Joined = append(cast.Joined, entry.Joined{ID: m.ID, Name: m.Name, Kind: m.Kind})
		bodies.Joined = append(bodies.Joined, entry.Body{ID: bodyOf(m.ID), Who: m.ID, Plays: true})
	}
	h.input(entry.KindRules, h.rules)
	h.input(entry.KindCast, cast)
	h.input(entry.KindBody, bodies)
	h.settle()
}

func bodyOf(who string) string { return who + "/1" }

// Begins is told by the microphone of a person who begins to speak.
func (h *Room) Begins(who string) {
	h.input(entry.KindSpeaking, entry.Speaking{From: who, On: true})
	h.settle()
}

// Said is what a person said.
func (h *Room) Said(t *world.Turn) {
	h.ends(t)
	b := entry.Said{From: t.From, By: abi.KindHuman, To: t.To, Text: t.Text, Kind: t.Kind}
	if t.Chat {
		b.Source = entry.SourceChat
	}
	h.say(rules.Line{Said: b}, t)
	h.settle()
}

// Stopped is a person's STOP: what was heard is said, and nobody speaks on.
func (h *Room) Stopped(t *world.Turn) {
	h.ends(t)
	h.breakOff(t.From + " said STOP")
	h.input(entry.KindStop, entry.Stop{From: t.From})
	h.settle()
}

// ends notes that a person who spoke aloud has ended.
func (h *Room) ends(t *world.Turn) {
	if h.m.State.Speaks(t.From) {
		h.input(entry.KindSpeaking, entry.Speaking{From: t.From})
	}
}

func (h *Room) must(err error) {
	if err != nil && h.trouble == nil {
		h.trouble = err
	}
}

func (h *Room) input(kind entry.Kind, body any) { h.must(h.m.Input(kind, h.at(), body)) }

// say gives a line to the rules. heard is its turn where people hear it already; nil:
// a member's, which sounds from now on if it is not refused.
func (h *Room) say(l rules.Line, heard *world.Turn) {
	l.ID = fmt.Sprintf("m%d", h.m.State.Head+1)
	l.Addressed, _ = address.Meant(abi.Message{From: l.From, To: l.To, Text: l.Text}, h.m.State.Named(), "")
	if turn := l.By != abi.KindHuman && l.Kind == abi.KindTurn; turn {
		l.Like, l.Played = h.lately.Like(l.Text, h.names()), true
		if l.Segments == 0 {
			l.Voice = speech.Beats(l.Text)
		}
	}
	e, err := h.m.Say(l, h.at())
	h.must(err)
	if err != nil || e.Kind != entry.KindSaid {
		return
	}
	b, err := entry.Decode[entry.Said](e)
	h.must(err)
	switch {
	case heard != nil:
	case b.Kind == abi.KindTurn:
		heard = h.sound(l.Grant, world.Line{From: l.From, To: l.To, Text: l.Text, Basis: h.toldFor(l.Grant)})
	default:
		heard = h.w.Say(world.Line{From: l.From, To: l.To, Text: l.Text, Basis: h.newest}, world.Saying{Kind: b.Kind})
	}
	if v := h.voices[l.Grant]; v != nil && b.By != abi.KindHuman {
		v.whole = true
		h.lately.Add(e.Seq, l.Text, h.names())
		if heard.Ended <= h.w.Now() {
			h.tell(l.Grant, v.parts)
		}
	}
	h.numbered[e.Seq] = heard.N
	h.newest = max(h.newest, heard.N)
}

// toldFor gives the newest turn that the speaker of a line was told of.
func (h *Room) toldFor(grant string) int {
	if h.making != nil && h.making.grant == grant {
		return h.making.told
	}
	return h.newest
}

// names gives those that make no two lines alike.
func (h *Room) names() (names []string) {
	for _, m := range h.w.Members() {
		names = append(names, m.ID, m.Name)
	}
	return names
}

// settle does what follows from the state, as the room's loop does after each event.
func (h *Room) settle() {
	h.dues()
	if h.trouble != nil {
		return
	}
	h.keep()
	h.sayNods()
	h.sayHeld()
	h.sayAtHand()
	h.keep()
	h.askVoters()
	h.askSpeaker()
	h.wakeUp()
}

// dues records every stored time that has come.
func (h *Room) dues() {
	for again := 0; h.trouble == nil; again++ {
		s := h.m.State
		at, due, ok := s.NextDue()
		if !ok || at.After(h.at()) {
			return
		}
		if again > 1000 {
			h.must(fmt.Errorf("%s: the stored time %s of %d comes again and again", at, due.What, due.Of))
		}
		if f, l := s.Floor, s.Playing; f != nil && s.Begun(f.Token) {
			switch {
			case due.What == entry.DueGrant:
				h.breakOff("the floor was held too long")
				continue
			case due.What == entry.DueCut && l != nil && l.ID == f.Token:
				h.breakOff(l.By + " spoke over it")
				continue
			}
		}
		h.input(entry.KindDue, due)
	}
}

// wakeUp has settle called at the next stored time, or when the line that waits may
// sound.
func (h *Room) wakeUp() {
	at, _, ok := h.m.State.NextDue()
	var waits []string // grants of lines that are there
	if h.held != nil {
		waits = append(waits, h.held.grant)
	}
	if f := h.m.State.Floor; f != nil && f.Wish != nil && f.Lost == "" {
		waits = append(waits, f.Token)
	}
	for _, grant := range waits {
		if may, begins := h.m.State.MayBegin(grant, h.at()); !may && !begins.IsZero() && (!ok || begins.Before(at)) {
			at, ok = begins, true
		}
	}
	if !ok {
		return
	}
	if wake := max(h.w.Now(), at.Sub(epoch)); h.wake != wake {
		h.wake = wake
		h.w.After(wake-h.w.Now(), func() {
			if h.wake == wake {
				h.wake = -1
			}
			h.settle()
		})
	}
}

// keep writes the entries down and tells bodies how lines ended.
func (h *Room) keep() {
	for _, e := range h.m.Take() {
		h.journal = append(h.journal, e)
		switch e.Kind {
		case entry.KindClosing:
			if b, err := entry.Decode[entry.ClosingMoved](e); err == nil && b.To == abi.ClosingTerminal {
				h.w.End()
			}
		case entry.KindHeard:
			b, err := entry.Decode[entry.Heard](e)
			h.must(err)
			h.heard(b)
		}
	}
}

// Replay plays the journal as it would be stored and gives the first difference, ""
// where there is none.
func (h *Room) Replay() (string, error) {
	p := replay.NewPlayer(fold.New())
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
