package perception

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
)

// queue is what one companion is still to judge. It has no clock and no lock.
//
// Items of one title are judged in the order in which they came; those of another
// do not wait for a title that cools down.
type queue struct {
	max      int // that wait
	maxBytes int // that wait or are judged

	waiting []*item
	bytes   int                  // of what waits or is judged
	ready   map[string]time.Time // when a title that cools down may be judged again
	took    time.Duration        // of the newest judgement
}

// item is one perception on its way.
type item struct {
	p        abi.Percept
	coolDown time.Duration
	done     chan Outcome // with room for one
}

func (it *item) tell(o Outcome) {
	it.done <- o
	close(it.done)
}

// size is what an item costs in bytes: what it carries, and a little for itself.
func (it *item) size() int { return len(it.p.Image) + len(it.p.Body) + 512 }

// frame says whether a newer one makes this one worthless. A text says something
// that the next one does not.
func (it *item) frame() bool { return it.p.Format != "text" }

// Full is the cause of CodeExhausted: too much of a companion's waits already, or too
// many sessions are open.
type Full struct {
	After time.Duration // how long to wait before trying again, at least a second
}

// Error says how long to wait.
func (f *Full) Error() string { return fmt.Sprintf("try again in %v", f.After) }

// put takes an item. It takes the place of replaced, when that is not nil.
func (q *queue) put(it *item, now time.Time) (state string, replaced *item, err error) {
	i := q.replaces(it)
	size, count := q.bytes+it.size(), len(q.waiting)
	if i >= 0 {
		size -= q.waiting[i].size()
		count--
	}
	switch {
	case count >= q.max:
		return "", nil, q.full(now, "%d perceptions wait for this companion already", count)
	case size > q.maxBytes:
		return "", nil, q.full(now, "%d MiB of perceptions are all that may wait for this companion", q.maxBytes>>20)
	}
	q.bytes = size
	if i >= 0 {
		replaced, q.waiting[i] = q.waiting[i], it
	} else {
		q.waiting = append(q.waiting, it)
	}
	if now.Before(q.ready[it.p.Title]) {
		return StateCooling, replaced, nil
	}
	return StateQueued, replaced, nil
}

// replaces gives the place of the item whose place a new one takes, -1 for none.
// It is the newest of that title, or judgements would be out of order.
func (q *queue) replaces(it *item) int {
	for i, w := range slices.Backward(q.waiting) {
		if w.p.Title == it.p.Title {
			if w.frame() && it.frame() {
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

// next takes the first item that is not to wait for a cool-down. It answers nil
// when there is none, and how long until there may be; 0: nothing waits.
func (q *queue) next(now time.Time) (it *item, sleep time.Duration) {
	maps.DeleteFunc(q.ready, func(_ string, at time.Time) bool { return !now.Before(at) })
	i := slices.IndexFunc(q.waiting, func(w *item) bool { return !now.Before(q.ready[w.p.Title]) })
	if i < 0 {
		return nil, q.sleep(now)
	}
	it = q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if it.coolDown > 0 {
		q.ready[it.p.Title] = now.Add(it.coolDown)
	}
	return it, 0
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
func (q *queue) judged(it *item, took time.Duration) {
	q.bytes -= it.size()
	q.took = took
}
