// Package guestlog writes what a module says, on standard output, standard error
// and in calls of log, to the daemon's log: line by line, up to a rate, with its last words at hand.
//
// It never writes a byte of a module as it is, and knows nothing of how modules run.
package guestlog

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	MaxLine   = 4 << 10 // bytes of one logged line; longer lines are cut into several
	lineFrame = 64      // bytes a line counts beside its own, for time and attributes
)

// Log writes what one module says to the daemon's log, up to a rate. Its
// methods are called by whoever runs the module's instance, one at a time.
type Log struct {
	log    *slog.Logger
	rate   int // bytes a second
	now    func() time.Time
	window time.Time // start of the second that used counts in
	used   int
	lost   int // bytes dropped and not yet told

	hides atomic.Pointer[func(text string) string]

	Out, Err Stream
}

// Hide has secrets taken out of each line. It may be called at any time.
func (g *Log) Hide(secrets func(text string) string) { g.hides.Store(&secrets) }

// New makes a log that writes so many bytes a second to log.
func New(log *slog.Logger, rate int) *Log {
	return &Log{log: log, rate: rate, now: time.Now, Out: Stream{name: "stdout"}, Err: Stream{name: "stderr"}}
}

// Line logs one line if the rate allows it.
func (g *Log) Line(level slog.Level, stream string, text []byte) {
	if !g.allow(len(text)) {
		return
	}
	line := strings.ToValidUTF8(string(text), "\uFFFD")
	if hides := g.hides.Load(); hides != nil {
		line = (*hides)(line)
	}
	g.log.LogAttrs(context.Background(), level, "module says", slog.String("stream", stream), slog.String("line", line))
}

// allow takes n bytes and a frame from the rate, or counts them as lost. A
// second that lost something is told about when the next one begins.
func (g *Log) allow(n int) bool {
	if now := g.now(); now.Sub(g.window) >= time.Second {
		g.TellLost()
		g.window, g.used = now, 0
	}
	if g.used+n+lineFrame > g.rate {
		g.lost += n
		return false
	}
	g.used += n + lineFrame
	return true
}

// TellLost says once how much was dropped since it last said so.
func (g *Log) TellLost() {
	if g.lost > 0 {
		g.log.Warn("module writes too much to the log; some was dropped", "bytes", g.lost, "limit_per_second", g.rate)
		g.lost = 0
	}
}

// Begin starts a call: the last words of an earlier one are no longer of interest.
func (g *Log) Begin() { g.Out.last, g.Err.last = "", "" }

// End finishes a call: unfinished lines are logged, and losses told if their
// second is over.
func (g *Log) End() {
	for _, s := range []*Stream{&g.Out, &g.Err} {
		if len(s.rest) > 0 {
			g.emit(s, s.rest)
			s.rest = s.rest[:0]
		}
	}
	if g.lost > 0 && g.now().Sub(g.window) >= time.Second {
		g.TellLost()
	}
}

// Stream is standard output or error of a module.
type Stream struct {
	name string
	rest []byte // a line not yet ended, at most MaxLine bytes
	last string // the line of this call that says best what went wrong
}

// Write logs the lines of p and keeps what has no end yet.
func (g *Log) Write(s *Stream, p []byte) {
	for len(p) > 0 {
		line, after, ended := bytes.Cut(p, []byte{'\n'})
		if room := MaxLine - len(s.rest); len(line) > room {
			line, after, ended = p[:room], p[room:], true
		}
		s.rest = append(s.rest, line...)
		p = after
		if ended {
			g.emit(s, s.rest)
			s.rest = s.rest[:0]
		}
	}
}

func (g *Log) emit(s *Stream, line []byte) {
	if len(line) == 0 {
		return
	}
	if !complaint(s.last) {
		s.last = strings.ToValidUTF8(string(line[:min(len(line), 256)]), "\uFFFD")
	}
	g.Line(slog.LevelInfo, s.name, line)
}

// complaint says whether a line is how Go, Rust or C say why they give up; what
// follows it is a stack trace.
func complaint(line string) bool {
	for _, start := range []string{"panic: ", "fatal error: ", "runtime: ", "thread '", "Assertion failed", "abort: "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// Level maps the level a guest gives to log, see abi.Level. They are slog's,
// four apart; what is between two of them is the lower one.
func Level(n abi.Level) slog.Level {
	return slog.Level(min(max(n, abi.LevelDebug), abi.LevelError) &^ 3)
}

// LastWords gives what the call's output says best of why it ended.
func (g *Log) LastWords() string {
	if g.Err.last == "" || complaint(g.Out.last) && !complaint(g.Err.last) {
		return g.Out.last
	}
	return g.Err.last
}
