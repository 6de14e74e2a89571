package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/rules"
)

// Input records a fact other than a line, and what the rules draw from it. It answers
// the seq of the entry.
func (l *Loop) Input(kind entry.Kind, body any) (seq uint64) {
	seq = l.m.State.Head + 1
	l.must(l.m.Input(kind, l.Now(), body))
	return seq
}

// Line records a line, or its refusal. An error says that neither is possible.
func (l *Loop) Line(a rules.Line) (entry.Entry, error) {
	a.Turn = 1 // which the rules make the number that it is
	e, err := l.m.Say(a, l.Now())
	if err == nil {
		l.ids.add(a.ID)
	}
	l.must(err)
	return e, journal.Coded(err)
}

// Knows says whether one of the newest lines has an id, be it in the journal or not yet.
func (l *Loop) Knows(id string) bool { return l.ids.known[id] }

// Made gives the entries that are not written yet.
func (l *Loop) Made() []entry.Entry { return l.m.Made() }

// must turns a rule that failed into journal trouble: all that is not durable yet is
// dropped and the state is folded anew.
func (l *Loop) must(err error) {
	if err != nil {
		l.cfg.Log.Error("rules failed", "err", err)
		l.drop(err)
	}
}

// drop gives up what is not in the journal, and tells those who wait for it.
func (l *Loop) drop(why error) {
	l.trouble = why
	l.cfg.Show() // before anybody is woken to look
	l.tell(l.Trouble())
	l.m.Take()
	l.ids = newestIDs{} // a line that was not kept may come again
	l.cfg.Dropped(l.Trouble())
}

// flush makes the entries so far durable and then tells those who wait. Votes
// alone are not worth a write: they wait for the decision they lead to, and
// nobody has been told of them.
func (l *Loop) flush(ctx context.Context) {
	if l.trouble != nil {
		return
	}
	if len(l.m.Made()) == 0 {
		l.tell(nil) // they wait for what is in the journal already
		return
	}
	if len(l.acks) == 0 && !slices.ContainsFunc(l.m.Made(), func(e entry.Entry) bool { return !waits(e) }) {
		return
	}
	l.write(ctx)
}

// write makes the entries so far durable and tells those who wait.
func (l *Loop) write(ctx context.Context) {
	entries := l.m.Take()
	news := make([]journal.New, len(entries))
	for i, e := range entries {
		news[i] = journal.New{ID: e.ID, V: e.V, Kind: e.Kind, At: e.At, Body: e.Body}
	}
	// The write is not to be cut short by a stop: its outcome would be unknown.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	head, err := l.cfg.Journal.Append(write, l.cfg.Room, l.head, news...)
	if err != nil {
		l.failed(write, entries[0].ID, err)
		return
	}
	l.head = head
	l.cfg.Wrote(entries) // before it shows: one that sees how far the room is must find all of it
	l.cfg.Show()         // before anybody is woken to look
	l.expected = len(l.acks)
	l.tell(nil)
	if l.m.State.Head-l.snapped >= SnapshotEvery {
		l.snapshot(write)
	}
}

// waits says whether an entry may wait in memory for the next that may not.
func waits(e entry.Entry) bool {
	if e.Kind == entry.KindFailed {
		b, err := entry.Decode[entry.Failed](e)
		return err == nil && b.Grant == ""
	}
	return e.Kind == entry.KindVote || e.Kind == entry.KindUsage
}

func (l *Loop) tell(err error) {
	for _, tell := range l.acks {
		tell(err)
	}
	l.acks = nil
}

// failed tells everybody that the journal did not take their entries, of which first is
// the id of one; all of them are there or none. The state is folded anew, because it is
// ahead of the journal now.
func (l *Loop) failed(ctx context.Context, first string, err error) {
	l.cfg.Log.Error("journal takes no entries", "err", err)
	l.trouble = err
	if errors.Is(err, journal.ErrUnknown) {
		e, found, ferr := l.cfg.Journal.Find(ctx, l.cfg.Room, first)
		if ferr == nil && found && e.Epoch == l.head.Epoch { // else another daemon may have written one of this id
			l.tell(nil)
		}
	}
	l.drop(err)
}

