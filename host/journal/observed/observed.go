// Package observed is a journal that has somebody see what is appended to another: how long that took, and what became of the
// turns of rooms, of which it writes a line each into the log.
//
// It stores nothing itself, and answers what the other does. Names of people never reach its log, nor what was said: they
// would stay there when words are erased.
package observed

import (
	"context"
	"log/slog"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/turns"
)

// Observer sees what is appended. Its methods are called by the loops of rooms, and may not wait.
type Observer interface {
	// Appended is told how long the journal took for entries that it took.
	Appended(took time.Duration)
	// Turn is told of a turn that is over.
	Turn(turns.Turn)
}

// Config is what a Journal is made of.
type Config struct {
	Journal journal.Journal
	See     Observer
	// Companion says whether somebody is a companion, whose name may stand in a log.
	Companion func(id string) bool
	Log       *slog.Logger
}

// Journal is a journal that is seen.
type Journal struct {
	journal.Journal
	cfg   Config
	turns turns.Reader
}

var _ journal.Journal = (*Journal)(nil)

// New makes one.
func New(c Config) *Journal { return &Journal{Journal: c.Journal, cfg: c} }

// Append implements [journal.Log].
func (j *Journal) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	began := time.Now()
	head, err := j.Journal.Append(ctx, room, h, entries...)
	if err != nil {
		return head, err
	}
	j.cfg.See.Appended(time.Since(began))
	if !journal.IsRoom(room) {
		return head, nil
	}
	for i, n := range entries {
		e := entry.Entry{Seq: head.Seq - uint64(len(entries)-1-i), At: n.At, Kind: n.Kind, ID: n.ID, V: n.V, Body: n.Body}
		for _, t := range j.turns.Read(room, e) {
			j.cfg.See.Turn(t)
			j.tell(ctx, t)
		}
		j.voted(ctx, room, e)
	}
	return head, nil
}

// tell writes a line of a turn: at debug where nobody took one.
func (j *Journal) tell(ctx context.Context, t turns.Turn) {
	level := slog.LevelDebug
	if t.Floor() {
		level = slog.LevelInfo
	}
	if !j.cfg.Log.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 6), slog.String("room", t.Room))
	if t.Number > 0 {
		attrs = append(attrs, slog.Uint64("turn", t.Number))
	}
	attrs = append(attrs, slog.Uint64("seq", t.Seq))
	if t.Outcome != turns.Human && j.cfg.Companion(t.Who) {
		attrs = append(attrs, slog.String("companion", t.Who))
	}
	attrs = append(attrs, slog.String("outcome", string(t.Outcome)))
	if t.Timed {
		attrs = append(attrs, slog.String("took", t.Took.String()))
	}
	j.cfg.Log.LogAttrs(ctx, level, "turn", attrs...)
}

// voted writes a line of a vote, at debug.
func (j *Journal) voted(ctx context.Context, room string, e entry.Entry) {
	if e.Kind != entry.KindVote || !j.cfg.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	b, err := entry.Decode[entry.Voted](e)
	if err != nil || !j.cfg.Companion(b.Voter) {
		return
	}
	j.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "vote", slog.String("room", room), slog.Uint64("seq", e.Seq), slog.Uint64("round", b.Round),
		slog.String("companion", b.Voter), slog.String("state", string(b.State)), slog.Float64("importance", b.Importance))
}
