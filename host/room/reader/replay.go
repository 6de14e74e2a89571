package reader

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/replay"
)

// Replayed is what a replay found.
type Replayed struct {
	Derived int                // entries that were made again and compared, byte for byte
	Folded  int                // entries that were only folded: of other versions of the rules, or with an input taken out
	Erased  []uint64           // seqs of entries that lost words on somebody's word; they were only folded
	Diff    *replay.Difference // the first difference, nil for none
}

// Replay runs a room's inputs through the rules again and compares what they make.
// A room whose beginning was trimmed is replayed from its snapshot.
func Replay(ctx context.Context, j journal.Journal, name string) (Replayed, error) {
	begin, err := Begin(ctx, j, name)
	if err != nil {
		return Replayed{}, err
	}
	p := replay.NewPlayer(begin)
	found := func(diff *replay.Difference) Replayed { return Replayed{p.Derived, p.Folded, p.Erased, diff} }
	var group []entry.Entry // an input, and what followed from it
	for e, err := range journal.AllEntries(ctx, j, name, begin.Head) {
		if err != nil {
			return Replayed{}, fmt.Errorf("read room: %w", err)
		}
		if e.Kind.IsInput() && len(group) > 0 {
			if diff, err := p.Group(group); diff != nil || err != nil {
				return found(diff), err
			}
			group = group[:0]
		}
		group = append(group, e)
	}
	diff, err := p.Group(group)
	return found(diff), err
}

// Begin gives the state before the first entry that a room's journal still has.
func Begin(ctx context.Context, j journal.Journal, name string) (*fold.State, error) {
	first, err := j.Read(ctx, name, 0, 1)
	if err != nil {
		return nil, fmt.Errorf("read room: %w", err)
	}
	if len(first) == 1 && first[0].Seq > 1 {
		return snapshotOf(ctx, j, name)
	}
	return fold.New(), nil
}

// snapshotOf gives the state of a room's snapshot.
func snapshotOf(ctx context.Context, j journal.Journal, name string) (*fold.State, error) {
	_, blob, err := j.GetSnapshot(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return fold.Decode(blob)
}

// Fold gives a room's state from its snapshot and the entries after it.
func Fold(ctx context.Context, j journal.Journal, name string) (st *fold.State, from uint64, err error) {
	st = fold.New()
	seq, blob, err := j.GetSnapshot(ctx, name)
	if err != nil {
		return nil, 0, fmt.Errorf("read snapshot: %w", err)
	}
	if seq > 0 {
		if old, err := fold.Decode(blob); err == nil && old.Head == seq {
			st, from = old, seq
		}
	}
	if err := counted(ctx, j, name, st); err != nil {
		return nil, 0, err
	}
	return st, from, CatchUp(ctx, j, name, st)
}

// CatchUp applies the entries that a state has not seen.
func CatchUp(ctx context.Context, j journal.Journal, name string, st *fold.State) error {
	for e, err := range journal.AllEntries(ctx, j, name, st.Head) {
		if err != nil {
			return fmt.Errorf("read room: %w", err)
		}
		if err := st.Apply(e); err != nil { // it is no JSON of its kind: an unknown kind is no error
			return fmt.Errorf("%w: %v", journal.ErrCorrupt, err)
		}
	}
	return nil
}

// Keep keeps a state as a room's snapshot.
func Keep(ctx context.Context, j journal.Snapshots, name string, st *fold.State) error {
	blob, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	return j.PutSnapshot(ctx, name, st.Head, blob)
}
