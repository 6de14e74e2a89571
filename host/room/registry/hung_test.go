//go:build unix

package registry_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/service"
)

// stuck is a journal that does not come back from one of its rooms while it hangs, whatever the context says.
type stuck struct {
	journal.Journal
	room  string
	hangs atomic.Bool
	let   chan struct{}
}

func (s *stuck) Append(ctx context.Context, room string, h journal.Head, n ...journal.New) (journal.Head, error) {
	if room == s.room && s.hangs.Load() {
		<-s.let
	}
	return s.Journal.Append(ctx, room, h, n...)
}

// watchdog gives how often the service manager was told that the daemon works since it was last asked. It never waits.
func watchdog(t *testing.T) func() int {
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
	t.Setenv("WATCHDOG_USEC", "30000000")
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return func() (fed int) {
		buf := make([]byte, 4096)
		for {
			n, took := 0, error(nil)
			if err := raw.Read(func(fd uintptr) bool {
				n, _, took = syscall.Recvfrom(int(fd), buf, syscall.MSG_DONTWAIT)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if took != nil {
				return fed
			}
			if string(buf[:n]) == "WATCHDOG=1" {
				fed++
			}
		}
	}
}

// TestAHungRoom: the loop of one room hangs, and the process does not. The service manager hears nothing from then on, the
// log names the room, and others talk all the same; where the room goes on in time, so does the watchdog.
func TestAHungRoom(t *testing.T) {
	fed := watchdog(t)
	log := &logtest.Log{}
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings("main"), settings("attic"))
		j := &stuck{Journal: h.journal, room: "attic", let: make(chan struct{})}
		h.journal = j
		h.run()
		defer h.end()
		h.meet()
		h.say("main", "hello")
		h.say("attic", "hello")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = service.New(log.Logger()).Watch(ctx, h.Answers) }() // it ends with ctx, and answers nil
		time.Sleep(31 * time.Second)
		if n := fed(); n != 3 { // at 0, 15 and 30
			t.Errorf("a daemon that works told of it %d times in 31 seconds", n)
		}
		j.hangs.Store(true)
		attic := h.room("attic")
		said := make(chan error, 1)
		go func() {
			_, err := attic.Say(context.Background(), rooms.Utterance{From: "taro", Text: "is anybody there?"})
			said <- err
		}()
		time.Sleep(time.Second)
		for range 3 {
			time.Sleep(30 * time.Second)
			h.say("main", "others talk")
		}
		if n := fed(); n != 0 {
			t.Errorf("the watchdog was fed %d times while a room hung", n)
		}
		if !strings.Contains(log.String(), "room attic: timeout: the room does not answer") {
			t.Errorf("the log does not say which: %s", log)
		}
		j.hangs.Store(false)
		close(j.let)
		<-said // late, and so perhaps not acknowledged
		time.Sleep(31 * time.Second)
		if fed() == 0 {
			t.Error("the room goes on, and nobody is told")
		}
	})
}
