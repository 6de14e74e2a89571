//go:build unix

package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/logtest"
)

// ear is where a manager listens.
func ear(t *testing.T) func() []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cd") // the path of a socket may be no longer than 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := filepath.Join(dir, "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", at)
	return func() (all []string) { // what was sent is there at once
		buf := make([]byte, 4096)
		for {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			n, err := conn.Read(buf)
			if err != nil {
				return all
			}
			all = append(all, string(buf[:n]))
		}
	}
}

// Each state is one message, whatever is in what people are shown.
func TestStates(t *testing.T) {
	heard := ear(t)
	m := New(slog.New(slog.DiscardHandler))
	m.Ready("up\nSTOPPING=1")
	m.Status("busy")
	m.Reload()("anew")
	m.Stopping()
	got := heard()
	if len(got) == 5 && strings.HasPrefix(got[2], "RELOADING=1\nMONOTONIC_USEC=") {
		got[2] = "RELOADING=1"
	}
	want := "READY=1\nSTATUS=up STOPPING=1|STATUS=busy|RELOADING=1|READY=1\nSTATUS=anew|STOPPING=1\nSTATUS=stopping"
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	var nobody *Manager
	nobody.Ready("")
	nobody.Reload()("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := nobody.Watch(ctx, nil); err != nil || len(heard()) > 0 {
		t.Error(err)
	}
}

// The watchdog hears of a daemon that works, twice within its time, and of no other.
func TestWatch(t *testing.T) {
	heard := ear(t)
	t.Setenv("WATCHDOG_USEC", "30000000")
	log := &logtest.Log{}
	asked := 0
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- New(log.Logger()).Watch(ctx, func(ctx context.Context) error {
				switch asked++; asked {
				case 2:
					return errors.New("room main: asleep at the wheel")
				case 3:
					<-ctx.Done() // it hangs
					return ctx.Err()
				}
				return nil
			})
		}()
		time.Sleep(61 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if got := heard(); asked < 5 || len(got) != asked-2 || got[0] != "WATCHDOG=1" {
		t.Errorf("asked %d times, told %q", asked, got)
	}
	if !strings.Contains(log.String(), "asleep at the wheel") {
		t.Error(log.String())
	}
	synctest.Test(t, func(t *testing.T) { // one that hangs for good is named before the manager, who heard of it at the start, ends it
		log := &logtest.Log{}
		ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
		defer cancel()
		asked := 0
		if err := New(log.Logger()).Watch(ctx, func(ctx context.Context) error {
			if asked++; asked == 1 {
				return nil
			}
			<-ctx.Done()
			return errors.New("room main: asleep for good")
		}); err != nil || !strings.Contains(log.String(), "asleep for good") {
			t.Errorf("%v %s", err, log.String())
		}
	})
	for _, value := range []string{"", "0", "soon"} {
		t.Setenv("WATCHDOG_USEC", value)
		synctest.Test(t, func(t *testing.T) { // it ends with the daemon, and not before
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			began := time.Now()
			if err := New(log.Logger()).Watch(ctx, nil); err != nil || time.Since(began) < time.Hour {
				t.Errorf("%q: %v after %v", value, err, time.Since(began))
			}
		})
	}
}

// A line in the journal begins with its priority.
func TestPrioritised(t *testing.T) {
	var b strings.Builder
	o := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	log := slog.New(Prioritised(&b, func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, o) }))
	log.Debug("no")
	log.With("a", 1).WithGroup("g").Info("i", "b", 2)
	log.Warn("w")
	log.Error("e\n<0>x")
	log.Log(t.Context(), slog.LevelError+4, "worse")
	want := "<6>level=INFO msg=i a=1 g.b=2\n<4>level=WARN msg=w\n<3>level=ERROR msg=\"e\\n<0>x\"\n<3>level=ERROR+4 msg=worse\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
