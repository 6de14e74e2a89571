// Package replay compares a journal with what the rules make of the same inputs. It is
// pure: entries come in one by one, and it never reads a journal, changes one, or decides
// anything itself; host/room/rules does that.
package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/rules"
)

// Difference is where a replay first departs from the journal.
type Difference struct {
	Seq     uint64
	Journal string // what is written there
	Rules   string // what the rules make of the same inputs
}

// String puts it into a line for people.
func (d Difference) String() string {
	return fmt.Sprintf("entry %d differs\n  journal: %s\n  rules:   %s", d.Seq, d.Journal, d.Rules)
}

// Player compares entries with what the rules make of the same inputs. What
// another version of the rules decided, and what cannot be decided again because
// an input was taken out, it folds and counts apart.
type Player struct {
	Derived, Folded int      // entries so far
	Erased          []uint64 // seqs of those that lost words on somebody's word; see [Player.Group]

	m       *rules.Machine
	expect  []entry.Entry // made by the rules and not yet seen in the journal
	blurred bool          // an input was blank, so that what follows from it cannot be made again
}

// NewPlayer begins at a state.
func NewPlayer(s *fold.State) *Player { return &Player{m: &rules.Machine{State: s}} }

// Play takes the next entry of the journal. It answers how the entry differs
// from what the rules make, nil when it does not.
func (p *Player) Play(e entry.Entry) (*Difference, error) {
	if len(p.expect) == 0 {
		if fold, err := p.folds(e); err != nil {
			return nil, fmt.Errorf("replay entry %d: %w", e.Seq, err)
		} else if fold {
			p.Folded++
			return nil, p.m.State.Apply(e)
		}
		p.m.State.Epoch = e.Epoch // a new owner is an input too
		if err := p.redo(e); err != nil {
			return nil, fmt.Errorf("replay entry %d: %w", e.Seq, err)
		}
		p.expect = p.m.Take()
		if e.Kind.IsInput() && len(p.expect) > 0 {
			p.expect[0].V = e.V // the shape of an input is as it came
		}
	}
	if len(p.expect) == 0 {
		return &Difference{e.Seq, Show(e), "nothing happens here"}, nil
	}
	want := p.expect[0]
	p.expect = p.expect[1:]
	if want.Seq != e.Seq || want.Kind != e.Kind || want.ID != e.ID || want.V != e.V || !want.At.Equal(e.At) || !e.Blank && !bytes.Equal(want.Body, e.Body) {
		return &Difference{e.Seq, Show(e), Show(want)}, nil
	}
	p.Derived++
	return nil, nil
}

// Group is Play for an input and all that follows from it. Where words were taken out of one of
// them on somebody's word, none is made again, for the rules would name whoever is forgotten.
func (p *Player) Group(es []entry.Entry) (*Difference, error) {
	erased := slices.ContainsFunc(es, func(e entry.Entry) bool { return entry.ErasedBy(e) != "" })
	for _, e := range es {
		if entry.ErasedBy(e) != "" {
			p.Erased = append(p.Erased, e.Seq)
		}
		if erased && len(p.expect) == 0 {
			p.blurred = true
			p.Folded++
			if err := p.m.State.Apply(e); err != nil {
				return nil, fmt.Errorf("replay entry %d: %w", e.Seq, err)
			}
			continue
		}
		if diff, err := p.Play(e); diff != nil || err != nil {
			return diff, err
		}
	}
	return nil, nil
}

// folds says whether an entry, before which nothing is expected, is only folded.
func (p *Player) folds(e entry.Entry) (bool, error) {
	s := p.m.State
	if p.blurred && s.Quiet() && e.Kind.IsInput() { // else it may follow from what was only folded
		p.blurred = false
	}
	if e.Blank && e.Kind.IsInput() {
		p.blurred = true
	}
	version := s.Rules.Version
	switch {
	case e.Kind == entry.KindRules && !e.Blank:
		b, err := entry.Decode[entry.Rules](e)
		if err != nil {
			return false, err
		}
		version = b.Version
	case s.Rules.Policy == "":
		version = fold.Version // nothing can be decided yet
	}
	return p.blurred || version != fold.Version || e.V < 2 || e.V > e.Kind.Version() || s.Unjudged() != "", nil
}

// redo gives an entry's input to the rules.
func (p *Player) redo(e entry.Entry) error {
	switch e.Kind {
	case entry.KindOwner: // written by the journal itself
		return p.m.Adopt(e)
	case entry.KindSaid:
		b, err := entry.Decode[entry.Said](e)
		if err != nil {
			return err
		}
		_, err = p.m.Say(rules.Line{Said: b, ID: e.ID, Offer: &b.Cost}, e.At) // what it cost is what it offers
		return err
	case entry.KindRefused:
		b, err := entry.Decode[entry.Refused](e)
		if err != nil {
			return err
		}
		_, err = p.m.Say(tried(b), e.At)
		return err
	}
	if !e.Kind.IsInput() {
		return nil // made by the rules; they did not make it here
	}
	return p.m.Input(e.Kind, e.At, e.Body)
}

// tried gives the line that was refused.
func tried(b entry.Refused) rules.Line {
	return rules.Line{Said: entry.Said{From: b.Who, By: b.By, Text: b.Text, Kind: b.Kind, Grant: b.Grant, Basis: b.Basis, Wish: b.Wish}, Offer: b.Offer}
}

// Show puts an entry into a line for people.
func Show(e entry.Entry) string {
	return fmt.Sprintf("%s %s %s %s", e.Kind, e.ID, e.At.UTC().Format("15:04:05.000"), e.Body)
}
