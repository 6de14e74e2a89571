// Package memory keeps a journal in the memory of the process, for tests of what
// stands on a journal and for rooms that need not last.
//
// It promises what every engine does, but for durability: all is gone with the
// process. It never writes a file.
package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// batch is how many entries a follower gets at most at once.
const batch = 256

// Journal is a journal in memory. Make one with New.
type Journal struct {
	mu     sync.Mutex
	rooms  map[string]*room
	waits  map[string]chan struct{} // by room; closed and forgotten when it grows
	health error
	kv     KV
}

var _ journal.Journal = (*Journal)(nil)

// room is what is known of one.
type room struct {
	journal.Room
	entries []*entry.Entry // from the first not trimmed; a fork has those of its past in common with others
	said    []uint64       // seqs of those that were said
	ids     map[string]uint64
	trimmed uint64
	depth   int        // how many forks lie between it and a room that is none
	snaps   []snapshot // oldest first
}

// New makes an empty journal.
func New() *Journal {
	return &Journal{rooms: map[string]*room{}, waits: map[string]chan struct{}{}}
}

// Fail makes the journal answer err to everything, as Close does with an error of
// its own; nil ends that. Followers look again.
func (j *Journal) Fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.health = err
	for name := range j.waits {
		j.wake(name)
	}
}

// room gives a room, made if it is not there.
func (j *Journal) room(name string) *room {
	r := j.rooms[name]
	if r == nil {
		r = &room{Room: journal.Room{Name: name}, ids: map[string]uint64{}}
		j.rooms[name] = r
	}
	return r
}

