package room

import (
	"context"
	"fmt"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/rules"
)

// Replay runs a room's inputs through the rules again and compares every
// entry, byte for byte. It answers how many entries it compared and the first
// difference, nil when there is none. A room whose beginning was trimmed is
// replayed from its snapshot.
func Replay(ctx context.Context, j journal.Journal, name string) (n int, diff *rules.Difference, err error) {
	begin := rules.New()
	if first, err := j.Read(ctx, name, 0, 1); err != nil {
		return 0, nil, fmt.Errorf("read room: %w", err)
	} else if len(first) == 1 && first[0].Seq > 1 {
		if begin, err = snapshotOf(ctx, j, name); err != nil {
			return 0, nil, err
		}
	}
	p, at := rules.NewPlayer(begin), begin.Head
	for {
		entries, err := j.Read(ctx, name, at, readChunk)
		if err != nil {
			return n, nil, fmt.Errorf("read room: %w", err)
		}
		for _, e := range entries {
			if diff, err := p.Play(e); diff != nil || err != nil {
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

// snapshotOf gives the state of a room's snapshot.
func snapshotOf(ctx context.Context, j journal.Journal, name string) (*rules.State, error) {
	_, blob, err := j.GetSnapshot(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return rules.Decode(blob)
}
