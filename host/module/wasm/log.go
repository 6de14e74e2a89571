package wasm

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	maxLine   = 4 << 10 // bytes of one logged line; longer lines are cut into several
	lineFrame = 64      // bytes a line counts beside its own, for time and attributes
)

// guestLog writes what one module says to the daemon's log, up to a rate. Its
// methods are called by whoever runs the module's instance, one at a time.
type guestLog struct {
	log    *slog.Logger
	rate   int // bytes a second
	now    func() time.Time
	window time.Time // start of the second that used counts in
	used   int
	lost   int // bytes dropped and not yet told

	out, err stream
}

func newGuestLog(log *slog.Logger, rate int) *guestLog {
	return &guestLog{log: log, rate: rate, now: time.Now, out: stream{name: "stdout"}, err: stream{name: "stderr"}}
}

// line logs one line if the rate allows it.
func (g *guestLog) line(level slog.Level, stream string, text []byte) {
	if !g.allow(len(text)) {
		return
	}
	g.log.LogAttrs(context.Background(), level, "module says",
		slog.String("stream", stream), slog.String("line", strings.ToValidUTF8(string(text), "\uFFFD")))
}

// allow takes n bytes and a frame from the rate, or counts them as lost. A
// second that lost something is told about when the next one begins.
func (g *guestLog) allow(n int) bool {
	if now := g.now(); now.Sub(g.window) >= time.Second {
		g.tellLost()
		g.window, g.used = now, 0
	}
	if g.used+n+lineFrame > g.rate {
		g.lost += n
		return false
	}
	g.used += n + lineFrame
	return true
}

// tellLost says once how much was dropped since it last said so.
func (g *guestLog) tellLost() {
	if g.lost > 0 {
		g.log.Warn("module writes too much to the log; some was dropped", "bytes", g.lost, "limit_per_second", g.rate)
		g.lost = 0
	}
}

// begin starts a call: the last words of an earlier one are no longer of interest.
func (g *guestLog) begin() { g.out.last, g.err.last = "", "" }

// end finishes a call: unfinished lines are logged, and losses told if their
// second is over.
func (g *guestLog) end() {
	for _, s := range []*stream{&g.out, &g.err} {
		if len(s.rest) > 0 {
			g.emit(s, s.rest)
			s.rest = s.rest[:0]
		}
	}
	if g.lost > 0 && g.now().Sub(g.window) >= time.Second {
		g.tellLost()
	}
}

// stream is standard output or error of a module.
type stream struct {
	name string
	rest []byte // a line not yet ended, at most maxLine bytes
	last string // the line of this call that says best what went wrong
}

// write logs the lines of p and keeps what has no end yet.
func (g *guestLog) write(s *stream, p []byte) {
	for len(p) > 0 {
		line, after, ended := bytes.Cut(p, []byte{'\n'})
		if room := maxLine - len(s.rest); len(line) > room {
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

func (g *guestLog) emit(s *stream, line []byte) {
	if len(line) == 0 {
		return
	}
	if !complaint(s.last) {
		s.last = strings.ToValidUTF8(string(line[:min(len(line), 256)]), "\uFFFD")
	}
	g.line(slog.LevelInfo, s.name, line)
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

// guestLevel maps the level a guest gives to log, see abi.Level. They are slog's,
// four apart; what is between two of them is the lower one.
func guestLevel(n abi.Level) slog.Level {
	return slog.Level(min(max(n, abi.LevelDebug), abi.LevelError) &^ 3)
}

// lastWords gives what the call's output says best of why it ended.
func (g *guestLog) lastWords() string {
	if g.err.last == "" || complaint(g.out.last) && !complaint(g.err.last) {
		return g.out.last
	}
	return g.err.last
}
