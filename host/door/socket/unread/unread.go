// Package unread is about entries of a feed that cannot be read: how the daemon says so, and how
// a client goes over them, since to ask for them again would give the same.
//
// It knows nothing of connections, and changes nothing in a room.
package unread

import (
	"errors"
	"fmt"
)

// CloseCode ends a feed at an entry that cannot be read.
const CloseCode = 4022

// Spoiled is the seq of an entry of which bytes were changed in the journal. It is not left out as
// if it had never been.
type Spoiled uint64

func (s Spoiled) Error() string {
	return fmt.Sprintf("entry %d cannot be read: its body is no JSON; since=%[1]d reads what is behind it", uint64(s))
}

// In gives the entry that the reason of a close frame tells of, ok false where it tells of none.
func In(reason string) (s Spoiled, ok bool) {
	n, _ := fmt.Sscanf(reason, "entry %d cannot be read", &s) // fewer than one say so
	return s, n == 1
}

// Place is how far a client is in a room.
type Place struct {
	Room string
	Seen uint64
	// Told is told that the entries first to last cannot be read, and why. Nil: nothing may be
	// passed over.
	Told func(first, last uint64, why error)
}

// Pass goes over an entry that cannot be read, and over those before it that are not there.
//
// # Errors
//
// That the entry cannot be read, where nothing may be passed over.
func (p *Place) Pass(seq uint64, why error) error {
	if err := p.Reach(seq); err != nil {
		return err
	}
	return p.over(seq, why)
}

// Reach goes over the entries before the next one that there is: the feed leaves none out that the
// journal has. Its errors are those of Pass.
func (p *Place) Reach(next uint64) error {
	if next == p.Seen+1 {
		return nil
	}
	return p.over(next-1, errors.New("the journal has it no more"))
}

func (p *Place) over(last uint64, why error) error {
	if p.Told == nil {
		return fmt.Errorf("entry %d of room %s cannot be read: %w", p.Seen+1, p.Room, why)
	}
	p.Told(p.Seen+1, last, why)
	p.Seen = last
	return nil
}
