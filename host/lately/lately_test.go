package lately_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/lately"
)

func newLog(level slog.Level) (*lately.Log, *slog.Logger) {
	l := lately.New()
	return l, slog.New(l.Handler(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: level})))
}

// shown is lines in short.
func shown(lines []lately.Line) string {
	var all []string
	for _, l := range lines {
		row := fmt.Sprintf("%d %s %s", l.Seq, l.Level, l.Message)
		if l.Companion != "" {
			row += " @" + l.Companion
		}
		for _, p := range l.Pairs {
			row += " " + p.Name + "=" + p.Value
		}
		all = append(all, row)
	}
	return strings.Join(all, "; ")
}

// TestRead: lines are given by level, by whom they are about and by what was read before, with all that is in them.
func TestRead(t *testing.T) {
	l, log := newLog(slog.LevelInfo)
	log.Debug("not written down")
	log.Info("ready", "rooms", 2, "took", 3*time.Second)
	aya := log.With("companion", "aya")
	aya.Warn("file refused", "file", "aya.js", "err", errors.New("no"))
	aya.WithGroup("call").With("op", "vote").Error("late", slog.Group("by", "ms", 5), "companion", "x")
	for _, c := range []struct {
		f    lately.Filter
		want string
	}{
		{lately.Filter{}, "1 INFO ready rooms=2 took=3s; 2 WARN file refused @aya file=aya.js err=no; 3 ERROR late @aya call.op=vote call.by.ms=5 call.companion=x"},
		{lately.Filter{Level: slog.LevelError}, "3 ERROR late @aya call.op=vote call.by.ms=5 call.companion=x"},
		{lately.Filter{Companion: "aya", Limit: 1, Level: slog.LevelWarn}, "3 ERROR late @aya call.op=vote call.by.ms=5 call.companion=x"},
		{lately.Filter{Since: 1, Limit: 5, Level: slog.LevelWarn}, "2 WARN file refused @aya file=aya.js err=no; 3 ERROR late @aya call.op=vote call.by.ms=5 call.companion=x"},
		{lately.Filter{Companion: "kyoko"}, ""},
		{lately.Filter{Since: 3}, ""},
	} {
		if got, head := l.Read(c.f); shown(got) != c.want || head != 3 {
			t.Errorf("%+v: %s, %d\nwant %s", c.f, shown(got), head, c.want)
		}
	}
}

// TestBounds: neither many lines nor long ones take more than there is room for.
func TestBounds(t *testing.T) {
	l, log := newLog(slog.LevelInfo)
	for i := range lately.MaxLines + 10 {
		log.Info("x", "i", i)
	}
	lines, head := l.Read(lately.Filter{})
	if len(lines) != lately.MaxLines || lines[0].Seq != 11 || head != lately.MaxLines+10 {
		t.Errorf("%d lines from %d to %d", len(lines), lines[0].Seq, head)
	}
	long := strings.Repeat("あ", 3000)
	for range 40 {
		args := []any{}
		for i := range 100 {
			args = append(args, fmt.Sprint(i), long)
		}
		log.Info(long, args...)
	}
	lines, _ = l.Read(lately.Filter{})
	total := 0
	for _, line := range lines {
		total += len(line.Message)
		for _, p := range line.Pairs {
			total += len(p.Value)
		}
	}
	if total > lately.MaxBytes || len(lines) < 2 || !strings.HasSuffix(lines[0].Message, "…") || strings.Contains(lines[0].Message, "\xe3…") {
		t.Errorf("%d lines of %d bytes, the first ends in %q", len(lines), total, lines[0].Message[len(lines[0].Message)-10:])
	}
}

// TestWait: whoever waits is given the next line that is wanted, or none in time.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, log := newLog(slog.LevelInfo)
		log.Info("before")
		got := make(chan string)
		go func() {
			lines, head := l.Wait(t.Context(), lately.Filter{Since: 1, Level: slog.LevelWarn})
			got <- fmt.Sprint(shown(lines), head)
		}()
		synctest.Wait()
		log.Info("not this")
		synctest.Wait()
		log.Warn("this")
		if s := <-got; s != "3 WARN this3" {
			t.Error(s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if lines, head := l.Wait(ctx, lately.Filter{Since: 3}); len(lines) != 0 || head != 3 {
			t.Error(lines, head)
		}
	})
}

// TestHandler: what is handed on is what slog promises, whatever is kept of it.
func TestHandler(t *testing.T) {
	var b bytes.Buffer
	h := lately.New().Handler(slog.NewTextHandler(&b, nil))
	err := slogtest.TestHandler(h, func() (all []map[string]any) {
		for row := range strings.Lines(b.String()) {
			at := map[string]any{}
			for _, word := range strings.Fields(row) {
				name, value, _ := strings.Cut(word, "=")
				in := at
				groups := strings.Split(name, ".")
				for _, g := range groups[:len(groups)-1] {
					if _, ok := in[g].(map[string]any); !ok {
						in[g] = map[string]any{}
					}
					in = in[g].(map[string]any)
				}
				in[groups[len(groups)-1]] = value
			}
			all = append(all, at)
		}
		return all
	})
	if err != nil {
		t.Error(err)
	}
}
