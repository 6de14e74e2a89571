// Package lineage says what a room has lived through that may be a fork of another: all that was said in the
// room itself, and what was said in those before it until they parted. Rooms that come of the same
// one are a family; what one of them lived through alone the others know nothing of.
//
// It never reads a journal: whoever uses it tells what is a fork of what, which never changes. What may be told of it
// in a room that is of another family it does not say.
package lineage

import (
	"math"
	"slices"
)

// Fork is where a room left another; the zero value is of a room that did not.
type Fork struct {
	Of string
	At uint64 // seq of the newest entry that both have
}

// deepest is how many forks are gone back at most: more than any journal makes.
const deepest = 256

// Tree is what is known of which rooms are forks of which. It is not safe for concurrent use.
type Tree struct {
	forks map[string]Fork   // by room
	roots map[string]string // the first of the family, by room
	sizes map[string]int    // rooms of a family that are known, by the first
	pasts map[string]*Past  // of rooms that were asked for
}

// NewTree gives a tree of no rooms.
func NewTree() *Tree {
	return &Tree{forks: map[string]Fork{}, roots: map[string]string{}, sizes: map[string]int{}, pasts: map[string]*Past{}}
}

// Learn takes in a room with all that were before it, each asked for once: find gives where a room left another, and false
// for a room that is not there (yet), which stays unknown.
func (t *Tree) Learn(room string, find func(room string) (Fork, bool, error)) error {
	type step struct {
		room string
		fork Fork
	}
	var chain []step
	for room != "" && len(chain) < deepest {
		if _, known := t.forks[room]; known {
			break
		}
		f, there, err := find(room)
		if err != nil {
			return err
		}
		if !there && len(chain) == 0 {
			return nil
		}
		chain = append(chain, step{room, f})
		room = f.Of
	}
	for _, s := range slices.Backward(chain) {
		if _, known := t.forks[s.room]; known {
			continue // a ring, which no journal has
		}
		root := s.room
		if s.fork.Of != "" {
			root = t.root(s.fork.Of)
		}
		t.forks[s.room], t.roots[s.room] = s.fork, root
		t.sizes[root]++
	}
	return nil
}

// root gives the first of a room's family; a room of which nothing is known is one by itself.
func (t *Tree) root(room string) string {
	if root, known := t.roots[room]; known {
		return root
	}
	return room
}

// alone says whether no other room of a room's family is known.
func (t *Tree) alone(room string) bool { return t.sizes[t.root(room)] < 2 }

// Past gives what a room has lived through; "" is no room, which knows of all of them.
func (t *Tree) Past(room string) *Past {
	if p := t.pasts[room]; p != nil {
		return p
	}
	p := &Past{tree: t, room: room, root: t.root(room), upto: map[string]uint64{room: math.MaxUint64}}
	if _, known := t.forks[room]; known {
		t.pasts[room] = p
	}
	f, at := t.forks[room], uint64(math.MaxUint64)
	for n := 0; f.Of != "" && n < deepest; n++ {
		at = min(at, f.At)
		p.upto[f.Of] = at
		f = t.forks[f.Of]
	}
	return p
}

// Past is what a room has lived through. A nil one is of whoever may know everything.
type Past struct {
	tree *Tree
	room string
	root string
	upto map[string]uint64 // seq up to which it has, by room
}

// Lived says whether what was said in a room may be known here, seq being the newest entry that it
// rests on, 0 where nobody knows which: that is so in the room itself alone. It is so of all that was said in other families.
func (p *Past) Lived(room string, seq uint64) bool {
	if p == nil || room == "" || p.tree.alone(room) {
		return true
	}
	if upto, ok := p.upto[room]; ok {
		return room == p.room || seq != 0 && seq <= upto
	}
	return p.tree.root(room) != p.root
}

// Own says whether a room is this one, or one of those before it.
func (p *Past) Own(room string) bool {
	if p == nil {
		return false
	}
	_, ok := p.upto[room]
	return ok && room != ""
}
