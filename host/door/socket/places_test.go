package socket_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/socket"
)

// TestTheQuietestMakesRoom: where all places are taken the client that was heard of longest
// ago goes, is told why, and misses nothing when it comes back with since.
func TestTheQuietestMakesRoom(t *testing.T) {
	why := make(chan string, 3)
	onStage(t, socket.Config{MaxClients: 2, Dropped: func(reason string) { why <- reason }}, func(s *stage) {
		a := s.dial("?since=0")
		synctest.Wait() // it is there before the next one
		b := s.dial("?since=0")
		s.room.Chat(1)
		head := s.head()
		for range head {
			_, _ = next(s, a), next(s, b)
		}
		synctest.Wait()
		c := s.dial("")
		start := time.Now()
		if code, n := ends(a); code != socket.CloseTryLater || n != 0 || time.Since(start) != 0 {
			s.Errorf("code %d after %d entries more and %v", code, n, time.Since(start))
		}
		synctest.Wait()
		if n := s.feed.Clients(); n != 2 {
			s.Errorf("%d clients", n)
		}
		s.room.Chat(1)
		if want := s.head(); next(s, b).Seq != want || next(s, c).Seq != want {
			s.Error("the others see nothing")
		}
		synctest.Wait()
		a = s.dial(fmt.Sprintf("?since=%d", head)) // at b's cost, which is the quietest now
		if want := s.head(); next(s, a).Seq != want {
			s.Error("who comes back has missed something")
		}
		if code, _ := ends(b); code != socket.CloseTryLater {
			s.Errorf("code %d", code)
		}
		_, _ = a.Close(), c.Close()
		if first, second := <-why, <-why; first != "place" || second != "place" || len(why) > 0 {
			s.Errorf("dropped for %q and %q, and %d more", first, second, len(why))
		}
	})
}

// TestWhoAnswersStays: a client whose machine is off goes before one that answers pings,
// whichever came first, and one that does not answer the goodbye is gone shortly.
func TestWhoAnswersStays(t *testing.T) {
	onStage(t, socket.Config{MaxClients: 2}, func(s *stage) {
		there := s.dial("")
		go ends(there) // answers pings
		ghost := s.dial("")
		time.Sleep(30 * time.Second)
		c := s.dial("")
		go ends(c)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if n := s.feed.Clients(); n != 2 {
			s.Errorf("%d clients", n)
		}
		if err := there.WriteMessage(websocket.TextMessage, []byte(`{"speaking":true,"from":"taro"}`)); err != nil {
			s.Errorf("who answers was sent away: %v", err)
		}
		_, _, _ = ghost.Close(), there.Close(), c.Close()
	})
}

// TestBodiesStay while idle clients come and go by the thousand, from the same address or
// others; and bodies come in all the while, those of the AI Companion Protocol, which say
// later that they are one, as well.
func TestBodiesStay(t *testing.T) {
	onBodies(t, func(c *socket.Config) { c.MaxClients = 12 }, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of " })
		_ = s.body("nikoni", "", "")
		var all []*websocket.Conn
		churn := func(who string) {
			for range 100 {
				all = append(all, s.dial("/v1/rooms/main/feed", who))
			}
		}
		for range 4 {
			churn("")
			r := &referenceClient{conn: s.dial("/", "")}
			churn("mika read")
			if err := r.subscribe("abc"); err != nil {
				s.Fatal(err)
			}
			synctest.Wait()
			_ = s.body("nikoni", "", "")
		}
		if n := s.room.Bodies("nikoni"); n != 9 {
			s.Errorf("%d bodies, want 9", n)
		}
		for _, c := range all {
			_ = c.Close()
		}
		synctest.Wait()
	})
}

// TestOneCallerIsNotAll: bodies of one caller leave a quarter of the places to others, and are
// told when to come again.
func TestOneCallerIsNotAll(t *testing.T) {
	onBodies(t, func(c *socket.Config) { c.MaxClients = 8 }, func(s *bodies) {
		s.set(func() { s.sessions["abc"] = "nikoni of " })
		for range 6 {
			_ = s.body("nikoni", "", "")
		}
		if again := s.refused("/v1/actions?companion=nikoni", "", 429); again != "60" {
			s.Errorf("again after %q s", again)
		}
		late := s.dial("/", "") // to look on is possible, to be one body more is not
		s.send(late, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"abc"}}`)
		if got, want := s.frame(late), `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"6 WebSockets of yours are in use, which is all that one caller may have; try again in 60 s","data":{"code":"exhausted"}}}`; got != want {
			s.Errorf("got  %s\nwant %s", got, want)
		}
		for range 2 {
			_ = s.body("nikoni", "", "mika read,act")
		}
		if code := ended(late); code != socket.CloseTryLater {
			s.Errorf("code %d", code)
		}
		if again := s.refused("/", "ken read", 503); again != "60" {
			s.Errorf("again after %q s", again)
		}
		if n := s.room.Bodies("nikoni"); n != 8 {
			s.Errorf("%d bodies", n)
		}
	})
}
