package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/lineage"
	"github.com/companiond/companiond/host/memory/near"
	"github.com/companiond/companiond/host/memory/recall"
)

// unused is after how long a table that nobody asks is let go of.
const unused = 10 * time.Minute

// book is the memory of one companion: its stream, and the table of that while it is used.
type book struct {
	stream stream

	mu    sync.Mutex // guards what follows, and the stream
	table *fact.Table
	index *recall.Index // by words
	near  *near.Index   // by vectors
	tree  *lineage.Tree // of the first rooms of the table
	known int           // how many these are
	used  time.Time
}

// with does something with a companion's memory, alone.
func (k *Keeper) with(ctx context.Context, companion string, do func(*book) error) error {
	k.mu.Lock()
	b := k.books[companion]
	if b == nil {
		b = &book{stream: k.stream(journal.MemoryOf(companion))}
		k.books[companion] = b
	}
	k.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return journal.Coded(err)
	}
	b.used = time.Now()
	if err := do(b); err != nil {
		return journal.Coded(err)
	}
	k.lackOf(companion, b)
	return nil
}

func (k *Keeper) stream(name string) stream {
	return stream{journal: k.cfg.Journal, name: name, owner: k.cfg.Owner, newID: k.cfg.NewID}
}

// load makes the table, unless it is there. What was erased while the daemon was ended before
// the words were taken out is finished.
func (b *book) load(ctx context.Context) error {
	if b.table != nil {
		return nil
	}
	t := fact.NewTable(0)
	for e, err := range journal.AllEntries(ctx, b.stream.journal, b.stream.name, 0) {
		if err == nil {
			_, err = t.Apply(e)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", b.stream.name, err)
		}
	}
	if err := b.takeOut(ctx, t.Blank()); err != nil {
		return err
	}
	b.table, b.index, b.near = t, recall.NewIndex(t), near.NewIndex(t)
	b.tree, b.known = lineage.NewTree(), 0
	return nil
}

// past gives what a room has lived through of what is remembered.
func (b *book) past(ctx context.Context, room string) (*lineage.Past, error) {
	forkOf := func(room string) (lineage.Fork, bool, error) {
		row, there, err := b.stream.journal.Room(ctx, room)
		return lineage.Fork(row.Fork), there, err
	}
	rooms := b.table.Rooms()
	for ; b.known < len(rooms); b.known++ {
		if err := b.tree.Learn(rooms[b.known], forkOf); err != nil {
			return nil, err
		}
	}
	if err := b.tree.Learn(room, forkOf); err != nil {
		return nil, err
	}
	return b.tree.Past(room), nil
}

// drop lets go of the table; the journal has it.
func (b *book) drop() { b.table, b.index, b.near, b.tree = nil, nil, nil, nil }

// dropUnused lets go of the tables that nobody asked for a while.
func (k *Keeper) dropUnused(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.books {
		if b.mu.TryLock() { // else it is used
			if now.Sub(b.used) >= unused {
				b.drop()
			}
			b.mu.Unlock()
		}
	}
}

// pen writes into a book: what is put is in the table at once, and in the stream together at
// the end.
type pen struct {
	*batch
	book *book
}

// put takes in changes that the table made.
func (p pen) put(changes ...fact.Change) error {
	for _, c := range changes {
		e, err := p.batch.put(c.Kind, c.Body)
		if err != nil {
			return err
		}
		changed, err := p.book.table.Apply(e)
		if err != nil {
			return err
		}
		p.book.index.Update(changed)
		p.book.near.Update(changed)
	}
	return nil
}

// write lets do put entries, and is done when all of them are durable. After an error none is,
// and the table is read again from the journal when it is next used.
func (b *book) write(ctx context.Context, do func(pen) error) error {
	w, err := b.stream.begin(ctx)
	if err != nil {
		return err
	}
	if err = do(pen{w, b}); err == nil {
		err = w.write(ctx)
	}
	if err != nil {
		if len(w.entries) > 0 {
			b.drop()
		}
		return err
	}
	blank := b.table.Blank()
	if !slices.ContainsFunc(w.entries, func(e entry.Entry) bool { return e.Kind == entry.KindErased }) {
		// Only vectors of before: where they cannot be taken out now they are with the next.
		if b.takeOut(ctx, blank) == nil {
			b.table.Blanked(blank)
		}
		return nil
	}
	// It is read from what is left, as after a restart.
	b.drop()
	return b.takeOut(ctx, blank)
}

// takeOut takes the words of what was erased out of the stream.
func (b *book) takeOut(ctx context.Context, seqs []uint64) error {
	if len(seqs) == 0 {
		return nil
	}
	bodies := map[uint64][]byte{}
	for _, seq := range seqs {
		bodies[seq] = nil
	}
	out := func(ctx context.Context) error { return b.stream.journal.Blank(ctx, b.stream.name, 0, bodies) }
	if j, ok := b.stream.journal.(journal.Eraser); ok { // also of what lost a name before
		out = func(ctx context.Context) error { return j.Erase(ctx, b.stream.name, bodies) }
	}
	if err := out(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("take words out of %s: %w", b.stream.name, err)
	}
	return nil
}
