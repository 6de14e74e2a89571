package socket_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/socket/follow"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
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
			c := follow.Client{URL: "http://localhost", Dial: cut.Dial}
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
		c := follow.Client{
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
		c := follow.Client{URL: "http://localhost", Dial: cut.Dial, Retry: func(_ error, w time.Duration) { waits = append(waits, w) }}
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
			c := follow.Client{URL: tc.url, Dial: s.pipe.Dial}
			if err := c.Follow(context.Background(), tc.room, tc.since, never); abi.CodeOf(err) != tc.want {
				s.Errorf("%+v: %v", tc, err)
			}
		}
		evil := follow.Client{URL: "http://localhost", Dial: s.pipe.Dial, Header: http.Header{"Origin": {"http://evil.example"}}}
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
		c := follow.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(err error, _ time.Duration) { heard = err }}
		err := c.Follow(context.Background(), "main", 0, func(entry.Entry) error { return errEnough })
		if !errors.Is(err, errEnough) || abi.CodeOf(heard) != abi.CodeUnavailable {
			s.Errorf("%v, heard %v", err, heard)
		}
	})
}

// An entry that cannot be encoded is told of once, and what comes later is still given.
func TestFollowGoesOnBehindWhatCannotBeRead(t *testing.T) {
	asBroken := func(h *doortest.House) rooms.Directory { return broken{h} }
	onStageOf(t, socket.Config{}, asBroken, func(s *stage) {
		s.room.Chat(3)
		bad := s.head()
		var got []uint64
		var told []string
		c := follow.Client{
			URL: "http://localhost", Dial: s.pipe.Dial,
			Retry: func(err error, _ time.Duration) { s.Errorf("lost: %v", err) },
			Unreadable: func(first, last uint64, why error) {
				told = append(told, fmt.Sprintf("%d-%d %v", first, last, why))
				go func() { time.Sleep(time.Minute); s.room.Chat(1) }() // it is followed by then
			},
		}
		short, end := context.WithTimeout(context.Background(), time.Hour)
		defer end()
		err := c.Follow(short, "main", bad-2, func(e entry.Entry) error {
			if got = append(got, e.Seq); e.Seq > bad {
				return errEnough
			}
			return nil
		})
		if want := fmt.Sprintf("%d-%d its body is no JSON", bad, bad); !errors.Is(err, errEnough) || !slices.Equal(got, []uint64{bad - 1, bad + 1}) || !slices.Equal(told, []string{want}) {
			s.Errorf("%v, got %v, told %q, want %q", err, got, told, want)
		}
		time.Sleep(time.Minute) // until nothing is at hand any more
		bad, c.Unreadable = s.head(), nil
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err = c.Follow(ctx, "main", bad-1, func(entry.Entry) error { return nil })
		if want := fmt.Sprintf("entry %d of room main cannot be read: its body is no JSON", bad); err == nil || err.Error() != want {
			s.Errorf("%v, want %s", err, want)
		}
	})
}

// A damaged file may be unreadable for good: Follow ends, and says where.
func TestFollowEndsWhereTheJournalIsDamaged(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(1)
		head := s.head()
		go func() {
			time.Sleep(time.Second)
			s.room.Trouble(journal.Coded(fmt.Errorf("follow room: %w: a page is zero", journal.ErrCorrupt)))
		}()
		c := follow.Client{URL: "http://localhost", Dial: s.pipe.Dial, Unreadable: func(first, last uint64, why error) { s.Errorf("%d-%d: %v", first, last, why) }}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err := c.Follow(ctx, "main", 0, func(entry.Entry) error { return nil })
		s.room.Trouble(nil)
		if want := fmt.Sprintf("room main cannot be read on behind entry %d: the journal is damaged; companiond replay says", head); err == nil || !strings.HasPrefix(err.Error(), want) {
			s.Errorf("%v, want %s", err, want)
		}
	})
}

// However odd the frames are that come, Follow never asks for the same ones for ever.
func TestFollowOddFrames(t *testing.T) {
	const good = `{"seq":%d,"epoch":1,"at":"2026-01-02T03:04:05Z","kind":"stop","id":"x","v":2,"body":{"from":"mika"}}`
	three, nine := fmt.Sprintf(good, 3), fmt.Sprintf(good, 9)
	for name, tc := range map[string]struct {
		frames []string // what there is of the room
		told   []string
		err    string
	}{
		"another shape":     {[]string{fmt.Sprintf(good, 1), `{"seq":2,"kind":7}`, three, nine}, []string{"2-2 json: cannot unmarshal number into Go struct field Entry.kind of type entry.Kind", "4-8 the journal has it no more"}, "enough"},
		"no time":           {[]string{`{"seq":1,"at":"noon"}`, fmt.Sprintf(good, 2), three, nine}, []string{`1-1 parsing time`, "4-8 the journal has it no more"}, "enough"},
		"a gap and a wrong": {[]string{`{"seq":3,"v":"x"}`, nine}, []string{"1-2 the journal has it no more", "3-3 json: cannot", "4-8 the journal has it no more"}, "enough"},
		"too large":         {[]string{`{"seq":1,"id":"` + strings.Repeat("x", 16<<20) + `"}`, nine}, []string{"1-1 it has more than 16 MiB", "2-8 the journal has it no more"}, "enough"},
		"no JSON":           {[]string{fmt.Sprintf(good, 1), `{"seq":2`}, nil, "room main: the frame behind entry 1 is no entry: unexpected end"},
		"no seq":            {[]string{`{}`}, nil, "room main: the frame behind entry 0 is no entry: it has no seq"},
	} {
		t.Run(name, func(t *testing.T) {
			up := websocket.Upgrader{}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := up.Upgrade(w, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				for _, f := range tc.frames {
					var seq int
					if _, _ = fmt.Sscanf(f, `{"seq":%d`, &seq); seq > 0 && r.FormValue("since") >= fmt.Sprint(seq) {
						continue
					}
					if conn.WriteMessage(websocket.TextMessage, []byte(f)) != nil {
						return
					}
				}
				_, _, _ = conn.ReadMessage() // until the client leaves
			}))
			defer srv.Close()
			var told []string
			lost := 0
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
			defer cancel()
			c := follow.Client{
				URL:        srv.URL,
				Unreadable: func(first, last uint64, why error) { told = append(told, fmt.Sprintf("%d-%d %v", first, last, why)) },
				Retry: func(err error, _ time.Duration) {
					if lost++; lost > 3 {
						t.Errorf("it goes on for ever: %v", err)
						cancel()
					}
				},
			}
			err := c.Follow(ctx, "main", 0, func(e entry.Entry) error {
				if e.Seq == 9 {
					return errEnough
				}
				return nil
			})
			if err == nil || !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("it ended with %v, want %s", err, tc.err)
			}
			if !slices.EqualFunc(told, tc.told, strings.HasPrefix) {
				t.Errorf("told %q, want %q", told, tc.told)
			}
		})
	}
}

// A daemon that stays silent, pings included, is dead.
func TestFollowLeavesASilentDaemon(t *testing.T) {
	onStage(t, socket.Config{Ping: time.Hour, PongWait: 2 * time.Hour}, func(s *stage) {
		start := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		c := follow.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(error, time.Duration) { cancel() }}
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
		c := follow.Client{URL: "http://localhost", Dial: s.pipe.Dial, Retry: func(err error, _ time.Duration) { s.Errorf("lost: %v", err) }}
		if err := c.Follow(ctx, "main", 0, func(entry.Entry) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			s.Error(err)
		}
	})
}
