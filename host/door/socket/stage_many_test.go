package socket_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// TestFiveHundredOfEachWire: so many connections of one wire, which say what they will and read nothing, are let in as far as
// there is room; a body of another's goes on, the room talks on, and all that they held is given back.
func TestFiveHundredOfEachWire(t *testing.T) {
	for path, hello := range map[string]string{
		"/aituberkit/aya/ws":        `{"version":"2","id":"h","type":"session.hello","payload":{"capabilities":["character.response.done"]}}`,
		"/neuro/aya":                `{"command":"startup","game":"Chess"}`,
		"/firehose/main?playback=1": `{"topic":"messages"}`,
		"/ollmv/aya/client-ws":      `{"type":"create-new-history"}`,
		"/v1/actions?room=main":     `{"id":"x","ok":true}`,
		"/v1/actions?companion=aya": `{"id":"x","ok":true}`,
	} {
		t.Run(strings.Trim(strings.ReplaceAll(path, "/", " "), " "), func(t *testing.T) {
			onLinkage(t, nil, func(s *bodies) {
				good := s.play("nikoni", "", "mika talk,act")
				var all []*websocket.Conn
				for range 500 {
					c, answer, err := s.try(path, "mallory talk,act,read")
					if err != nil {
						if answer == nil || answer.Header.Get("Retry-After") == "" {
							t.Fatalf("refused without a word of when to come again: %v", err)
						}
						continue
					}
					all = append(all, c)
					_ = c.WriteMessage(websocket.TextMessage, []byte(hello))
				}
				if len(all) < 100 {
					t.Fatalf("%d were let in", len(all))
				}
				synctest.Wait()
				if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "taro", By: abi.KindHuman, To: []string{"nikoni"}, Text: "Hello, nikoni!"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Second)
				if f := good.came(); strings.Count(f, "chat.delta I am nikoni")+strings.Count(f, "second")+strings.Count(f, "third") < 3 {
					t.Errorf("she says %s", f)
				}
				for _, c := range all {
					_ = c.Close()
				}
				_ = good.conn.Close()
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := s.feed.Clients(); n != 0 {
					t.Errorf("%d are left", n)
				}
			})
		})
	}
}
