package socket_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// A client that follows a room lets it sleep, and sees what it does when it wakes.
func TestFollowersWakeNobody(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		s.room.Chat(3)
		head := s.head()
		old, fresh := s.dial("?since=0"), s.dial("")
		for range head {
			next(s, old)
		}
		var talk sync.WaitGroup
		talk.Go(func() {
			time.Sleep(20 * time.Second) // a client that reads nothing for longer is dropped
			if s.house.Awake("main") || s.head() != head {
				s.Errorf("awake: %v, %d entries of %d", s.house.Awake("main"), s.head(), head)
			}
			if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "mika", Text: "good morning"}); err != nil {
				s.Error(err)
			}
		})
		for _, c := range []*websocket.Conn{old, fresh} {
			for seq := head + 1; ; seq++ {
				e := next(s, c)
				if e.Seq != seq {
					s.Fatalf("entry %d, want %d", e.Seq, seq)
				}
				if m, ok := e.Message(); ok && m.Text == "good morning" {
					break
				}
			}
			_ = c.Close()
		}
		talk.Wait()
	})
}

// A room that is opened while the daemon runs has a feed from then on. A client that
// follows it sees that it is closed, stays, and sees that it is opened again and what is said
// then.
func TestFeedOfARoomThatComesAndGoes(t *testing.T) {
	onStage(t, socket.Config{}, func(s *stage) {
		mika := rooms.Owner{Name: "mika"}
		open := func() {
			s.Helper()
			if _, err := s.house.Open(s.Context(), rooms.Opening{Name: "den", By: mika, Settings: []byte(`{}`)}); err != nil {
				s.Fatal(err)
			}
		}
		if c, answer, _ := s.dialRoom("den", ""); c != nil || answer.StatusCode != http.StatusNotFound {
			s.Fatalf("before it is there: %v", answer)
		}
		open()
		c, _, err := s.dialRoom("den", "?since=0")
		if err != nil {
			s.Fatal(err)
		}
		until := func(kind entry.Kind) {
			s.Helper()
			_ = c.SetReadDeadline(time.Now().Add(time.Hour))
			for next(s, c).Kind != kind {
			}
		}
		den := s.house.Get("den")
		say := func() error {
			_, err := den.Say(s.Context(), rooms.Utterance{From: "mika", Text: "hi"})
			return err
		}
		for range 2 {
			until(entry.KindOpened)
			if err := say(); err != nil {
				s.Error(err)
			}
			until(entry.KindSaid)
			if err := s.house.Archive(s.Context(), "den", mika); err != nil {
				s.Fatal(err)
			}
			until(entry.KindArchived)
			if err := say(); abi.CodeOf(err) != abi.CodeDenied {
				s.Errorf("in a closed room: %v", err)
			}
			late, _, err := s.dialRoom("den", fmt.Sprintf("?since=%d", len(den.Journal())-1))
			if err != nil {
				s.Fatalf("its messages can still be read: %v", err)
			}
			next(s, late)
			_ = late.Close()
			time.Sleep(10 * time.Second)
			open()
		}
		until(entry.KindOpened)
		_ = c.Close()
	})
}

// dialRoom is dial for another room than main.
func (s *stage) dialRoom(name, query string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: s.pipe.Dial}
	return d.Dial("ws://localhost/v1/rooms/"+name+"/feed"+query, nil)
}

// A body of a companion may be connected while its room sleeps; it counts when the room
// wakes to let the companion do something.
func TestBodyOfARoomThatSleeps(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.body("nikoni", "", "")
		time.Sleep(10 * time.Second)
		if s.house.Awake("main") {
			s.Error("a body keeps its room awake")
		}
		played := s.act("nikoni", "move", `{}`)
		if played.Delivered != 1 {
			s.Errorf("%+v", played)
		}
		s.want(c, is(s.played("nikoni", played), `"action":"move","parameters":{},"perception":"vision"`))
		time.Sleep(10 * time.Second)
		s.send(c, `{"id":"`+played.ID+`","ok":true}`)
		synctest.Wait()
		if all := results(s.room); len(all) != 1 || all[0].ID != played.ID {
			s.Errorf("%+v", all)
		}
	})
}

// A companion without a home has no bodies, whoever asks.
func TestBodyWithoutAHome(t *testing.T) {
	onBodies(t, func(c *socket.Config) {
		c.Rooms.(*doortest.House).Get("main").Live("zoe") // is loaded, and in no room
	}, func(s *bodies) {
		c, answer, err := s.try("/v1/actions?companion=zoe", "")
		if c != nil || answer == nil || answer.StatusCode != http.StatusNotFound || !errors.Is(err, websocket.ErrBadHandshake) {
			s.Errorf("%v %v", answer, err)
		}
	})
}
