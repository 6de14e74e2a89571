package room

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
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

// Replay runs a room's inputs through the rules again and compares every
// entry, byte for byte. It answers how many entries it compared and the first
// difference, nil when there is none. A room whose beginning was trimmed is
// replayed from its snapshot.
func Replay(ctx context.Context, j journal.Journal, name string) (n int, diff *Difference, err error) {
	p := &player{m: machine{st: newState()}}
	if first, err := j.Read(ctx, name, 0, 1); err != nil {
		return 0, nil, fmt.Errorf("read room: %w", err)
	} else if len(first) == 1 && first[0].Seq > 1 {
		if p.m.st, _, err = foldTo(ctx, j, name); err != nil {
			return 0, nil, err
		}
	}
	at := p.m.st.Head
	for {
		entries, err := j.Read(ctx, name, at, readChunk)
		if err != nil {
			return n, nil, fmt.Errorf("read room: %w", err)
		}
		for _, e := range entries {
			if diff, err := p.play(e); diff != nil || err != nil {
				return n, diff, err
			}
			n++
			at = e.Seq
		}
		if len(entries) < readChunk {
			return n, nil, nil
		}
	}
}

// foldTo gives the state of a room's snapshot.
func foldTo(ctx context.Context, j journal.Journal, name string) (*state, uint64, error) {
	seq, blob, err := j.GetSnapshot(ctx, name)
	if err != nil {
		return nil, 0, fmt.Errorf("read snapshot: %w", err)
	}
	st, err := decodeState(blob)
	return st, seq, err
}

// player compares entries with what the rules make.
type player struct {
	m      machine
	expect []abi.Entry // made by the rules and not yet seen in the journal
}

func (p *player) play(e abi.Entry) (*Difference, error) {
	if len(p.expect) == 0 {
		p.m.st.Epoch = e.Epoch // a new owner is an input too
		if err := p.redo(e); err != nil {
			return nil, fmt.Errorf("replay entry %d: %w", e.Seq, err)
		}
		p.expect = p.m.take()
	}
	if len(p.expect) == 0 {
		return &Difference{e.Seq, show(e), "nothing happens here"}, nil
	}
	want := p.expect[0]
	p.expect = p.expect[1:]
	if want.Seq != e.Seq || want.Kind != e.Kind || want.ID != e.ID || !want.At.Equal(e.At) || !bytes.Equal(want.Body, e.Body) {
		return &Difference{e.Seq, show(e), show(want)}, nil
	}
	return nil, nil
}

// redo gives an entry's input to the rules.
func (p *player) redo(e abi.Entry) error {
	switch e.Kind {
	case abi.EntryOwner: // written by the journal itself
		if err := p.m.st.apply(e); err != nil {
			return err
		}
		p.m.out = append(p.m.out, e)
		return nil
	case abi.EntrySaid:
		var b abi.Said
		if err := json.Unmarshal(e.Body, &b); err != nil {
			return err
		}
		_, err := p.m.say(attempt{Said: b, id: e.ID}, e.At)
		return err
	case abi.EntryRefused:
		var b abi.Refused
		if err := json.Unmarshal(e.Body, &b); err != nil {
			return err
		}
		_, err := p.m.say(tried(b), e.At)
		return err
	}
	if !e.Kind.IsInput() {
		return nil // made by the rules; they did not make it here
	}
	return p.m.input(e.Kind, e.At, e.Body)
}

// tried gives the line that was refused.
func tried(b abi.Refused) attempt {
	return attempt{Said: abi.Said{From: b.Who, By: b.By, Text: b.Text, Kind: b.Kind, Grant: b.Grant, Basis: b.Basis}}
}

func show(e abi.Entry) string {
	return fmt.Sprintf("%s %s %s %s", e.Kind, e.ID, e.At.UTC().Format("15:04:05.000"), e.Body)
}
