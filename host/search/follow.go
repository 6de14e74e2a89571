package search

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/words"
	"github.com/companiond/companiond/host/search/gram"
)

const (
	// batch is how many messages are indexed in one transaction, and batches how many of these at a time
	// before others may search what is new, or take something out.
	batch   = 1000
	batches = 5
	// held is how many messages of all rooms together are held while they are sorted by time.
	held = 20000
	// many is from how many rooms on not all are looked at for each search, and recent how old a look may then be.
	many   = 2000
	recent = time.Second
)

// ready brings the index up to date for a search, as far as that is done in a moment: with all rooms, for the ids of one
// that went before the others would be out of order.
func (k *Keeper) ready(ctx context.Context, parts []part) (behind bool, err error) {
	if !k.needs(parts) {
		return false, nil
	}
	if k.cfg.ReadOnly {
		return k.onlyRead(ctx, parts)
	}
	k.mu.Lock()
	rooms := k.rooms
	k.mu.Unlock()
	var done bool
	if parts[0].Name != "" && rooms >= many {
		done, err = k.only(ctx, parts)
	} else {
		done, err = k.follow(ctx, 1)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return !done, err
}

// needs says whether a search has to wait for the index.
func (k *Keeper) needs(parts []part) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.wrong != nil {
		return true
	}
	for _, p := range parts {
		if p.Name == "" {
			return k.rooms < many || time.Since(k.looked) >= recent // which rooms grew is known when all are looked at
		}
		if at, ok := k.heads[p.Name]; !ok || at < p.Head.Seq {
			return true
		}
	}
	return false
}

// only indexes what is new in the rooms of a search, where that is little.
func (k *Keeper) only(ctx context.Context, parts []part) (done bool, err error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	rows := make([]journal.Room, len(parts))
	for i, p := range parts {
		rows[i] = p.Room
	}
	return k.add(ctx, rows, 0)
}

// onlyRead opens an index that others keep, and says whether it is behind.
func (k *Keeper) onlyRead(ctx context.Context, parts []part) (behind bool, err error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.note(k.open()); err != nil {
		return false, err
	}
	look := func(r journal.Room) error {
		at, _, err := k.index.Room(ctx, r.Name)
		if err != nil || behind {
			return err
		}
		more, err := k.cfg.Journal.Said(ctx, r.Name, journal.Span{After: max(at.Upto, r.Fork.At), Limit: 1})
		behind = len(more) > 0
		return err
	}
	for _, p := range parts {
		if p.Name != "" {
			err = errors.Join(err, look(p.Room))
			continue
		}
		for r, rerr := range journal.AllRooms(ctx, k.cfg.Journal) {
			if err = rerr; err == nil {
				err = look(r)
			}
			if err != nil || behind {
				break
			}
		}
	}
	return behind, k.note(err)
}

// follow indexes what is new in all rooms, so many batches of it; done says that this was all.
func (k *Keeper) follow(ctx context.Context, most int) (done bool, err error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	var rows []journal.Room
	for r, err := range journal.AllRooms(ctx, k.cfg.Journal) {
		if err != nil {
			return false, k.note(err)
		}
		rows = append(rows, r)
	}
	began := time.Now()
	if done, err = k.add(ctx, rows, most); done {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.rooms, k.looked = len(rows), began
	}
	return done, err
}

