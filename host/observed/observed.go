// Package observed has somebody see what rooms write down: how long the journal takes, and what became of each turn, of which it
// writes a line into the log.
//
// It changes nothing. Names of people never reach its log, nor what was said: they would stay there when words are erased.
package observed

import (
	"context"
	"log/slog"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/turns"
)

// Journal is a journal of which it is seen how long it takes.
type Journal struct {
	journal.Journal
	// Appended is told how long the journal took for entries that it took. It is called by the loops of rooms, and may not wait.
	Appended func(took time.Duration)
}

var _ journal.Journal = (*Journal)(nil)

// Append implements [journal.Log].
func (j *Journal) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	began := time.Now()
	head, err := j.Journal.Append(ctx, room, h, entries...)
	if err == nil {
		j.Appended(time.Since(began))
	}
	return head, err
}

// Config is what Rooms are made of. All of it must be set.
type Config struct {
	// Turn is told of a turn that is over. It is called by the loops of rooms, and may not wait.
	Turn func(turns.Turn)
	// Companion says whether somebody is a companion, whose name may stand in a log.
	Companion func(id string) bool
	Log       *slog.Logger
}

// Rooms sees what rooms write down.
type Rooms struct {
	cfg   Config
	turns turns.Reader
}

// New makes one.
func New(c Config) *Rooms { return &Rooms{cfg: c} }

// Wrote is told what stands in the journal of a room by now, by its loop.
func (r *Rooms) Wrote(room string, entries []entry.Entry) {
	for _, e := range entries {
		for _, t := range r.turns.Read(room, e) {
			r.cfg.Turn(t)
			r.tell(t)
		}
		r.voted(room, e)
	}
}

// tell writes a line of a turn: at debug where nobody took one.
func (r *Rooms) tell(t turns.Turn) {
	ctx, level := context.Background(), slog.LevelDebug
	if t.Floor() {
		level = slog.LevelInfo
	}
	if !r.cfg.Log.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 6), slog.String("room", t.Room))
	if t.Number > 0 {
		attrs = append(attrs, slog.Uint64("turn", t.Number))
	}
	attrs = append(attrs, slog.Uint64("seq", t.Seq))
	if t.Outcome != turns.Human && r.cfg.Companion(t.Who) {
		attrs = append(attrs, slog.String("companion", t.Who))
	}
	attrs = append(attrs, slog.String("outcome", string(t.Outcome)))
	if t.Timed {
		attrs = append(attrs, slog.String("took", t.Took.String()))
	}
	r.cfg.Log.LogAttrs(ctx, level, "turn", attrs...)
}

// voted writes a line of a vote, at debug.
func (r *Rooms) voted(room string, e entry.Entry) {
	ctx := context.Background()
	if e.Kind != entry.KindVote || !r.cfg.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	b, err := entry.Decode[entry.Voted](e)
	if err != nil || !r.cfg.Companion(b.Voter) {
		return
	}
	r.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "vote", slog.String("room", room), slog.Uint64("seq", e.Seq), slog.Uint64("round", b.Round),
		slog.String("companion", b.Voter), slog.String("state", string(b.State)), slog.Float64("importance", b.Importance))
}
