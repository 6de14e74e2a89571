package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/waittest"
)

// The crash tests run this test binary again as a child that appends under
// load, says what was acknowledged, and is cut off.

const (
	childPath = "COMPANIOND_TEST_CHILD"
	childSync = "COMPANIOND_TEST_SYNCHRONOUS"
	lockChild = "COMPANIOND_TEST_LOCK"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := appendForEver(path, os.Getenv(childSync)); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
	}
	if path := os.Getenv(openChild); path != "" {
		j, err := Open(Config{Path: path})
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		_ = j.Close() // the file is looked at afterwards
		os.Exit(0)
	}
	if path := os.Getenv(lockChild); path != "" {
		_, err := Open(Config{Path: path})
		fmt.Println(errors.Is(err, journal.ErrLocked), err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var childRooms = []string{"広場", "カフェ", "main", "夜の部屋"}

// appendForEver appends from eight goroutines, two a room, and prints a line
// "room seq id" after each acknowledgement, in one write.
func appendForEver(path, synchronous string) error {
	tune := usual()
	forks, keys := synchronous == forksToo, synchronous == keysToo
	if synchronous != "" && !forks && !keys {
		tune.synchronous = synchronous
	} else {
		tune.probe = 20 * time.Millisecond // the file of heads is cut off, too
	}
	j, err := open(Config{Path: path}, tune)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, room := range childRooms {
		h, err := j.Acquire(ctx, room, "child", time.Now())
		if err != nil {
			return err
		}
		fmt.Printf("%s %d %s%d\n", room, h.Seq, journal.OwnerID, h.Epoch)
	}
	fmt.Println("ready")
	if forks {
		return forkForEver(j)
	}
	if keys {
		return writeForEver(j)
	}
	failed := make(chan error)
	for g := range 2 * len(childRooms) {
		go func() { failed <- appendTo(ctx, j, childRooms[g%len(childRooms)], g) }()
	}
	return <-failed
}

func appendTo(ctx context.Context, j *Journal, room string, g int) error {
	body := []byte(`{"from":"aya","text":"` + strings.Repeat("あいう", 40) + `"}`)
	for i := 0; ; {
		heads, err := journaltest.Heads(ctx, j)
		if err != nil {
			return err
		}
		h := heads[room]
		for {
			id := fmt.Sprintf("%d-%d-%d", os.Getpid(), g, i)
			news := []journal.New{{ID: id, Kind: entry.KindSaid, At: time.Now(), Body: body}}
			if i%5 == 0 { // the first of two is acknowledged with the second
				news = append(news, journal.New{ID: id + "b", Kind: entry.KindVote, At: time.Now(), Body: body})
			}
			nh, err := j.Append(ctx, room, h, news...)
			if errors.Is(err, journal.ErrConflict) {
				break
			}
			if err != nil {
				return err
			}
			var line strings.Builder
			for k, n := range news {
				fmt.Fprintf(&line, "%s %d %s\n", room, h.Seq+1+uint64(k), n.ID)
			}
			if _, err := io.WriteString(os.Stdout, line.String()); err != nil {
				return err
			}
			h = nh
			i++
		}
	}
}

// ack is one acknowledged entry.
type ack struct {
	room string
	seq  uint64
	id   string
}

// child is a running child and what it has acknowledged so far.
type child struct {
	cmd   *exec.Cmd
	ready chan struct{}
	read  chan struct{} // closed at the end of its output
	mu    sync.Mutex    // held while a line is taken over
	acks  []ack
	errs  strings.Builder
}

func startChild(t testing.TB, path, synchronous string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), ready: make(chan struct{}), read: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childPath+"="+path, childSync+"="+synchronous)
	c.cmd.Stderr = &c.errs
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.read)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				close(c.ready)
				continue
			}
			var a ack
			if n, _ := fmt.Sscanf(lines.Text(), "%s %d %s", &a.room, &a.seq, &a.id); n == 3 {
				c.mu.Lock()
				c.acks = append(c.acks, a)
				c.mu.Unlock()
			}
		}
	}()
	return c
}

// waitReady waits until the child is under load.
func (c *child) waitReady(t testing.TB) {
	t.Helper()
	select {
	case <-c.ready:
	case <-c.read:
		_ = c.cmd.Wait()
		t.Fatalf("child ended: %s", c.errs.String())
	case <-time.After(waittest.Long):
		c.kill()
		t.Fatalf("child is not ready: %s", c.errs.String())
	}
}

// kill ends the child with SIGKILL and waits for the rest of its output.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.read
	_ = c.cmd.Wait()
}

// lost counts acknowledged entries that are not in the journal as they were,
// and fails on gaps, repetitions and broken chains after the heads known so
// far, which it brings up to date.
func lost(t testing.TB, j *Journal, acks []ack, known map[string]uint64) (n int) {
	t.Helper()
	there := map[string]map[uint64]string{}
	heads, err := journaltest.Heads(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	for room, h := range heads {
		es, err := j.Read(t.Context(), room, known[room], 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		there[room] = map[uint64]string{}
		for i, e := range es {
			if e.Seq != known[room]+1+uint64(i) {
				t.Fatalf("room %s: seq %d follows %d", room, e.Seq, known[room]+uint64(i))
			}
			there[room][e.Seq] = e.ID
		}
		if last := known[room] + uint64(len(es)); last != h.Seq {
			t.Fatalf("room %s: last entry is %d, head %d", room, last, h.Seq)
		}
		if bad, err := j.Verify(t.Context(), room, known[room]); bad != 0 || err != nil {
			t.Fatalf("room %s: verify: bad %d, %v", room, bad, err)
		}
		known[room] = h.Seq
	}
	for _, a := range acks {
		if there[a.room][a.seq] != a.id {
			n++
		}
	}
	return n
}