// add indexes what is new in rooms, in the order in which it was said, so many batches of it; with 0 all of it, or
// nothing where that is long, for what is said in one room would go before what was said before it in others. k.writing is
// held.
func (k *Keeper) add(ctx context.Context, rows []journal.Room, most int) (done bool, err error) {
	k.mu.Lock()
	damaged := k.wrong
	k.mu.Unlock()
	if errors.Is(damaged, words.ErrStale) {
		err = k.anew(damaged)
	} else {
		err = k.open()
	}
	if err == nil && k.index == nil {
		err = errors.New("it is closed")
	}
	if err == nil {
		done, err = k.merge(ctx, rows, most)
	}
	switch {
	case errors.Is(err, words.ErrStale) || errors.Is(err, errLost):
		if err = k.anew(err); err == nil {
			done, err = k.merge(ctx, rows, most)
		}
	case errors.Is(err, words.ErrMoved): // another process keeps it as well
		k.mu.Lock()
		clear(k.heads)
		k.mu.Unlock()
		err = nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return done && err == nil, k.note(err)
}

// errLost says that the journal has not what the index was made of.
var errLost = errors.New("search: the journal is another, or an older one")

// merge indexes rooms side by side, by time.
func (k *Keeper) merge(ctx context.Context, rows []journal.Room, most int) (done bool, err error) {
	var all merging
	for _, r := range rows {
		k.mu.Lock()
		at, known := k.heads[r.Name]
		k.mu.Unlock()
		if known && at >= r.Head.Seq {
			continue
		}
		c, err := k.begin(ctx, r, known)
		if err != nil {
			return false, fmt.Errorf("room %s: %w", r.Name, err)
		}
		all.rooms = append(all.rooms, c)
	}
	size := min(max(held/max(len(all.rooms), 1), 4), batch)
	for _, c := range all.rooms {
		c.page = size
	}
	if err := all.fill(ctx, k.cfg.Journal); err != nil {
		return false, err
	}
	if most == 0 && slices.ContainsFunc(all.rooms, func(c *cursor) bool { return !c.over }) {
		return false, nil
	}
	for n := 0; len(all.queue) > 0; n++ {
		if n == max(most, 1) {
			return false, nil
		}
		if err := k.batch(ctx, &all); err != nil {
			return false, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range all.rooms {
		k.heads[c.row.Name] = max(c.row.Head.Seq, c.stored)
	}
	return true, nil
}

// begin finds where a room goes on. A room that is met for the first time is compared: what the index
// was made of has to be there still.
func (k *Keeper) begin(ctx context.Context, r journal.Room, known bool) (*cursor, error) {
	at, found, err := k.index.Room(ctx, r.Name)
	c := &cursor{row: r, read: max(at.Upto, r.Fork.At)}
	c.stored = c.read
	if err != nil || known || !found {
		return c, err
	}
	if at.Upto > r.Head.Seq || at.Upto < r.Fork.At {
		return nil, errLost
	}
	first, err := k.cfg.Journal.Read(ctx, r.Name, 0, 1)
	if err != nil {
		return nil, err
	}
	if len(first) > 0 && first[0].Seq > 1 { // its beginning was trimmed
		if err := k.index.Cut(r.Name, first[0].Seq); err != nil {
			return nil, err
		}
	}
	if at.Mark == "" {
		return c, nil
	}
	last, err := k.cfg.Journal.Read(ctx, r.Name, at.Upto-1, 1)
	if err == nil && len(last) > 0 && last[0].Seq == at.Upto && mark(last[0]) != at.Mark {
		err = errLost
	}
	return c, err
}

// mark knows an entry again. Ids may be anybody's words.
func mark(e entry.Entry) string {
	sum := sha256.Sum256([]byte(e.ID))
	return hex.EncodeToString(sum[:8])
}

// batch indexes the next messages of all rooms.
func (k *Keeper) batch(ctx context.Context, all *merging) error {
	after := map[string]uint64{}
	var news []words.Entry
	for len(news) < batch && len(all.queue) > 0 {
		c := all.queue[0]
		e := c.waiting[0]
		if _, there := after[c.row.Name]; !there {
			after[c.row.Name] = c.stored
		}
		news = append(news, indexed(c.row.Name, e))
		if c.waiting = c.waiting[1:]; len(c.waiting) == 0 {
			if err := c.more(ctx, k.cfg.Journal); err != nil {
				return err
			}
		}
		if len(c.waiting) == 0 {
			heap.Pop(&all.queue)
		} else {
			heap.Fix(&all.queue, 0)
		}
	}
	if err := k.index.Add(after, news); err != nil {
		return err
	}
	upto := map[string]uint64{}
	for _, n := range news {
		upto[n.Room] = n.Seq
	}
	for _, c := range all.rooms {
		if seq, ok := upto[c.row.Name]; ok {
			c.stored = seq
		}
	}
	return ctx.Err()
}

// indexed is what the index has of a message: nothing where its words were taken out.
func indexed(room string, e entry.Entry) words.Entry {
	w := words.Entry{Room: room, Seq: e.Seq, Mark: mark(e)}
	if said, err := entry.Decode[entry.Said](e); err == nil {
		w.Grams = gram.Index(gram.Fold(said.Text))
		w.Tokens = speaker(address.Reading(said.From))
	}
	return w
}

// merging is rooms that are read side by side.
type merging struct {
	rooms []*cursor
	queue queue
}

func (m *merging) fill(ctx context.Context, j journal.Log) error {
	for _, c := range m.rooms {
		if err := c.more(ctx, j); err != nil {
			return err
		}
		if len(c.waiting) > 0 {
			m.queue = append(m.queue, c)
		}
	}
	heap.Init(&m.queue)
	return nil
}

// cursor goes along the messages of one room.
type cursor struct {
	row     journal.Room
	page    int
	read    uint64 // seq of the newest message that was read
	stored  uint64 // and of the newest that is in the index
	waiting []entry.Entry
	over    bool
}

func (c *cursor) more(ctx context.Context, j journal.Log) (err error) {
	if c.over {
		return nil
	}
	c.waiting, err = j.Said(ctx, c.row.Name, journal.Span{After: c.read, Limit: c.page})
	c.over = len(c.waiting) < c.page
	if n := len(c.waiting); n > 0 {
		c.read = c.waiting[n-1].Seq
	}
	return err
}

// queue has the room first whose next message was said first.
type queue []*cursor

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].waiting[0].At.Before(q[j].waiting[0].At) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*cursor)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
