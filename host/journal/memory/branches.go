package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// snapshot is a room's state as of seq.
type snapshot struct {
	seq   uint64
	state []byte
}

// Fork implements journal.Branches. The entries of before are the same for both.
func (j *Journal) Fork(ctx context.Context, name string, f journal.Fork, l journal.Listing, news ...journal.New) (h journal.Head, err error) {
	if err := journal.CheckRoom(name); err != nil {
		return h, err
	}
	if err := journal.Check(news); err != nil {
		return h, err
	}
	err = j.on(ctx, "fork room", f.Of, func(of *room) error {
		if err := j.forkable(name, of, f, news); err != nil {
			return err
		}
		if err := j.list(name, l); err != nil {
			return err
		}
		r := j.room(name)
		r.Fork, r.depth, r.trimmed = f, of.depth+1, of.trimmed
		r.Head, r.Owner, r.Swept = journal.Head{Seq: f.At, Epoch: of.Head.Epoch}, of.Owner, min(of.Swept, f.At)
		r.entries = slices.Clone(of.entries[:of.behind(f.At)])
		for _, e := range r.entries {
			if r.ids[e.ID] = e.Seq; e.Kind == entry.KindSaid {
				r.said = append(r.said, e.Seq)
			}
		}
		for _, n := range news {
			j.add(r, n)
		}
		j.kv.forked(name, f.Of, f.At)
		h = r.Head
		j.wake(name)
		return nil
	})
	return h, err
}

// forkable says why a room cannot be forked of another.
func (j *Journal) forkable(name string, of *room, f journal.Fork, news []journal.New) error {
	switch {
	case j.rooms[name] != nil:
		return fmt.Errorf("%w: room %q is there already", journal.ErrConflict, name)
	case j.rooms[f.Of] == nil:
		return abi.Field("of", abi.CodeNotFound, "there is no room %q", f.Of)
	case f.At == 0 || f.At > of.Head.Seq || f.At <= of.trimmed:
		return abi.Field("at", abi.CodeNotFound, "room %q has entries %d to %d, not %d", f.Of, of.trimmed+1, of.Head.Seq, f.At)
	case of.depth >= journal.MaxDepth:
		return abi.Field("of", abi.CodeExhausted, "room %q is %d forks deep already, which is the most", f.Of, of.depth)
	}
	ids := map[string]bool{}
	for _, n := range news {
		if ids[n.ID] || of.ids[n.ID] > 0 && of.ids[n.ID] <= f.At {
			return fmt.Errorf("%w: id %q is there already", journal.ErrConflict, n.ID)
		}
		ids[n.ID] = true
	}
	return nil
}

// Forks implements journal.Branches.
func (j *Journal) Forks(ctx context.Context, name string) ([]journal.Room, error) {
	all, err := j.Rooms(ctx, "", len(j.names()))
	return slices.DeleteFunc(all, func(r journal.Room) bool { return name == "" || r.Fork.Of != name }), err
}

func (j *Journal) names() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(maps.Keys(j.rooms))
}

// sharer gives a room that has entries of r's own, up to a seq, in common with it, the empty name for none.
func (j *Journal) sharer(r *room, upTo uint64) string {
	for _, name := range slices.Sorted(maps.Keys(j.rooms)) {
		if name == r.Name {
			continue
		}
		for _, e := range j.rooms[name].entries {
			if e.Seq > r.Fork.At && e.Seq > r.trimmed && e.Seq <= upTo && e.Seq <= r.Head.Seq && r.get(e.Seq) == e {
				return name
			}
		}
	}
	return ""
}

// PutSnapshot implements journal.Snapshots.
func (j *Journal) PutSnapshot(ctx context.Context, name string, seq uint64, state []byte) error {
	return j.on(ctx, "put snapshot", name, func(r *room) error {
		if j.rooms[name] == nil || seq > r.Head.Seq {
			return fmt.Errorf("%w: room has no entry %d yet", journal.ErrConflict, seq)
		}
		if n := len(r.snaps); n == 0 || seq >= r.snaps[n-1].seq {
			r.thin(seq)
			r.snaps = append(r.snaps, snapshot{seq, append([]byte{}, state...)}) // not nil: there is one
		}
		return nil
	})
}

// thin forgets the newest snapshot where it is not needed beside one of seq.
func (r *room) thin(seq uint64) {
	n := len(r.snaps)
	if n == 0 {
		return
	}
	before, known := r.Fork.At, r.trimmed <= r.Fork.At
	if n > 1 {
		before, known = r.snaps[n-2].seq, true
	}
	if r.snaps[n-1].seq == seq || known && seq-min(seq, before) <= journal.Apart {
		r.snaps = r.snaps[:n-1]
	}
}

// GetSnapshot implements journal.Snapshots.
func (j *Journal) GetSnapshot(ctx context.Context, name string) (seq uint64, state []byte, err error) {
	err = j.on(ctx, "get snapshot", name, func(r *room) error {
		if n := len(r.snaps); n > 0 {
			seq, state = r.snaps[n-1].seq, slices.Clone(r.snaps[n-1].state)
		} else {
			seq, state = j.newest(r, r.Head.Seq, r.trimmed)
		}
		return nil
	})
	return seq, state, err
}

// SnapshotAt implements journal.Branches.
func (j *Journal) SnapshotAt(ctx context.Context, name string, at uint64) (seq uint64, state []byte, err error) {
	err = j.on(ctx, "get snapshot", name, func(r *room) error {
		seq, state = j.newest(r, at, r.trimmed)
		return nil
	})
	return seq, state, err
}

// newest gives the newest snapshot of a room, or of its past, at or before an entry, but not before another.
func (j *Journal) newest(r *room, at, from uint64) (seq uint64, state []byte) {
	for ; r != nil; at, r = min(at, r.Fork.At), j.rooms[r.Fork.Of] {
		for _, s := range r.snaps {
			if s.seq <= at && s.seq >= from && (s.seq > seq || state == nil) {
				seq, state = s.seq, slices.Clone(s.state)
			}
		}
	}
	return seq, state
}