// Refold puts another fold of the same entries in the place of the state, because words
// were taken out of them: anew gives it for the journal up to an entry. What is not written yet is
// written first. Rounds, grants and numbers are the same, so that all that runs beside the loop goes on.
func (l *Loop) Refold(ctx context.Context, anew func(ctx context.Context, head uint64) (*fold.State, error), then func(*fold.State) error) error {
	if len(l.m.Made()) > 0 {
		l.write(ctx)
	}
	if l.trouble != nil {
		return l.Trouble()
	}
	st, err := anew(ctx, l.head.Seq)
	if err == nil && st.Head != l.head.Seq {
		err = fmt.Errorf("fold room anew: it ends at %d and not at %d", st.Head, l.head.Seq)
	}
	if err == nil { // the one that is kept has what was taken out
		err = reader.Keep(ctx, l.cfg.Journal, l.cfg.Room, st)
	}
	if err == nil {
		err = then(st)
	}
	if err != nil {
		return journal.Coded(err)
	}
	l.m, l.snapped = rules.Machine{State: st}, st.Head
	return nil
}

func (l *Loop) snapshot(ctx context.Context) {
	if err := reader.Keep(ctx, l.cfg.Journal, l.cfg.Room, l.m.State); err != nil {
		l.cfg.Log.Warn("snapshot failed", "err", err)
		return
	}
	l.snapped = l.m.State.Head
}

// recover loads the room, at the start and after journal trouble.
func (l *Loop) recover(ctx context.Context) {
	if errors.Is(l.trouble, journal.ErrFenced) {
		return
	}
	if l.head.Epoch != 0 && l.cfg.Journal.Health() != nil {
		return
	}
	if err := l.load(ctx); err != nil {
		if ctx.Err() == nil && (l.trouble == errNotLoaded || l.trouble.Error() != err.Error()) { // else it is an ordinary stop
			l.cfg.Log.Error("room cannot be loaded", "err", err)
		}
		l.trouble = err
		return
	}
	l.trouble = nil
	l.cfg.Begin()
}

// load folds the room's journal and takes the room over, unless this run of the
// daemon did that before. After journal trouble it takes it over again: all that was
// asked meanwhile was lost, so rounds and grants start anew, as after a restart.
// All that can fail does so before anything is written.
func (l *Loop) load(ctx context.Context) error {
	j, name := l.cfg.Journal, l.cfg.Room
	row, _, err := j.Room(ctx, name)
	if err != nil {
		return fmt.Errorf("look room up: %w", err)
	}
	first := l.head.Epoch == 0
	mine := row.Owner == l.cfg.Owner && row.Head.Epoch > 0
	if !first && !mine && row.Head.Epoch > l.head.Epoch {
		return journal.ErrFenced
	}
	st, from, err := reader.Fold(ctx, j, name)
	if err != nil {
		return err
	}
	if !mine { // before anything is written behind what may be damaged
		if bad, err := j.Verify(ctx, name, from); err != nil {
			return fmt.Errorf("verify room: %w", err)
		} else if bad != 0 {
			return fmt.Errorf("%w: entry %d of room %s does not fit its hash", journal.ErrCorrupt, bad, name)
		}
	}
	head := row.Head
	if !first || !mine {
		at := l.Now()
		if st.At.After(at) {
			at = st.At
		}
		if head, err = j.Acquire(ctx, name, l.cfg.Owner, at); err != nil {
			return fmt.Errorf("take over room: %w", err)
		}
	}
	if err := reader.CatchUp(ctx, j, name, st); err != nil {
		return err
	}
	if err := l.cfg.Load(ctx, st); err != nil {
		return err
	}
	l.m, l.acks = rules.Machine{State: st}, nil
	l.head, l.snapped = head, from
	return nil
}