// on runs f with the room of a name; one that is not there is an empty one that is
// forgotten.
func (j *Journal) on(ctx context.Context, what, name string, f func(r *room) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := cmp.Or(ctx.Err(), j.health)
	if err == nil {
		r := j.rooms[name]
		if r == nil {
			r = new(room)
		}
		err = f(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Acquire implements journal.Log.
func (j *Journal) Acquire(ctx context.Context, name, owner string, at time.Time) (h journal.Head, err error) {
	if err := journal.CheckRoom(name); err != nil {
		return h, err
	}
	body, err := json.Marshal(entry.Owner{Owner: owner})
	if err != nil {
		return h, fmt.Errorf("encode owner: %w", err)
	}
	err = j.on(ctx, "acquire room", name, func(*room) error {
		r := j.room(name)
		r.Head.Epoch++
		r.Owner = owner
		j.add(r, journal.New{ID: fmt.Sprintf("%s%d", journal.OwnerID, r.Head.Epoch), Kind: entry.KindOwner, At: at, Body: body})
		h = r.Head
		return nil
	})
	return h, err
}

// Append implements journal.Log.
func (j *Journal) Append(ctx context.Context, name string, h journal.Head, news ...journal.New) (journal.Head, error) {
	if err := journal.Check(news); err != nil {
		return h, err
	}
	err := j.on(ctx, "append to room", name, func(r *room) error {
		if err := r.at(h); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, n := range news {
			if _, there := r.ids[n.ID]; there || seen[n.ID] {
				return fmt.Errorf("%w: id %q is there already", journal.ErrConflict, n.ID)
			}
			seen[n.ID] = true
		}
		for _, n := range news {
			j.add(r, n)
		}
		h = r.Head
		return nil
	})
	return h, err
}

// at refuses a head that is not the room's.
func (r *room) at(h journal.Head) error {
	switch {
	case r.Head.Epoch > h.Epoch:
		return fmt.Errorf("%w: epoch is %d, not %d", journal.ErrFenced, r.Head.Epoch, h.Epoch)
	case r.Head != h || h.Epoch == 0:
		return fmt.Errorf("%w: head is %d, not %d", journal.ErrConflict, r.Head.Seq, h.Seq)
	}
	return nil
}

func (j *Journal) add(r *room, n journal.New) {
	r.Head.Seq++
	v := n.V
	if v == 0 {
		v = n.Kind.Version()
	}
	r.entries = append(r.entries, &entry.Entry{
		Seq: r.Head.Seq, Epoch: r.Head.Epoch, At: time.UnixMilli(n.At.UnixMilli()).UTC(), Kind: n.Kind, ID: n.ID, V: v, Body: slices.Clone(n.Body),
	})
	if n.Kind == entry.KindSaid {
		r.said = append(r.said, r.Head.Seq)
	}
	r.ids[n.ID], r.Awake = r.Head.Seq, true
	j.wake(r.Name)
}

// wake tells the followers of a room to look again.
func (j *Journal) wake(name string) {
	if grew := j.waits[name]; grew != nil {
		close(grew)
		delete(j.waits, name)
	}
}

// behind gives the place of the first entry with Seq > after.
func (r *room) behind(after uint64) int {
	i, _ := slices.BinarySearchFunc(r.entries, after, func(e *entry.Entry, seq uint64) int {
		if e.Seq <= seq {
			return -1
		}
		return 1
	})
	return i
}

// get gives the entry with a seq that is there.
func (r *room) get(seq uint64) *entry.Entry { return r.entries[r.behind(seq-1)] }

// after gives up to limit entries with Seq > seq.
func (r *room) after(seq uint64, limit int) (es []entry.Entry) {
	there := r.entries[r.behind(seq):]
	for _, e := range there[:min(len(there), max(limit, 0))] {
		es = append(es, *e)
	}
	return es
}

// Read implements journal.Log.
func (j *Journal) Read(ctx context.Context, name string, after uint64, limit int) (es []entry.Entry, err error) {
	err = j.on(ctx, "read room", name, func(r *room) error {
		es = r.after(after, limit)
		return nil
	})
	return es, err
}

// Said implements journal.Log.
func (j *Journal) Said(ctx context.Context, name string, s journal.Span) (es []entry.Entry, err error) {
	err = j.on(ctx, "read what was said", name, func(r *room) error {
		from, found := slices.BinarySearch(r.said, s.After)
		if found {
			from++
		}
		to := len(r.said)
		if s.Before > 0 {
			to, _ = slices.BinarySearch(r.said, s.Before)
		}
		seqs := r.said[from:max(from, to)]
		if most := max(s.Limit, 0); len(seqs) > most && s.Newest {
			seqs = seqs[len(seqs)-most:]
		} else if len(seqs) > most {
			seqs = seqs[:most]
		}
		for _, seq := range seqs {
			es = append(es, *r.get(seq))
		}
		return nil
	})
	return es, err
}

// Find implements journal.Log.
func (j *Journal) Find(ctx context.Context, name, id string) (e entry.Entry, ok bool, err error) {
	err = j.on(ctx, "find entry", name, func(r *room) error {
		if ok = r.ids[id] > 0; ok {
			e = *r.get(r.ids[id])
		}
		return nil
	})
	return e, ok, err
}

// Follow implements journal.Log.
func (j *Journal) Follow(ctx context.Context, name string, after uint64, fn func([]entry.Entry) error) error {
	for {
		var es []entry.Entry
		var grew chan struct{}
		err := j.on(ctx, "follow room", name, func(r *room) error {
			if es = r.after(after, batch); len(es) == 0 && j.waits[name] == nil {
				j.waits[name] = make(chan struct{})
			}
			grew = j.waits[name]
			return nil
		})
		if err != nil {
			return err
		}
		if len(es) > 0 {
			if err := fn(es); err != nil {
				return err
			}
			after = es[len(es)-1].Seq
			continue
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// where gives the rooms that fit, by name.
func (j *Journal) where(ctx context.Context, after string, limit int, fits func(*room) bool) (rs []journal.Room, err error) {
	err = j.on(ctx, "list rooms", "", func(*room) error {
		for _, name := range slices.Sorted(maps.Keys(j.rooms)) {
			if r := j.rooms[name]; name > after && len(rs) < limit && fits(r) {
				rs = append(rs, r.Room)
			}
		}
		return nil
	})
	return rs, err
}

// Room implements journal.Index.
func (j *Journal) Room(ctx context.Context, name string) (journal.Room, bool, error) {
	rs, err := j.where(ctx, "", 1, func(r *room) bool { return r.Name == name })
	if err != nil || len(rs) == 0 {
		return journal.Room{}, false, err
	}
	return rs[0], true, nil
}

// Rooms implements journal.Index.
func (j *Journal) Rooms(ctx context.Context, after string, limit int) ([]journal.Room, error) {
	return j.where(ctx, after, limit, func(*room) bool { return true })
}

// Waking implements journal.Index.
func (j *Journal) Waking(ctx context.Context, by time.Time, after string, limit int) ([]journal.Room, error) {
	return j.where(ctx, after, limit, func(r *room) bool { return r.Awake || !r.Due.IsZero() && !r.Due.After(by) })
}

// NextDue implements journal.Index.
func (j *Journal) NextDue(ctx context.Context) (next time.Time, err error) {
	rs, err := j.where(ctx, "", math.MaxInt, func(r *room) bool { return !r.Awake && !r.Due.IsZero() })
	for _, r := range rs {
		if next.IsZero() || r.Due.Before(next) {
			next = r.Due
		}
	}
	return next, err
}

// Rest implements journal.Index.
func (j *Journal) Rest(ctx context.Context, name string, h journal.Head, due time.Time) error {
	return j.on(ctx, "rest room", name, func(r *room) error {
		if err := r.at(h); err != nil {
			return err
		}
		r.Awake, r.Due = false, time.Time{}
		if !due.IsZero() {
			r.Due = time.UnixMilli(due.UnixMilli()).UTC()
		}
		return nil
	})
}

// Register implements journal.Index.
func (j *Journal) Register(ctx context.Context, name string, l journal.Listing) error {
	if err := journal.CheckRoom(name); err != nil {
		return err
	}
	return j.on(ctx, "register room", name, func(*room) error {
		return j.list(name, l)
	})
}

// list registers a room, unless its key is another's.
func (j *Journal) list(name string, l journal.Listing) error {
	for _, r := range j.rooms {
		if r.Name != name && l.Key != "" && r.Key == l.Key {
			return fmt.Errorf("%w: another room has the key of %q", journal.ErrConflict, name)
		}
	}
	l.Settings = slices.Clone(l.Settings)
	j.room(name).Listing = l
	return nil
}

// Registered implements journal.Index.
func (j *Journal) Registered(ctx context.Context, by string) (int, error) {
	rs, err := j.where(ctx, "", math.MaxInt, func(r *room) bool { return by != "" && r.By == by && !r.Archived })
	return len(rs), err
}

// Blank implements journal.Admin.
func (j *Journal) Blank(ctx context.Context, name string, upTo uint64, bodies map[uint64][]byte) error {
	return j.on(ctx, "blank entries", name, func(r *room) error {
		r.Swept = max(r.Swept, upTo)
		for _, e := range r.entries {
			body, asked := bodies[e.Seq]
			if !asked || e.Blank {
				continue
			}
			if e.Body, e.Blank = slices.Clone(body), true; body == nil {
				e.Body = []byte("null")
			}
		}
		return nil
	})
}

// Trim implements journal.Admin.
func (j *Journal) Trim(ctx context.Context, name string, upTo uint64) error {
	return j.on(ctx, "trim room", name, func(r *room) error {
		if n := len(r.snaps); n == 0 || r.snaps[n-1].seq < upTo {
			return fmt.Errorf("%w: no snapshot at or after %d", journal.ErrConflict, upTo)
		}
		if fork := j.sharer(r, upTo); fork != "" {
			return fmt.Errorf("%w: room %q was forked of it and has entries up to %d in common", journal.ErrConflict, fork, upTo)
		}
		r.trimmed = max(r.trimmed, upTo)
		r.snaps = slices.DeleteFunc(r.snaps, func(s snapshot) bool { return s.seq < upTo })
		end := r.behind(upTo)
		for _, e := range r.entries[:end] {
			delete(r.ids, e.ID)
		}
		r.entries = slices.Clone(r.entries[end:])
		r.said = slices.DeleteFunc(slices.Clone(r.said), func(seq uint64) bool { return seq <= upTo })
		return nil
	})
}

// Verify implements journal.Admin. Nothing changes memory behind our back.
func (j *Journal) Verify(ctx context.Context, name string, _ uint64) (bad uint64, err error) {
	return 0, j.on(ctx, "verify room", name, func(*room) error { return nil })
}

// Health implements journal.Admin.
func (j *Journal) Health() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.health
}

// Close implements journal.Admin.
func (j *Journal) Close() error {
	j.Fail(fmt.Errorf("%w: closed", journal.ErrUnavailable))
	return nil
}
