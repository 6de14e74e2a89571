package service

import (
	"context"
	"io"
	"log/slog"
	"strconv"

	"github.com/coreos/go-systemd/v22/journal"
)

// Logged says whether what the process writes as errors goes to systemd's journal, which has a clock of its own and takes a
// line's priority from its beginning. A variable alone (JOURNAL_STREAM) says nothing: terminals of a desktop inherit it.
func Logged() bool {
	is, err := journal.StderrIsJournalStream()
	return err == nil && is
}

// levels are the levels of slog with their priorities in the journal, from the most urgent on.
var levels = []struct {
	from     slog.Level
	priority journal.Priority
}{{slog.LevelError, journal.PriErr}, {slog.LevelWarn, journal.PriWarning}, {slog.LevelInfo, journal.PriInfo}, {slog.LevelDebug, journal.PriDebug}}

// prioritised is a handler for each of levels.
type prioritised []slog.Handler

// Prioritised makes a handler whose lines begin with their priority ("<6>"), of those that make gives for a writer.
func Prioritised(w io.Writer, make func(io.Writer) slog.Handler) slog.Handler {
	var p prioritised
	for _, l := range levels {
		p = append(p, make(prefixed{w, "<" + strconv.Itoa(int(l.priority)) + ">"}))
	}
	return p
}

// prefixed writes a prefix before each line; slog writes one at a time.
type prefixed struct {
	w      io.Writer
	prefix string
}

func (p prefixed) Write(b []byte) (int, error) {
	if _, err := p.w.Write(append([]byte(p.prefix), b...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p prioritised) of(level slog.Level) slog.Handler {
	for i, l := range levels {
		if level >= l.from {
			return p[i]
		}
	}
	return p[len(p)-1]
}

// Enabled implements [slog.Handler].
func (p prioritised) Enabled(ctx context.Context, level slog.Level) bool {
	return p.of(level).Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (p prioritised) Handle(ctx context.Context, r slog.Record) error {
	return p.of(r.Level).Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (p prioritised) WithAttrs(attrs []slog.Attr) slog.Handler {
	return p.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (p prioritised) WithGroup(name string) slog.Handler {
	return p.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (p prioritised) each(with func(slog.Handler) slog.Handler) slog.Handler {
	next := make(prioritised, 0, len(p))
	for _, h := range p {
		next = append(next, with(h))
	}
	return next
}
