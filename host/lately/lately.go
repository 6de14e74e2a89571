// Package lately keeps the newest lines of the daemon's log in memory, for people who cannot look into it otherwise.
//
// It writes nothing anywhere and hides nothing itself: whoever logs keeps secrets out of what it logs. What it keeps is bounded,
// in lines and in bytes, and whoever reads never holds up whoever logs.
package lately

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// How much is kept.
const (
	MaxLines = 2000
	MaxBytes = 1 << 20 // of all lines
	maxText  = 4 << 10 // of one message or value
	maxPairs = 32      // of one line
)

// Line is one line of the log.
type Line struct {
	Seq       uint64     // counted from 1 since the daemon started
	At        time.Time  //
	Level     slog.Level //
	Message   string     //
	Companion string     // whom it is about, "" for nobody
	Pairs     []Pair     // what else is in the line, in its order
}

// Pair is a name in a line of the log, with its value.
type Pair struct{ Name, Value string }

// size is about how many bytes a line takes.
func (l Line) size() int {
	n := 100 + len(l.Message)
	for _, p := range l.Pairs {
		n += 40 + len(p.Name) + len(p.Value)
	}
	return n
}

// Log has the newest lines. Make one with New.
type Log struct {
	mu    sync.Mutex
	lines []Line
	bytes int
	seq   uint64
	news  chan struct{} // closed with the next line
}

// New makes a log without a line.
func New() *Log { return &Log{news: make(chan struct{})} }

// add keeps a line, and lets the oldest go where there are too many.
func (l *Log) add(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	line.Seq = l.seq
	l.lines = append(l.lines, line)
	l.bytes += line.size()
	gone := 0
	for ; len(l.lines)-gone > MaxLines || l.bytes > MaxBytes && len(l.lines)-gone > 1; gone++ {
		l.bytes -= l.lines[gone].size()
	}
	l.lines = slices.Delete(l.lines, 0, gone)
	close(l.news)
	l.news = make(chan struct{})
}

// Filter says which lines are wanted.
type Filter struct {
	Since     uint64     // only those behind this one
	Level     slog.Level // only those of this level or above
	Companion string     // only those about it; "" for all
	Limit     int        // the newest so many
}

func (f Filter) takes(l Line) bool {
	return l.Level >= f.Level && (f.Companion == "" || l.Companion == f.Companion)
}

// Read gives lines, oldest first, and the number of the newest line there is, whatever was wanted: nothing up to it is missing
// from what a next Read gives that begins there, but for what is not kept any more.
func (l *Log) Read(f Filter) (lines []Line, head uint64) {
	lines, head, _ = l.read(f)
	return lines, head
}

func (l *Log) read(f Filter) (lines []Line, head uint64, news <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.lines) - 1; i >= 0 && l.lines[i].Seq > f.Since && (f.Limit == 0 || len(lines) < f.Limit); i-- {
		if f.takes(l.lines[i]) {
			lines = append(lines, l.lines[i])
		}
	}
	slices.Reverse(lines)
	return lines, l.seq, l.news
}

// Wait is Read that waits for a line until ctx ends, and gives none then.
func (l *Log) Wait(ctx context.Context, f Filter) (lines []Line, head uint64) {
	for {
		lines, head, news := l.read(f)
		if len(lines) > 0 {
			return lines, head
		}
		select {
		case <-news:
		case <-ctx.Done():
			return lines, head
		}
	}
}

// Handler hands on to another handler what that takes, and keeps it, too.
func (l *Log) Handler(next slog.Handler) slog.Handler { return handler{log: l, next: next} }

// handler keeps what another handler is given.
type handler struct {
	log       *Log
	next      slog.Handler
	prefix    string // of names in a group
	companion string
	pairs     []Pair
}

// Enabled says what the other handler says: a level that is not written down is not kept.
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle keeps a line and hands it on.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	line := h
	line.pairs = slices.Clip(h.pairs)
	r.Attrs(func(a slog.Attr) bool {
		line.take(h.prefix, a)
		return true
	})
	h.log.add(Line{At: r.Time, Level: r.Level, Message: clip(r.Message), Companion: line.companion, Pairs: line.pairs})
	return h.next.Handle(ctx, r)
}

// WithAttrs is for lines that all have something.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.next, h.pairs = h.next.WithAttrs(attrs), slices.Clip(h.pairs)
	for _, a := range attrs {
		h.take(h.prefix, a)
	}
	return h
}

// WithGroup is for lines whose names are in a group.
func (h handler) WithGroup(name string) slog.Handler {
	if h.next = h.next.WithGroup(name); name != "" {
		h.prefix += name + "."
	}
	return h
}

// take notes a name and its value.
func (h *handler) take(prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	switch {
	case value.Kind() == slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, in := range value.Group() {
			h.take(prefix, in)
		}
	case a.Equal(slog.Attr{}):
	case prefix == "" && a.Key == "companion":
		h.companion = clip(value.String())
	case len(h.pairs) < maxPairs:
		h.pairs = append(h.pairs, Pair{prefix + a.Key, clip(value.String())})
	}
}

// clip bounds a text, which is somebody else's and may be large, and leaves nothing in it that is no UTF-8.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	return text
}
