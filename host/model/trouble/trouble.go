// Package trouble says in the log what is wrong with a language model, once for each reason, and when it is over: also
// where models come and go with every request it writes a few lines a minute.
//
// It never decides what becomes of a request, and knows none of their words.
package trouble

import (
	"log/slog"
	"sync"
	"time"
)

// most is how many lines there are in a minute.
const (
	most   = 6
	minute = time.Minute
)

// Log is of one model. It is safe for concurrent use; Log and Model must be set.
type Log struct {
	Log   *slog.Logger
	Model string // its name in the configuration

	mu      sync.Mutex
	told    string          // why it does not answer, as the log says; "": it does
	useless map[string]bool // what was asked for, of which the log says that its answers are of no use
	lines   []time.Time     // of the last minute
	left    int             // lines that were left out since the last one
}

// Away says that the model does not answer, and why.
func (l *Log) Away(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told != why && l.may() {
		l.told = why
		l.warn("the model does not answer: its characters listen, and say nothing when they are asked", "why", why)
	}
}

// Useless says that the model answers what it is asked for in a way that is of no use.
func (l *Log) Useless(asked, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back()
	if l.useless[asked] || !l.may() {
		return
	}
	if l.useless == nil {
		l.useless = map[string]bool{}
	}
	l.useless[asked] = true
	l.warn("an answer of the model cannot be used: what it was asked for is done without, and all else goes on", "asked_for", asked, "why", why)
}

// Answered says that the model gave an answer that is of use.
func (l *Log) Answered(asked string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back()
	delete(l.useless, asked)
}

// back says that it answers, where the log says otherwise.
func (l *Log) back() {
	if l.told != "" && l.may() {
		l.told = ""
		l.line(l.Log.Info, "the model answers again")
	}
}

// may says whether there is place for a line. Where there is none the log says it with the first request behind that, if it still is so.
func (l *Log) may() bool {
	now := time.Now()
	for len(l.lines) > 0 && now.Sub(l.lines[0]) >= minute {
		l.lines = l.lines[1:]
	}
	if len(l.lines) >= most {
		l.left++
		return false
	}
	l.lines = append(l.lines, now)
	return true
}

func (l *Log) warn(what string, args ...any) { l.line(l.Log.Warn, what, args...) }

func (l *Log) line(write func(string, ...any), what string, args ...any) {
	args = append([]any{"model", l.Model}, args...)
	if l.left > 0 {
		args = append(args, "left_out", l.left)
	}
	l.left = 0
	write(what, args...)
}
