package guestlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"

	"github.com/companiond/companiond/host/logtest"
)

// handLog is a Log whose clock tests set.
func handLog(rate int) (*Log, *logtest.Log, *time.Time) {
	out, now := &logtest.Log{}, time.Unix(1000, 0)
	g := New(out.Logger(), rate)
	g.now = func() time.Time { return now }
	return g, out, &now
}

func TestLogRate(t *testing.T) {
	g, out, now := handLog(1000)
	line := bytes.Repeat([]byte("x"), 100-lineFrame)
	for range 25 {
		g.Line(slog.LevelInfo, "log", line)
	}
	if n := strings.Count(out.String(), "module says"); n != 10 {
		t.Errorf("%d lines of 100 bytes in a second of 1000", n)
	}
	g.End()
	if strings.Contains(out.String(), "dropped") {
		t.Error("told of losses before the second was over")
	}
	*now = now.Add(time.Second)
	g.End()
	g.End()
	if want := fmt.Sprintf("bytes=%d", 15*len(line)); strings.Count(out.String(), "dropped") != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("want one line that tells of %s:\n%s", want, out.String())
	}
	g.Line(slog.LevelInfo, "log", line)
	if n := strings.Count(out.String(), "module says"); n != 11 {
		t.Errorf("%d lines, want 11: a new second allows more", n)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	g, out, _ := handLog(1 << 20)
	g.Write(&g.Out, bytes.Repeat([]byte("y"), 2*MaxLine+5))
	if n := strings.Count(out.String(), "module says"); n != 2 {
		t.Errorf("%d lines before the end", n)
	}
	g.Write(&g.Out, []byte("\n\n\nnext"))
	g.End()
	if n := strings.Count(out.String(), "module says"); n != 4 {
		t.Errorf("%d lines in all", n)
	}
	if len(g.Out.rest) != 0 {
		t.Errorf("%d bytes left over", len(g.Out.rest))
	}
}

// However output is cut into writes, the lines are the same.
func TestLinesDoNotDependOnWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab\nあ")), 0, 200, -1).Draw(t, "said"))
		g, out, _ := handLog(1 << 20)
		for rest := said; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			g.Write(&g.Out, rest[:n])
			rest = rest[n:]
		}
		g.End()
		var want strings.Builder
		h, whole, _ := handLog(1 << 20)
		for line := range strings.SplitSeq(string(said), "\n") {
			if line != "" {
				h.Line(slog.LevelInfo, "stdout", []byte(line))
			}
		}
		want.WriteString(whole.String())
		strip := func(s string) string { // without the times of the records
			var b strings.Builder
			for l := range strings.SplitSeq(s, "\n") {
				_, after, _ := strings.Cut(l, " ")
				b.WriteString(after + "\n")
			}
			return b.String()
		}
		if strip(out.String()) != strip(want.String()) {
			t.Fatalf("got\n%s\nwant\n%s", out.String(), want.String())
		}
	})
}

func TestLastWords(t *testing.T) {
	for want, lines := range map[string][2][]string{
		"":                    {},
		"panic: boom":         {nil, {"starting", "panic: boom", "", "goroutine 1 [running]:", "main.main()"}},
		"b":                   {nil, {"a", "b"}},
		"out":                 {{"out"}, nil},
		"err":                 {{"out"}, {"err"}},
		"fatal error: all":    {{"fatal error: all"}, {"err"}},
		"thread 'main' broke": {{"fine"}, {"thread 'main' broke", "note: run with"}},
	} {
		g, _, _ := handLog(1 << 20)
		g.Begin()
		for _, l := range lines[0] {
			g.Write(&g.Out, []byte(l+"\n"))
		}
		for _, l := range lines[1] {
			g.Write(&g.Err, []byte(l+"\n"))
		}
		if got := g.LastWords(); got != want {
			t.Errorf("last words %q, want %q", got, want)
		}
		g.Begin()
		if got := g.LastWords(); got != "" {
			t.Errorf("words %q of an earlier call", got)
		}
	}
}

func TestGuestLevels(t *testing.T) {
	for n, want := range map[abi.Level]slog.Level{
		abi.LevelDebug: slog.LevelDebug, abi.LevelInfo: slog.LevelInfo, abi.LevelWarn: slog.LevelWarn, abi.LevelError: slog.LevelError,
		-100: slog.LevelDebug, -1: slog.LevelDebug, 3: slog.LevelInfo, 7: slog.LevelWarn, 100: slog.LevelError,
	} {
		if got := Level(n); got != want {
			t.Errorf("level %d is %v, want %v", n, got, want)
		}
	}
}

func TestStrangeBytesInLog(t *testing.T) {
	g, out, _ := handLog(1 << 20)
	g.Line(slog.LevelInfo, "log", []byte("a\x00\x1b[31m\xff\nb"))
	if s := out.String(); strings.Count(s, "\n") != 1 || strings.ContainsAny(s, "\x00\x1b") || strings.IndexByte(s, 0xff) >= 0 {
		t.Errorf("logged %q", s)
	}
}

// TestSecretsAreHidden: whatever a module says, and on which stream, secrets are taken out of it.
func TestSecretsAreHidden(t *testing.T) {
	g, out, _ := handLog(1 << 20)
	g.Hide(func(text string) string { return strings.ReplaceAll(text, "hunter2", "(secret)") })
	g.Line(slog.LevelInfo, "log", []byte("it is hunter2"))
	g.Write(&g.Err, []byte("panic: hunter2\n"))
	if s := out.String(); strings.Contains(s, "hunter2") || strings.Count(s, "(secret)") != 2 {
		t.Error(s)
	}
}
