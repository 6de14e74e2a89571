package retention

import (
	"context"
	"slices"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// share learns what the forks of a room need of its entries up to one, theirs included: what comes after the
// snapshot from which they are folded, until they have one behind where they parted.
func (b *broom) share(ctx context.Context, j journal.Journal, room string, upTo uint64) error {
	forks, err := j.Forks(ctx, room)
	if err != nil {
		return err
	}
	for _, f := range forks {
		parted := min(f.Fork.At, upTo)
		from, _, err := j.GetSnapshot(ctx, f.Name)
		if err != nil {
			return err
		}
		if from < parted {
			b.needed = min(b.needed, from)
		}
		b.parted = append(b.parted, f.Fork.At)
		if err := b.share(ctx, j, f.Name, parted); err != nil {
			return err
		}
	}
	return nil
}

// part leaves the perceptions alone that were open where a fork parted: they may have led to something there.
func (b *broom) part(e entry.Entry) {
	if slices.Contains(b.parted, e.Seq) {
		b.perceived = nil
	}
}
