package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// group is how many requests at most share a transaction.
const group = 256

// request is one all-or-nothing change: run refuses it before it writes, or takes
// back what it wrote.
type request struct {
	ctx  context.Context
	run  func(w *writer) error
	room string       // the room that grew, "" for none
	news []made       // by these
	head journal.Head // its new head, set by run
	err  error        // valid once done is closed
	done chan struct{}
}

// submit hands a request to the writer and waits until it is durable.
func (j *Journal) submit(ctx context.Context, r *request) error {
	r.ctx, r.done = ctx, make(chan struct{})
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-j.stopped: // closed, or opened read-only
		return j.unavailable()
	default:
	}
	select {
	case j.queue <- r:
	case <-ctx.Done():
		return ctx.Err() // never handed over
	case <-j.stopped:
		return j.unavailable()
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", journal.ErrUnknown, ctx.Err())
	case <-j.stopped:
		select {
		case <-r.done:
		default:
			return j.unavailable() // the writer left before it took this one
		}
	}
	return r.err
}

// unavailable says why nothing is written now; it never answers nil.
func (j *Journal) unavailable() error {
	if err := j.Health(); err != nil {
		return err
	}
	return fmt.Errorf("%w: closed", journal.ErrUnavailable)
}

// write is the writer goroutine: the only one that changes the database.
func (j *Journal) write() {
	defer close(j.stopped)
	tick := time.NewTicker(j.tune.probe)
	defer tick.Stop()
	for {
		select {
		case r := <-j.queue:
			j.commit(j.gather(r))
		case err := <-j.suspect:
			j.trouble(err)
		case <-tick.C:
			j.probe()
		case <-j.quit:
			for {
				batch := j.gather()
				if len(batch) == 0 {
					return
				}
				j.commit(batch)
			}
		}
	}
}

// gather adds what is waiting now to batch.
func (j *Journal) gather(batch ...*request) []*request {
	for len(batch) < group {
		select {
		case r := <-j.queue:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// commit stores a batch and then answers each request.
func (j *Journal) commit(batch []*request) {
	var err error
	if j.w == nil {
		err = j.unavailable()
	} else if gone := j.held.Look(); gone != nil {
		j.trouble(gone)
		err = j.unavailable() // with what to do
	} else if err = j.transact(batch); err != nil {
		j.trouble(err)
	} else {
		j.grown(batch)
	}
	for _, r := range batch {
		if r.err == nil && err != nil {
			r.err = err
		}
		close(r.done)
	}
}

// transact runs a batch in one transaction. A request that may not be stored
// undoes itself only; an error of the engine undoes all and is returned.
func (j *Journal) transact(batch []*request) (err error) {
	w := j.w
	if err := w.Exec("BEGIN IMMEDIATE"); err != nil {
		return store.Classify(fmt.Errorf("begin: %w", err), journal.ErrUnknown)
	}
	defer func() {
		if err != nil {
			_ = w.Exec("ROLLBACK") // SQLite may have done it already
			w.forget()
			err = store.Classify(err, journal.ErrUnknown)
		}
	}()
	for _, r := range batch {
		if r.err = r.ctx.Err(); r.err != nil {
			continue
		}
		if err := r.run(w); store.IsRefusal(err) {
			r.err = err
		} else if err != nil {
			return err
		}
	}
	if err := w.moveHeads(); err != nil {
		return err
	}
	if err := w.Exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	w.done()
	return nil
}

// done begins anew after a transaction that was stored, and forget after one that
// was not: what the writer knows of the rooms is not true then.
func (w *writer) done() {
	for _, r := range w.grew {
		r.grew, r.awake, r.owner = false, true, ""
	}
	w.grew = w.grew[:0]
}

func (w *writer) forget() { clear(w.rooms); w.grew = nil }

// grown notes how far a committed batch came and hands it to those who follow its rooms.
func (j *Journal) grown(batch []*request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range batch {
		if r.err == nil && r.room != "" {
			j.desk.Hand(r.room, r.added)
			if row := j.w.rooms[r.room]; row != nil { // else it rests already
				j.mark, j.fresh = statedir.Mark{Room: r.room, Seq: r.head.Seq, Sum: row.sum}, true
			}
		}
	}
}
