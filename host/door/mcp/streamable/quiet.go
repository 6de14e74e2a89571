package streamable

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The SDK writes a line for every request and a warning for every event that a
// client which has gone away does not get. Of one kind of line quietLines a
// quietSpan are let through; how many were held back is told by the next.
const (
	quietLines = 3
	quietSpan  = time.Minute
	quietKinds = 64 // more kinds than these share one allowance
)

// Quiet makes a logger for the SDK: what it finds worth an Info is a Debug here, as is a
// notice for which a client has no stream open, and no kind of line can flood the log.
func Quiet(log *slog.Logger) *slog.Logger {
	return slog.New(&quietHandler{next: log.Handler(), seen: &seenLines{kinds: map[string]*lineKind{}}})
}

type quietHandler struct {
	next slog.Handler
	seen *seenLines
}

type seenLines struct {
	mu    sync.Mutex
	kinds map[string]*lineKind
}

// lineKind counts the lines of one kind since a span began.
type lineKind struct {
	began time.Time
	let   int
	held  int
}

func lower(l slog.Level) slog.Level {
	if l == slog.LevelInfo {
		return slog.LevelDebug
	}
	return l
}

// undelivered says whether a line is about a notice that had nowhere to go: clients
// need not listen, and nobody can do anything about it.
func undelivered(message string) bool {
	return strings.HasPrefix(message, "calling notifications/") && strings.Contains(message, ": rejected by transport: ")
}

// Enabled asks the next handler.
func (h *quietHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.next.Enabled(ctx, lower(l))
}

// Handle lets a line through or counts it.
func (h *quietHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = lower(r.Level)
	if undelivered(r.Message) {
		if r.Level = slog.LevelDebug; !h.next.Enabled(ctx, r.Level) {
			return nil
		}
	}
	if r.Level >= slog.LevelWarn {
		held, ok := h.seen.admit(r.Message, r.Time)
		if !ok {
			return nil
		}
		if held > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("held_back", held))
		}
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs shares the allowances.
func (h *quietHandler) WithAttrs(as []slog.Attr) slog.Handler {
	return &quietHandler{next: h.next.WithAttrs(as), seen: h.seen}
}

// WithGroup shares the allowances.
func (h *quietHandler) WithGroup(name string) slog.Handler {
	return &quietHandler{next: h.next.WithGroup(name), seen: h.seen}
}

// admit counts a line and says whether it may be written, and how many before it
// were not. What follows ": " in a message is an error's text, with addresses.
func (s *seenLines) admit(message string, now time.Time) (held int, ok bool) {
	key, _, _ := strings.Cut(message, ": ")
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[key]
	if k == nil {
		if len(s.kinds) >= quietKinds {
			key = ""
		}
		if k = s.kinds[key]; k == nil {
			k = &lineKind{began: now}
			s.kinds[key] = k
		}
	}
	if now.Sub(k.began) >= quietSpan {
		held = k.held
		*k = lineKind{began: now}
	}
	if k.let >= quietLines {
		k.held++
		return 0, false
	}
	k.let++
	return held, true
}
