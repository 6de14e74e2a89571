// Package journal defines the append-only record of rooms: what an engine
// promises, the errors it may answer, and how all of it is read page by page.
//
// It never interprets an entry's body; host/room does. Engines live in
// packages named after their technology (host/journal/sqlite) and each passes
// the suite in host/journal/journaltest.
package journal

import (
	"context"
	"errors"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// The errors an engine answers; test with errors.Is.
var (
	ErrConflict    = errors.New("journal: head moved")                 // nothing was stored; read again, decide again
	ErrFenced      = errors.New("journal: a newer owner has the room") // nothing was stored; stop being the owner
	ErrUnknown     = errors.New("journal: outcome unknown")            // read again and look for the entry's id
	ErrUnavailable = errors.New("journal: not writable now")           // nothing was stored; the engine retries by itself
	ErrCorrupt     = errors.New("journal: damaged")                    // writes stop; reads go on as far as they can
	ErrLocked      = errors.New("journal: another daemon owns this state directory")
)

// OwnerID begins the ids of entries Acquire writes, "owner/7" for epoch 7.
// Append refuses ids that begin so, or a client could lock a room's next owner out.
const OwnerID = "owner/"

// Head is a room's newest sequence number and the epoch of its owner.
type Head struct{ Seq, Epoch uint64 }

// New is an entry to be appended: the engine adds Seq and Epoch. ID is the
// idempotency key, unique in the room. Body must be valid JSON.
type New struct {
	ID   string
	V    int // version of the body's shape; 0 is the newest of its kind
	Kind entry.Kind
	At   time.Time // stored in whole milliseconds, UTC
	Body []byte
}

// Journal is all that an engine is. All methods may be called from many
// goroutines. Input that breaks a rule (an empty name or id, a body that is not
// JSON) is an *abi.Error with abi.CodeInvalid.
type Journal interface {
	Log
	Index
	Snapshots
	Branches
	Admin
}

// Log is the entries of many rooms.
type Log interface {
	// Acquire makes the caller the room's owner: the epoch grows by one and an
	// entry of kind entry.KindOwner says so, which makes every older Head stale.
	// An unknown room is created.
	Acquire(ctx context.Context, room, owner string, at time.Time) (Head, error)
	// Append stores all entries or none; when it returns nil they are durable,
	// also through a power cut. h must be the room's current head. The answer
	// is the new head, or h when there is an error.
	//
	// # Errors
	//
	// ErrConflict, ErrFenced and ErrUnavailable say that nothing was stored,
	// ErrUnknown that only a read can tell. A duplicate ID is ErrConflict, also of an entry that
	// a fork shares, and so is a room that nobody acquired. When ctx ends after the entries were
	// handed over, the error is ErrUnknown and ctx's.
	Append(ctx context.Context, room string, h Head, entries ...New) (Head, error)
	// Read gives up to limit entries with Seq > after, in order; none for an
	// unknown room.
	Read(ctx context.Context, room string, after uint64, limit int) ([]entry.Entry, error)
	// Said is Read for entries of kind entry.KindSaid alone, and costs as much as
	// the entries it gives, however many others there are.
	Said(ctx context.Context, room string, s Span) ([]entry.Entry, error)
	// Find gives the entry with this id, ok false when there is none.
	Find(ctx context.Context, room, id string) (e entry.Entry, ok bool, err error)
	// Follow calls fn with batches of entries with Seq > after, first those
	// stored, then new ones as they come, in order, none missing, none twice,
	// until ctx ends, fn returns an error, or the journal cannot be read; it
	// returns that error. The room need not exist yet. Entries trimmed before
	// they were given are passed over.
	Follow(ctx context.Context, room string, after uint64, fn func([]entry.Entry) error) error
}

// Span is a part of a room: entries with After < Seq < Before, at most Limit of
// them, in order. Where there are more, they are the oldest, or with Newest the
// newest. Before 0 means no bound.
type Span struct {
	After, Before uint64
	Limit         int
	Newest        bool
}

// Index is a row for each room, so that a daemon needs neither to read a room nor
// to keep it in memory to know that nothing is to be done there.
type Index interface {
	// Room gives a room's row, ok false for one that is unknown.
	Room(ctx context.Context, name string) (r Room, ok bool, err error)
	// Rooms gives up to limit rows with Name > after, by name in byte order.
	Rooms(ctx context.Context, after string, limit int) ([]Room, error)
	// Waking gives up to limit rows of rooms that are to be looked at, with Name >
	// after: awake ones, and with a Due that is not after by. NextDue is the
	// earliest Due of rooms that are not awake, zero for none.
	Waking(ctx context.Context, by time.Time, after string, limit int) ([]Room, error)
	NextDue(ctx context.Context) (time.Time, error)
	// Rest says that the owner of a room has nothing to do there before due, zero
	// for nothing at all. Acquire and Append make it awake again. A head that is not
	// the current one is ErrConflict or ErrFenced.
	Rest(ctx context.Context, room string, h Head, due time.Time) error
	// Register makes a room that has no entries yet known, or changes what is known
	// of one besides its entries. Another room with the same key is ErrConflict.
	Register(ctx context.Context, room string, l Listing) error
	// Registered counts the rooms of somebody that are not archived.
	Registered(ctx context.Context, by string) (int, error)
}

// Room is a row of the index.
type Room struct {
	Name  string
	Head  Head
	Owner string    // of the newest Acquire
	Awake bool      // it was acquired or grew since its owner last said Rest
	Due   time.Time // when it is to be looked at, zero for never
	Swept uint64    // entries up to here were looked through for bodies to be taken out
	Fork  Fork      // where it left another room; zero for one that did not
	Listing
}

// Listing is what a room was registered with; of one that was not, it is zero.
type Listing struct {
	Key      string // what no two registered rooms have in common; empty: none
	By       string // whose it is
	Settings []byte // as the house wrote them
	Archived bool   // nobody talks there any more
}

// Snapshots keep each room's state, so that its entries need not all be read.
type Snapshots interface {
	// PutSnapshot keeps a room's state as of seq; an older one than the newest
	// of the room is ignored, one of the same seq takes its place, a seq above the room's head is
	// ErrConflict. GetSnapshot gives the newest of the room itself, of a fork
	// without one the newest of its past before it was forked, and 0, nil, nil when there is none.
	PutSnapshot(ctx context.Context, room string, seq uint64, state []byte) error
	GetSnapshot(ctx context.Context, room string) (seq uint64, state []byte, err error)
}

// Admin is what an engine is told and asked by whoever keeps it.
type Admin interface {
	// Blank takes the bodies out of entries, or puts what is to stay in their
	// place: a nil body leaves none. The bodies are gone for ever; seq, kind and
	// id stay, and so does the chain that Verify checks. Entries that are not
	// there, or are blank already, are passed over. Those that forks share are blank in
	// all of them. The row of the room alone keeps upTo as Swept, unless it was further already.
	Blank(ctx context.Context, room string, upTo uint64, bodies map[uint64][]byte) error
	// Trim forgets entries with Seq <= upTo; refused with ErrConflict unless the room has a
	// snapshot of its own at or after upTo, and while a fork shares entries of the room at or below upTo. Their ids may
	// then be used again. A fork forgets those of its past for itself alone.
	Trim(ctx context.Context, room string, upTo uint64) error
	// Verify checks the hash chain of a room's entries with Seq > after and
	// gives the seq of the first entry that does not fit, 0 when all fit.
	Verify(ctx context.Context, room string, after uint64) (bad uint64, err error)
	// Health is nil while the journal takes writes, else the reason it does not.
	Health() error
	Close() error
}

// KV is the durable store of characters, one name space each, bounded by
// abi.MaxKV*. It stands beside the journal: no room's history depends on it. Its
// errors are *abi.Error where a bound is broken.
type KV interface {
	KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error)
	KVSet(ctx context.Context, companion, key, value string) error
	KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error)
	// KVList gives keys with the prefix, in byte order, greater than after.
	KVList(ctx context.Context, companion, prefix, after string, limit int) ([]string, error)
}

// Backuper is what an engine has that can write one consistent copy of itself
// while it is in use.
type Backuper interface {
	// Backup writes the copy to a new file at path; an existing file is refused.
	Backup(ctx context.Context, path string) error
}
