package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/branch"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// A follower that is behind gets so many entries at once, and no more when their bodies
// come to so many bytes: there may be hundreds of followers, and each has its own.
const (
	batch      = 256
	batchBytes = 128 << 10
)

// Follow implements journal.Journal. A wake-up only says "look again": what a
// follower gets is always what comes right after its last entry, so that nothing
// is missed and nothing comes twice.
func (j *Journal) Follow(ctx context.Context, room string, after uint64, fn func([]entry.Entry) error) error {
	f, leave := j.desk.Join(room)
	defer leave()
	var look <-chan time.Time
	if j.tune.poll > 0 {
		t := time.NewTicker(j.tune.poll)
		defer t.Stop()
		look = t.C
	}
	for {
		es, ok := f.Take(after)
		more := false
		if !ok {
			var err error
			if es, more, err = j.next(ctx, room, after); err != nil {
				return err
			}
		}
		if len(es) > 0 {
			if err := fn(es); err != nil {
				return err
			}
			after = es[len(es)-1].Seq
			if more {
				continue
			}
		}
		select {
		case <-f.Woken():
		case <-look:
		case <-ctx.Done():
			return ctx.Err()
		case <-j.quit:
			return fmt.Errorf("follow room: %w: closed", journal.ErrUnavailable)
		}
	}
}

// next reads a batch; more says that there may be more behind it.
func (j *Journal) next(ctx context.Context, room string, after uint64) (es []entry.Entry, more bool, err error) {
	err = j.reading(ctx, "follow room", func(r *store.Store) error {
		size := 0
		err := branch.Read(ctx, r, room, after, batch, func(e entry.Entry) error {
			es = append(es, e)
			if size += len(e.Body); size >= batchBytes {
				return errEnough
			}
			return nil
		})
		if more = err == errEnough || len(es) == batch; err == errEnough {
			return nil
		}
		return err
	})
	return es, more, err
}

var errEnough = errors.New("enough for now")

// added gives the entries of a request that was stored.
func (r *request) added() []entry.Entry {
	es := make([]entry.Entry, len(r.news))
	for i, m := range r.news {
		es[i] = entry.Entry{
			Seq: r.head.Seq - uint64(len(r.news)-1-i), Epoch: r.head.Epoch, At: time.UnixMilli(m.At.UnixMilli()).UTC(), Kind: m.Kind, ID: m.ID, V: m.V, Body: m.Body,
		}
	}
	return es
}
