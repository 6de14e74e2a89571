package memory

import (
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// This file is which talks wait to be gone through, and until when. A talk that waits is written
// down once, not for every turn; of rooms in which nobody talks nothing is known here.

// again is after how long a talk is tried again that could not be gone through.
const again = time.Minute

// compact is after how many entries of the list of talks it begins anew.
const compact = 1000

// talk is what waits in a room.
type talk struct {
	entry.Talk
	newest uint64    // seq of the newest turn of a person
	last   time.Time // of that
	turns  int       // of people that somebody heard, since it was last begun
	queued bool      // it has a place in the queue
	busy   bool      // it is being gone through
	failed time.Time // when it last could not be
}

// due is when it is to be gone through.
func (t *talk) due() time.Time {
	at := t.last.Add(Rests)
	if t.turns >= Turns {
		at = t.last
	}
	if retry := t.failed.Add(again); !t.failed.IsZero() && retry.After(at) {
		at = retry
	}
	return at
}

// turn is a talk's place in the queue: it may come up before the talk is due, never after.
type turn struct {
	at   time.Time
	room string
}

// queue has the talks by when they come up.
type queue []turn

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(t any)        { *q = append(*q, t.(turn)) }
func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	*q = old[:len(old)-1]
	return t
}

// Heard is told of what a person said in a room, and which companions were there. It does not
// wait. In a stream's chat it counts what is said to a companion.
func (k *Keeper) Heard(room string, e entry.Entry, said entry.Said, companions []string) {
	if !worth(said, companions) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.talks[room]
	begins := t == nil || !t.queued
	if t == nil {
		t = &talk{Talk: entry.Talk{Room: room, From: e.Seq, Here: companions}}
		k.talks[room] = t
		k.waiting = append(k.waiting, room)
	}
	t.newest, t.last = e.Seq, time.Now()
	if len(companions) > 0 { // what is said while they are loaded is heard when they are: until then it rests
		t.turns++
	}
	if !t.busy && (begins || t.turns == Turns) {
		t.queued = true
		heap.Push(&k.queue, turn{t.due(), room})
		k.look()
	}
}

// worth says whether a turn is gone through: of a chat of many the lines to those who are here.
func worth(said entry.Said, here []string) bool {
	return said.Source != entry.SourceChat || slices.ContainsFunc(said.Addressed, func(id string) bool { return slices.Contains(here, id) })
}

// look has Run look what there is to do.
func (k *Keeper) look() {
	for _, c := range []chan struct{}{k.stirred, k.unnoted} {
		select {
		case c <- struct{}{}:
		default: // it will
		}
	}
}

// next gives a room whose talk is due, or how long none is.
func (k *Keeper) next(now time.Time) (room string, wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.queue) > 0 {
		first := k.queue[0]
		t := k.talks[first.room]
		switch {
		case t == nil || t.busy:
			heap.Pop(&k.queue)
		case t.due().After(first.at):
			k.queue[0].at = t.due()
			heap.Fix(&k.queue, 0)
		case first.at.After(now):
			return "", first.at.Sub(now)
		default:
			return first.room, 0
		}
	}
	return "", time.Hour
}

// begun takes a talk to be gone through, and gives it as it is now.
func (k *Keeper) begun(room string) talk {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.talks[room]
	t.busy, t.turns, t.queued = true, 0, false
	return *t
}

// ended says that a talk was gone through up to an entry, before which these companions were
// there, or could not be.
func (k *Keeper) ended(room string, upto uint64, here []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.talks[room]
	t.busy = false
	switch {
	case err != nil:
		t.failed = time.Now()
	case t.newest <= upto:
		delete(k.talks, room)
		k.done = append(k.done, room)
		k.look()
		return
	default:
		t.Talk = entry.Talk{Room: room, From: upto + 1, Here: here}
		t.failed = time.Time{}
		k.waiting = append(k.waiting, room)
	}
	t.queued = true
	heap.Push(&k.queue, turn{t.due(), room})
	k.look()
}

// list is the stream of talks that wait.
type list struct {
	stream  stream
	waits   map[string]entry.Talk // as the stream has it
	entries int                   // since its snapshot
}

// apply folds an entry in.
func (l *list) apply(e entry.Entry) error {
	if e.Kind != entry.KindTalks {
		return nil
	}
	body, err := entry.Decode[entry.Talks](e)
	if err != nil {
		return err
	}
	for _, room := range body.Done {
		delete(l.waits, room)
	}
	for _, t := range body.Waits {
		l.waits[t.Room] = t
	}
	l.entries++
	return nil
}

