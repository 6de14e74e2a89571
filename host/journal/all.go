package journal

import (
	"context"
	"iter"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// page is how many rows or entries are read at a time.
const page = 500

// AllEntries gives the entries of a room with Seq > after, in order, page by page. An
// error is the last that it gives.
func AllEntries(ctx context.Context, j Log, room string, after uint64) iter.Seq2[entry.Entry, error] {
	read := func(after uint64) ([]entry.Entry, error) { return j.Read(ctx, room, after, page) }
	return all(after, read, func(e entry.Entry) uint64 { return e.Seq })
}

// AllRooms gives the rows of all rooms, by name, as AllEntries gives entries.
func AllRooms(ctx context.Context, j Index) iter.Seq2[Room, error] {
	return all(AfterStreams, func(after string) ([]Room, error) { return j.Rooms(ctx, after, page) }, nameOf)
}

// AllWaking gives the rows of all rooms that are to be looked at, as Waking does.
func AllWaking(ctx context.Context, j Index, by time.Time) iter.Seq2[Room, error] {
	return all(AfterStreams, func(after string) ([]Room, error) { return j.Waking(ctx, by, after, page) }, nameOf)
}

func nameOf(r Room) string { return r.Name }

func all[T, K any](after K, read func(after K) ([]T, error), key func(T) K) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			got, err := read(after)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, t := range got {
				if after = key(t); !yield(t, nil) {
					return
				}
			}
			if len(got) < page {
				return
			}
		}
	}
}
