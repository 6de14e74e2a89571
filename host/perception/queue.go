package perception

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// queue is what one companion is still to judge. It has no clock and no lock.
//
// Items of one title are judged in the order in which they came; those of another
// do not wait for a title that cools down.
type queue struct {
	max      int // that wait
	maxBytes int // that wait or are judged

	waiting  []*item
	reserved int                  // places of what is being written down
	bytes    int                  // of what waits, is judged or is being written down
	ready    map[string]time.Time // when a title that cools down may be judged again
	took     time.Duration        // of the newest judgement
}

// item is one perception on its way.
type item struct {
	p        abi.Percept
	coolDown time.Duration
	frame    bool         // a newer one makes it worthless
	done     chan Outcome // with room for one
}

func (it *item) tell(o Outcome) {
	it.done <- o
	close(it.done)
}

// size is what an item costs in bytes: what it carries, and a little for itself.
func (it *item) size() int { return len(it.p.Image) + len(it.p.Body) + 512 }

// kept says whether the item waits in the journal.
func (it *item) kept() bool { return it.p.Seq != 0 }

// Full is the cause of CodeExhausted: too much of a companion's waits already.
type Full struct {
	After time.Duration // how long to wait before trying again, at least a second
}

// Error says how long to wait.
func (f *Full) Error() string { return fmt.Sprintf("try again in %v", f.After) }

// RetryAfter gives After, for doors.
func (f *Full) RetryAfter() time.Duration { return f.After }

// put takes a frame. It takes the place of replaced, when that is not nil.
func (q *queue) put(it *item, now time.Time) (state string, replaced *item, err error) {
	i := q.replaces(it)
	var gone *item
	if i >= 0 {
		gone = q.waiting[i]
	}
	if err := q.fits(it, gone, now); err != nil {
		return "", nil, err
	}
	q.bytes += it.size()
	if gone == nil {
		q.waiting = append(q.waiting, it)
	} else {
		q.bytes -= gone.size()
		q.waiting[i] = it
	}
	return q.state(it, now), gone, nil
}

// reserve keeps a place for what is written down first, and then is placed, or freed.
func (q *queue) reserve(it *item, now time.Time) error {
	if err := q.fits(it, nil, now); err != nil {
		return err
	}
	q.reserved++
	q.bytes += it.size()
	return nil
}

// place gives an item its place, which was reserved for it.
func (q *queue) place(it *item, now time.Time) (state string) {
	q.reserved--
	q.waiting = append(q.waiting, it)
	return q.state(it, now)
}

// free gives a reserved place back.
func (q *queue) free(it *item) {
	q.reserved--
	q.bytes -= it.size()
}

// append takes what is written down already, however much it is.
func (q *queue) append(it *item) {
	q.bytes += it.size()
	q.waiting = append(q.waiting, it)
}

// restore takes what waited before the daemon started, however much it is. Frames that
// came meanwhile are newer.
func (q *queue) restore(items []*item) {
	for _, it := range items {
		q.bytes += it.size()
	}
	q.waiting = slices.Concat(items, q.waiting)
}

// fits says why there is no room for an item in the place of gone, where that is not nil.
func (q *queue) fits(it, gone *item, now time.Time) error {
	size, count := q.bytes+it.size(), len(q.waiting)+q.reserved
	if gone != nil {
		size -= gone.size()
		count--
	}
	switch {
	case count >= q.max:
		return q.full(now, "%d perceptions wait for this companion already", count)
	case size > q.maxBytes:
		return q.full(now, "%d MiB of perceptions are all that may wait for this companion", q.maxBytes>>20)
	}
	return nil
}

// state tells whether an item that waits is judged as soon as its turn comes.
func (q *queue) state(it *item, now time.Time) string {
	if now.Before(q.ready[it.p.Title]) {
		return StateCooling
	}
	return StateQueued
}

// replaces gives the place of the item whose place a new one takes, -1 for none.
// It is the newest of that title, or judgements would be out of order.
func (q *queue) replaces(it *item) int {
	for i, w := range slices.Backward(q.waiting) {
		if w.p.Title == it.p.Title {
			if w.frame && it.frame {
				return i
			}
			break
		}
	}
	return -1
}

// full makes the error of a queue that takes nothing more. A place is free when
// what is judged now was judged, or when a title has cooled down.
func (q *queue) full(now time.Time, format string, args ...any) error {
	after := q.took
	if len(q.waiting) > 0 {
		after = max(after, q.sleep(now))
	}
	after = max(time.Second, min(after.Round(time.Second), time.Minute))
	return abi.Wrap(abi.CodeExhausted, &Full{after}, fmt.Sprintf(format, args...)+fmt.Sprintf("; try again in %v", after))
}

// next takes the first item that is not to wait for a cool-down, and where it may take
// several those that come next and can be judged with it. It answers none when there is
// none, and how long until there may be; 0: nothing waits.
func (q *queue) next(now time.Time, several bool) (batch []*item, sleep time.Duration) {
	maps.DeleteFunc(q.ready, func(_ string, at time.Time) bool { return !now.Before(at) })
	left, size := q.waiting[:0:0], 0
	for i, w := range q.waiting {
		if now.Before(q.ready[w.p.Title]) {
			left = append(left, w)
			continue
		}
		if len(batch) > 0 && !(several && joins(batch[0]) && joins(w) && len(batch) <= abi.MaxMore && size+w.size() <= batchBytes) {
			left = append(left, q.waiting[i:]...)
			break
		}
		batch, size = append(batch, w), size+w.size()
	}
	if len(batch) == 0 {
		return nil, q.sleep(now)
	}
	q.waiting = left
	for _, it := range batch {
		if it.coolDown > 0 {
			q.ready[it.p.Title] = now.Add(it.coolDown)
		}
	}
	return batch, 0
}

// joins says whether an item can be judged together with others.
func joins(it *item) bool { return it.kept() && it.p.Format != card.FormatImage }

// back puts a batch back where it was taken from.
func (q *queue) back(batch []*item) {
	for _, it := range batch {
		delete(q.ready, it.p.Title)
	}
	q.waiting = slices.Concat(batch, q.waiting)
}

// sleep gives how long until something that waits has cooled down, 0 when nothing
// waits.
func (q *queue) sleep(now time.Time) (least time.Duration) {
	for i, w := range q.waiting {
		if d := max(0, q.ready[w.p.Title].Sub(now)); i == 0 || d < least {
			least = d
		}
	}
	return least
}

// judged gives back what an item took up while it was judged.
func (q *queue) judged(it *item) { q.bytes -= it.size() }
