package branch

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// Lost says, in words, what a database has lost since a mark was set.
func Lost(r *store.Store, m statedir.Mark) (string, error) {
	if m.Room == "" {
		return backFrom(r, m.Rooms)
	}
	var id int64
	var head, trimmed uint64
	var sum []byte
	err := r.Row(context.Background(), `SELECT id, head, trimmed FROM rooms WHERE name = ?`, []any{m.Room}, &id, &head, &trimmed)
	if err == nil {
		sum, err = Sum(context.Background(), r, id, m.Seq)
	}
	switch {
	case store.Present(err) != nil:
		return "", err
	case head < m.Seq:
		return fmt.Sprintf("room %q has lost entry %d, and ends at %d", m.Room, m.Seq, head), nil
	case trimmed < m.Seq && !bytes.Equal(sum, m.Sum):
		return fmt.Sprintf("entry %d of room %q is another", m.Seq, m.Room), nil
	}
	return "", nil
}

// backFrom is Lost for a mark of before, which had every room's head.
func backFrom(r *store.Store, was map[string]journal.Head) (string, error) {
	var back []string
	for _, room := range slices.Sorted(maps.Keys(was)) {
		var is journal.Head
		err := r.Row(context.Background(), `SELECT head, epoch FROM rooms WHERE name = ?`, []any{room}, &is.Seq, &is.Epoch)
		if store.Present(err) != nil {
			return "", err
		}
		if was := was[room]; is.Seq < was.Seq || is.Epoch < was.Epoch {
			back = append(back, fmt.Sprintf("%q from %d to %d", room, was.Seq, is.Seq))
		}
	}
	if n := len(back); n > 0 {
		return fmt.Sprintf("%d rooms went back (%s)", n, strings.Join(back[:min(n, 8)], ", ")), nil
	}
	return "", nil
}
