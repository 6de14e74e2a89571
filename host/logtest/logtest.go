// Package logtest gives a test a log that it can read while it is written. The daemon
// never uses it.
package logtest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Log keeps what is written to it. The zero value is empty and ready.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Logger writes to the log as text, from debug up.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Warnings gives the lines of a [Log.Logger] at WARN with a word in them.
func (l *Log) Warnings(word string) (lines []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=WARN") && strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Count gives how often s is in the log.
func (l *Log) Count(s string) int { return strings.Count(l.String(), s) }
