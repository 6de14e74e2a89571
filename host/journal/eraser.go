package journal

import "context"

// Eraser is what an engine has that can take words out for good, because a person wants it.
type Eraser interface {
	// Erase takes the bodies out of entries, as Blank does, and leaves what bodies has in their
	// place; of one that is blank already it takes out what was left, unless that is nothing.
	Erase(ctx context.Context, room string, bodies map[uint64][]byte) error
	// DropSnapshots forgets the snapshots of a room itself that are of an entry or newer, but for the newest.
	// Whoever takes words out of entries puts a new one before, of what is left.
	DropSnapshots(ctx context.Context, room string, from uint64) error
	// Pairs calls f with all that is in the stores of characters, and of the house: in that which rooms share and in those of
	// forks, first what stands there now, by companion and key in each, then what stood there before. f must not write there.
	Pairs(ctx context.Context, f func(Pair) error) error
	// ErasePairs takes out values of some pairs wherever their stores have them, now and before; under its key there is
	// nothing then in the place of each. With whole it takes out the keys, with all that they hold and held in any
	// store.
	ErasePairs(ctx context.Context, pairs []Pair, whole bool) error
	// Purge sees to it that what was taken out stands nowhere in the engine's files any more. With anew
	// also where the files were made elsewhere; all writing waits for that. It is
	// ErrUnavailable while somebody else reads there.
	Purge(ctx context.Context, anew bool) error
	// Copies gives what lies beside the engine's files and is a copy of them: of before a migration, of
	// damaged ones. DeleteCopies deletes them.
	Copies() ([]string, error)
	DeleteCopies(copies []string) error
	// SetErased says that all orders of the ledger up to one are done here; Erased gives that
	// one, empty for none. An older journal that is put in place knows an older one.
	SetErased(ctx context.Context, order string) error
	Erased(ctx context.Context) (order string, err error)
}

// House begins the names under which the house keeps keys of its own among those of companions. No companion is called
// like that.
const House = ":"

// Pair is a key of a companion's store and what it holds, or held; of one that was deleted the value is empty.
type Pair struct {
	Companion, Key, Value string
	Fork                  string // the room whose store it is, "" for that which all share that are no forks
	Past                  bool   // it held this before
}
