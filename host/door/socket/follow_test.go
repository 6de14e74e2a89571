package socket_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
)

// cutter makes connections that break after so many bytes from the server, by
// the list; after the list they hold.
type cutter struct {
	dial func(context.Context, string, string) (net.Conn, error)
	mu   sync.Mutex
	cuts []int
}

func (c *cutter) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, addr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || len(c.cuts) == 0 {
		return conn, err
	}
	left := c.cuts[0]
	c.cuts = c.cuts[1:]
	return &cutConn{Conn: conn, left: left}, nil
}

type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Conn.Close()
		return 0, errors.New("cut")
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

var errEnough = errors.New("enough")

// However often and wherever the line breaks, in a handshake, in a frame or
// between two, Follow gives every entry once and in order.
func TestFollowNeverMissesNorRepeats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.IntRange(0, 40).Draw(rt, "before")
		since := rapid.IntRange(0, before).Draw(rt, "since")
		during := rapid.IntRange(1, 60).Draw(rt, "during")
		batch := rapid.IntRange(1, 20).Draw(rt, "batch")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 4000), 0, 12).Draw(rt, "cuts")
		last := 1 + before + during // the first entry says whose room it is
		var got []uint64
		var err error
		onStage(t, socket.Config{}, func(s *stage) {
			s.room.Batch(batch)
			s.room.Chat(before)
			var talk sync.WaitGroup
			talk.Go(func() {
				for range during {
					time.Sleep(100 * time.Millisecond)
					s.room.Chat(1)
				}
			})
			cut := &cutter{dial: s.pipe.Dial, cuts: cuts}
			c := socket.Client{URL: "http://localhost", Dial: cut.Dial}
			err = c.Follow(context.Background(), "main", uint64(since), func(e entry.Entry) error {
				got = append(got, e.Seq)
				if e.Seq == uint64(last) {
					return errEnough
				}
				return nil
			})
			talk.Wait()
		})
		if !errors.Is(err, errEnough) || len(got) != last-since {
			rt.Fatalf("%v after %d entries of %d", err, len(got), last-since)
		}
		for i, seq := range got {
			if seq != uint64(since+i+1) {
				rt.Fatalf("entry %d in place %d: %v", seq, i, got)
			}
		}
	})
}

func TestFollowWaitsLongerAndLonger(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		var waits []time.Duration
		ctx, cancel := context.WithCancel(context.Background())
		c := socket.Client{
			URL:  "http://localhost",
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") },
			Retry: func(err error, wait time.Duration) {
				if waits = append(waits, wait); len(waits) == 9 {
					cancel()
				}
			},
		}
		err := c.Follow(ctx, "main", 0, func(entry.Entry) error { return nil })
		ms := time.Millisecond
		want := []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 10000 * ms, 10000 * ms, 10000 * ms}
		if !errors.Is(err, context.Canceled) || !slices.Equal(waits, want) {
			s.Errorf("%v %v", err, waits)
		}
	})
}

func TestFollowStartsOverWithItsPatienceAfterProgress(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(3)
		var waits []time.Duration
		cut := &cutter{dial: s.pipe.Dial, cuts: []int{0, 0, 400, 0, 0}}
		c := socket.Client{URL: "http://localhost", Dial: cut.Dial, Retry: func(_ error, w time.Duration) { waits = append(waits, w) }}
		err := c.Follow(context.Background(), "main", 0, func(e entry.Entry) error {
			if e.Seq == s.head() {
				return errEnough
			}
			return nil
		})
		ms := time.Millisecond
		if !errors.Is(err, errEnough) || !slices.Equal(waits, []time.Duration{250 * ms, 500 * ms, 250 * ms, 500 * ms, 1000 * ms}) {
			s.Errorf("%v %v", err, waits)
		}
	})
}

func TestFollowGivesUpOnWhatWillNotChange(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(2)
		never := func(entry.Entry) error { return nil }
		for _, tc := range []struct {
			url, room string
			since     uint64
			want      abi.Code
		}{
			{"http://localhost", "attic", 0, abi.CodeNotFound},
			{"http://localhost", "a/../b", 0, abi.CodeNotFound},
			{"http://localhost", "main", s.head() + 1, abi.CodeConflict},
			{"localhost:3000", "main", 0, abi.CodeInvalid},
			{"nowhere", "main", 0, abi.CodeInvalid},
			{"ftp://localhost", "main", 0, abi.CodeInvalid},
		} {
			c := socket.Client{URL: tc.url, Dial: s.pipe.Dial}
			if err := c.Follow(context.Background(), tc.room, tc.since, never); abi.CodeOf(err) != tc.want {
				s.Errorf("%+v: %v", tc, err)
			}
		}
		evil := socket.Client{URL: "http://localhost", Dial: s.pipe.Dial, Header: http.Header{"Origin": {"http://evil.example"}}}
		if err := evil.Follow(context.Background(), "main", 0, never); abi.CodeOf(err) != abi.CodeDenied {
			s.Errorf("denied: %v", err)
		}
	})
}

// A daemon that is up but cannot serve the room is asked again.
func TestFollowOutlastsTrouble(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(1)
		s.room.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		go func() { time.Sleep(time.Minute); s.room.Trouble(nil) }()
		var heard error
		c := socket.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(err error, _ time.Duration) { heard = err }}
		err := c.Follow(context.Background(), "main", 0, func(entry.Entry) error { return errEnough })
		if !errors.Is(err, errEnough) || abi.CodeOf(heard) != abi.CodeUnavailable {
			s.Errorf("%v, heard %v", err, heard)
		}
	})
}

// A daemon that stays silent, pings included, is dead.
func TestFollowLeavesASilentDaemon(t *testing.T) {
	onStage(t, socket.Config{Ping: time.Hour, PongWait: 2 * time.Hour}, func(s *stage) {
		start := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		c := socket.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(error, time.Duration) { cancel() }}
		_ = c.Follow(ctx, "main", 0, func(entry.Entry) error { return nil })
		if time.Since(start) != time.Minute {
			s.Errorf("left after %v", time.Since(start))
		}
	})
}

func TestFollowStaysWithAQuietRoom(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		c := socket.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(err error, _ time.Duration) { s.Errorf("lost: %v", err) }}
		if err := c.Follow(ctx, "main", 0, func(entry.Entry) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			s.Error(err)
		}
	})
}
