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
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/waittest"
)

func TestShutdownSaysGoodbyeToAll(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(10)
		head := int(s.head())
		var all sync.WaitGroup
		for i := range 100 {
			c := s.dial(fmt.Sprintf("?since=%d", i%10))
			all.Go(func() {
				if code, n := ends(c); code != socket.CloseGoingAway || n != head-i%10 {
					s.Errorf("client %d: code %d after %d entries", i, code, n)
				}
			})
		}
		synctest.Wait()
		if s.feed.Clients() != 100 || s.room.Followers() != 1 {
			s.Errorf("%d clients, %d followers", s.feed.Clients(), s.room.Followers())
		}
		start := time.Now()
		if err := s.feed.Close(context.Background()); err != nil || time.Since(start) != 0 {
			s.Errorf("%v after %v", err, time.Since(start))
		}
		all.Wait()
		d := websocket.Dialer{NetDialContext: s.pipe.Dial}
		_, answer, err := d.Dial("ws://localhost/v1/rooms/main/feed", nil)
		if err == nil || answer.StatusCode != http.StatusServiceUnavailable {
			s.Errorf("after the end: %v %v", err, answer)
		}
	})
}

// Neither a client that does not read nor one that does not answer the goodbye
// holds the daemon up.
func TestShutdownDoesNotWaitForTheDead(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(10)
		stalled := s.dial("?since=0")
		mute := s.dial("")
		mute.SetCloseHandler(func(int, string) error { return nil })
		go func() {
			for {
				if _, _, err := mute.NextReader(); err != nil {
					return // and keeps the connection open
				}
			}
		}()
		synctest.Wait()
		start := time.Now()
		if err := s.feed.Close(context.Background()); err != nil {
			s.Error(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			s.Errorf("took %v", took)
		}
		_, _ = stalled.Close(), mute.Close()
	})
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(10)
		stalled := s.dial("?since=0")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := s.feed.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			s.Errorf("close gave %v", err)
		}
		_ = stalled.Close()
	})
}

func TestEndOfTheServersContextSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main")
		feed, pipe := socket.New(socket.Config{Rooms: house}), doortest.NewPipe()
		mux := http.NewServeMux()
		feed.Register(mux)
		ctx, cancel := context.WithCancel(context.Background())
		srv := &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
		go func() { _ = srv.Serve(pipe) }()
		d := websocket.Dialer{NetDialContext: pipe.Dial}
		c, _, err := d.Dial("ws://localhost/v1/rooms/main/feed", nil)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if code, _ := ends(c); code != socket.CloseGoingAway {
			t.Errorf("code %d", code)
		}
		_ = srv.Close()
	})
}

// 100 clients on real sockets, some coming late, see the same frames.
func TestHundredClientsOverTCP(t *testing.T) {
	house := doortest.NewHouse(t, "main")
	rm := house.Get("main")
	feed := socket.New(socket.Config{Rooms: house})
	mux := http.NewServeMux()
	feed.Register(mux)
	srv := httptest.NewServer(mux)
	const lines = 200
	got := make([]string, 100)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			c, _, err := websocket.DefaultDialer.Dial(strings.Replace(srv.URL, "http", "ws", 1)+"/v1/rooms/main/feed?since=0", nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			var text strings.Builder
			for range lines + 1 { // and whose room it is
				_, frame, err := c.ReadMessage()
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				text.Write(frame)
			}
			got[i] = text.String()
		})
		if i%10 == 0 {
			rm.Chat(lines / 10)
		}
	}
	all.Wait()
	if len(slices.Compact(got)) != 1 || strings.Count(got[0], `"seq"`) != lines+1 {
		t.Error("not all saw the same")
	}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	if err := feed.Close(ctx); err != nil {
		t.Error(err)
	}
	srv.Close()
}
