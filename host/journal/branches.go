package journal

import "context"

// MaxDepth is how many times a fork may be forked in turn.
const MaxDepth = 64

// Apart is how many entries lie at most between two snapshots of a room that are kept, where they were put as often.
const Apart = 1000

// Branches are rooms that begin with entries of another room, which both share and neither can
// change. What a room is forked of, and where, stands in its row of the index ([Room.Fork]).
type Branches interface {
	// Fork makes a room that shares the entries of another up to f.At, registers it, and appends
	// entries to it, all in one, or nothing at all. It is durable when Fork returns nil, and costs
	// the same however long the other room is. The epochs of the new room go on from the other's.
	//
	// # Errors
	//
	// ErrConflict where the room is there already, its key is another's, or an id of an entry is there. An *abi.Error with
	// CodeNotFound where the other room, or the entry f.At, is not there (any more), with CodeExhausted where it would be
	// deeper than MaxDepth. In an error the field is "of", "at" or "room".
	Fork(ctx context.Context, room string, f Fork, l Listing, entries ...New) (Head, error)
	// Forks gives the rows of rooms that were forked of a room itself, by name.
	Forks(ctx context.Context, room string) ([]Room, error)
	// SnapshotAt gives the newest snapshot at or before an entry, 0, nil, nil for none: of those that were put some
	// are kept, one in every Apart entries, also those of the room's past before it was forked. None is from
	// before what was trimmed.
	SnapshotAt(ctx context.Context, room string, at uint64) (seq uint64, state []byte, err error)
}

// Fork is where a room left another.
type Fork struct {
	Of string // the other room
	At uint64 // seq of the newest entry that both have
}

// Stores gives the stores of characters as they are in a room.
type Stores interface {
	// KVIn gives the stores in a room, which need not be there yet. In a room that is no fork they are those that all rooms share. In
	// a fork they are apart: they begin with what stood there when the room was forked, without
	// what was written in the room that it was forked of behind the entry where they parted; what is written in one is not seen in the other.
	// Of a key that was written there very often since, a fork of long ago may begin with something older than what stood at its place.
	KVIn(room string) KV
	// KVForget takes what a key held before in a room's store out for good, of which forks might know. What it holds now stays.
	KVForget(ctx context.Context, room, companion, key string) error
}
