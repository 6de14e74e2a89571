package plain_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/socket/plain"
)

// Frames as RFC 6455, 5.2, has them.
func TestText(t *testing.T) {
	for n, head := range map[int]string{
		0: "\x81\x00", 1: "\x81\x01", 125: "\x81\x7d",
		126: "\x81\x7e\x00\x7e", 65535: "\x81\x7e\xff\xff",
		65536: "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00",
	} {
		message := bytes.Repeat([]byte("a"), n)
		if got := plain.Text(message); string(got) != head+string(message) {
			t.Errorf("%d bytes: %d, beginning with %q", n, len(got), got[:min(10, len(got))])
		}
	}
}

// lines gives n frames, and where each ends.
func lines(n, size int) (frames []byte, ends []int) {
	for i := range n {
		frames = plain.AppendText(frames, bytes.Repeat([]byte{byte('a' + i%26)}, size))
		ends = append(ends, len(frames))
	}
	return frames, ends
}

// tcp is a connection of the system, whose far side nobody reads unless the test does.
func tcp(t *testing.T) (*plain.Conn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return plain.New(near), far
}

// What is tried until the system takes no more goes on where it was: no byte is missing,
// none comes twice, and nothing comes between the parts of a frame.
func TestTriedFramesStayWhole(t *testing.T) {
	c, far := tcp(t)
	frames, ends := lines(64, 5000)
	var want []byte
	for n := 0; ; n++ {
		gone, all := c.Try(frames, ends)
		if gone > 0 {
			want = append(want, frames[:ends[gone-1]]...)
		}
		if !all {
			break
		}
		if n > 10_000 {
			t.Skip("here a write never has to wait")
		}
	}
	if gone, all := c.Try(frames, ends); gone != 0 || all {
		t.Fatalf("%d frames went before the one was ended", gone)
	}
	pings := plain.Text([]byte("between"))
	want = append(want, pings...)
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(far)
		got <- all
	}()
	if err := c.Send(pings, time.Minute); err != nil {
		t.Fatal(err)
	}
	if gone, all := c.Try(frames[:ends[0]], ends[:1]); gone == 1 && all {
		want = append(want, frames[:ends[0]]...)
	}
	_ = c.Close()
	if got := <-got; !bytes.Equal(got, want) {
		t.Errorf("%d bytes came, want %d, the same up to %d", len(got), len(want), same(got, want))
	}
}

func same(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// A deadline that has passed since is none for what is tried later.
func TestTryAfterADeadline(t *testing.T) {
	c, far := tcp(t)
	if err := c.Send(plain.Text([]byte("a")), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Millisecond) // the system's clock
	_ = c.SetWriteDeadline(time.Now())
	if gone, all := c.Try(plain.Text([]byte("b")), []int{3}); gone != 1 || !all {
		t.Errorf("%d %v", gone, all)
	}
	got := make([]byte, 6)
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "\x81\x01a\x81\x01b" {
		t.Errorf("%q %v", got, err)
	}
}

// Where the system cannot be asked nothing is tried.
func TestTryOnAPipe(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	if gone, all := plain.New(near).Try(plain.Text(nil), []int{2}); gone != 0 || all {
		t.Errorf("%d %v", gone, all)
	}
}

// The goodbye waits for whoever writes, and is not lost behind a ping; nothing comes behind it.
func TestGoodbyeIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := plain.New(near)
		var all sync.WaitGroup
		all.Go(func() {
			if err := c.Ping(5 * time.Second); err != nil {
				t.Errorf("ping: %v", err)
			}
		})
		synctest.Wait() // the ping is on its way
		all.Go(func() {
			if err := c.Goodbye(websocket.FormatCloseMessage(4008, "slow"), time.Now().Add(3*time.Second)); err != nil {
				t.Errorf("goodbye: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			_, _ = c.Write([]byte{0x8a, 0}) // a pong of the library's comes to nothing, or goes first
			if err := c.Send(plain.Text([]byte("late")), time.Second); !errors.Is(err, plain.ErrGone) {
				t.Errorf("behind the goodbye: %v", err)
			}
			_ = c.Close()
		})
		time.Sleep(2 * time.Second)
		got, _ := io.ReadAll(far)
		got = bytes.Replace(got, []byte{0x8a, 0}, nil, 1)
		if string(got) != "\x89\x00\x88\x06\x0f\xa8slow" {
			t.Errorf("%q", got)
		}
		all.Wait()
	})
}

// A goodbye, and whatever is on its way as the end comes, keeps to its deadline.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c, began := plain.New(near), time.Now()
		failed := make(chan error)
		go func() { failed <- c.Send(plain.Text(nil), time.Hour) }()
		synctest.Wait()
		c.Limit(began.Add(time.Second))
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := c.Goodbye(nil, began.Add(time.Minute)); err == nil || time.Since(began) != time.Second {
			t.Errorf("a goodbye behind half a frame: %v after %v", err, time.Since(began))
		}
		_ = c.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c, began := plain.New(near), time.Now()
		c.Limit(began.Add(time.Second))
		if err := c.Send(plain.Text(nil), time.Hour); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		_ = c.Close()
	})
}
