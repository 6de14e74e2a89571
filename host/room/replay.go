package room

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/rules"
)

// Replayed is what a replay found.
type Replayed struct {
	Derived int               // entries that were made again and compared, byte for byte
	Folded  int               // entries that were only folded: of other versions of the rules, or with an input taken out
	Diff    *rules.Difference // the first difference, nil for none
}

// Replay runs a room's inputs through the rules again and compares what they make.
// A room whose beginning was trimmed is replayed from its snapshot.
func Replay(ctx context.Context, j journal.Journal, name string) (Replayed, error) {
	begin := rules.New()
	if first, err := j.Read(ctx, name, 0, 1); err != nil {
		return Replayed{}, fmt.Errorf("read room: %w", err)
	} else if len(first) == 1 && first[0].Seq > 1 {
		if begin, err = snapshotOf(ctx, j, name); err != nil {
			return Replayed{}, err
		}
	}
	p, at := rules.NewPlayer(begin), begin.Head
	for {
		entries, err := j.Read(ctx, name, at, readChunk)
		if err != nil {
			return Replayed{}, fmt.Errorf("read room: %w", err)
		}
		for _, e := range entries {
			if diff, err := p.Play(e); diff != nil || err != nil {
				return Replayed{p.Derived, p.Folded, diff}, err
			}
			at = e.Seq
		}
		if len(entries) < readChunk {
			return Replayed{p.Derived, p.Folded, nil}, nil
		}
	}
}

// snapshotOf gives the state of a room's snapshot.
func snapshotOf(ctx context.Context, j journal.Journal, name string) (*rules.State, error) {
	_, blob, err := j.GetSnapshot(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return rules.Decode(blob)
}