// Load reads which talks wait, before any room runs: those of the list, and what may have been
// said just before the daemon was killed.
func (k *Keeper) Load(ctx context.Context) error {
	j := k.cfg.Journal
	from, state, err := j.GetSnapshot(ctx, journal.Memory)
	if err != nil {
		return journal.Coded(err)
	}
	if len(state) > 0 {
		if err := json.Unmarshal(state, &k.list.waits); err != nil {
			return fmt.Errorf("the snapshot of %s: %w", journal.Memory, err)
		}
	}
	for e, err := range journal.AllEntries(ctx, j, journal.Memory, from) {
		if err == nil {
			err = k.list.apply(e)
		}
		if err != nil {
			return journal.Coded(fmt.Errorf("read %s: %w", journal.Memory, err))
		}
	}
	for _, t := range k.list.waits {
		k.waits(t)
	}
	return k.loadAwake(ctx)
}

// loadAwake takes the rooms that were awake when the daemon ended: what was said there may not be in the list. They
// are looked through from when they woke; a room that fell asleep is in the list.
//
// They are written into the list before any room runs: the next daemon would begin with its own time.
func (k *Keeper) loadAwake(ctx context.Context) error {
	var found entry.Talks
	for row, err := range journal.AllWaking(ctx, k.cfg.Journal, time.Time{}) {
		if err != nil {
			return journal.Coded(err)
		}
		if k.talks[row.Name] != nil || !row.Awake {
			continue
		}
		woke, ok, err := k.cfg.Journal.Find(ctx, row.Name, fmt.Sprint(journal.OwnerID, row.Head.Epoch))
		if err != nil {
			return journal.Coded(err)
		}
		if ok && woke.Seq > row.Fork.At { // else nothing was said since it was forked
			t := entry.Talk{Room: row.Name, From: woke.Seq}
			k.waits(t)
			found.Waits = append(found.Waits, t)
		}
	}
	if len(found.Waits) == 0 {
		return nil
	}
	return k.list.note(ctx, found)
}

// waits takes in a talk of before the daemon started.
func (k *Keeper) waits(t entry.Talk) {
	k.talks[t.Room] = &talk{Talk: t, last: time.Now(), queued: true}
	heap.Push(&k.queue, turn{time.Now().Add(Rests), t.Room})
}

// note writes down which talks wait, whenever that changes, until ctx ends.
func (k *Keeper) note(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			_ = k.noteNow(context.WithoutCancel(ctx)) // what is not there is found by the rooms that are awake
			return
		case <-k.unnoted:
		}
		for {
			err := k.noteNow(ctx)
			if err == nil {
				break
			}
			k.cfg.Log.Warn("which talks companions have not gone through yet cannot be written down now; it is tried again", "err", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

// noteNow writes down what is not.
func (k *Keeper) noteNow(ctx context.Context) error {
	k.mu.Lock()
	body := entry.Talks{Done: k.done}
	for _, room := range k.waiting {
		if t := k.talks[room]; t != nil { // else it was gone through by now
			body.Waits = append(body.Waits, t.Talk)
		}
	}
	k.done, k.waiting = nil, nil
	k.mu.Unlock()
	if len(body.Done)+len(body.Waits) == 0 {
		return nil
	}
	err := k.list.note(ctx, body)
	if err == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done = append(body.Done, k.done...)
	for _, t := range body.Waits {
		k.waiting = append(k.waiting, t.Room)
	}
	return err
}

// note writes an entry. Now and then the list begins anew with what still waits.
func (l *list) note(ctx context.Context, body entry.Talks) error {
	b, err := l.stream.begin(ctx)
	if err != nil {
		return err
	}
	e, err := b.put(entry.KindTalks, body)
	if err != nil {
		return err
	}
	if err := b.write(ctx); err != nil {
		return err
	}
	if err := l.apply(e); err != nil || l.entries < compact {
		return err
	}
	state, err := json.Marshal(l.waits)
	if err != nil {
		return err
	}
	j, name, head := l.stream.journal, l.stream.name, l.stream.head.Seq
	if err := j.PutSnapshot(ctx, name, head, state); err != nil {
		return err
	}
	l.entries = 0
	return j.Trim(ctx, name, head)
}
