package socket_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// TestABodyOffersActions: they join those of the card while the connection is there, are checked by their schema, go to
// that body alone, and come back with a result.
func TestABodyOffersActions(t *testing.T) {
	change := func(c *socket.Config) { c.Games.Plays = func(_, action string) bool { return action == "move" } }
	onBodies(t, change, func(s *bodies) {
		s.room.Play("nikoni", &doortest.Actor{Can: []string{"move"}})
		body, other := s.body("nikoni", "", ""), s.body("nikoni", "", "")
		all := s.dial("/v1/actions?room=main", "")
		synctest.Wait()
		try := func(action, parameters string) (abi.ActionPlayed, error) {
			return s.room.Act(context.Background(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: action, Parameters: json.RawMessage(parameters)})
		}
		if _, err := try("wave", `{}`); abi.CodeOf(err) != abi.CodeNotFound {
			t.Fatalf("nobody offers it: %v", err)
		}
		s.send(body, `{"offer":[{"name":"wave","description":"Wave.","schema":{"type":"object","properties":{"hand":{"enum":["left","right"]}},"required":["hand"]}}]}`)
		synctest.Wait()
		if _, err := try("wave", `{"hand":"third"}`); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("against its schema: %v", err)
		}
		played, err := try("wave", `{"hand":"left"}`)
		if err != nil || played.Delivered != 1 {
			t.Fatalf("%+v %v", played, err)
		}
		if f := s.frame(body); !strings.Contains(f, `"action":"wave","parameters":{"hand":"left"}`) {
			t.Error(f)
		}
		s.quiet(other)
		s.send(body, fmt.Sprintf(`{"id":%q,"ok":true}`, played.ID))
		synctest.Wait()
		if r := results(s.room); len(r) != 1 || r[0].Action != "wave" {
			t.Errorf("%+v", r)
		}
		for message, want := range map[string]string{
			`{"offer":[{"name":"wave"}]}`:                           `"code":"conflict","message":"offer: \"wave\" is another's, which came first"`,
			`{"offer":[{"name":"move"}],"companion":"nikoni"}`:      `"code":"conflict","message":"offer: \"move\" is an action of the card of nikoni"`,
			`{"offer":[{"name":"speak"}]}`:                          `is the house's`,
			`{"offer":[{"name":"a b"}]}`:                            `"field":"offer.0.name"`,
			`{"offer":[{"name":"ok","schema":7}]}`:                  `"field":"offer.0.schema"`,
			`{"offer":[{"name":"hop"}] }`:                           `"field":"companion"`, // whose is not said
			`{"offer":7}`:                                           `"field":"offer"`,
			`{"offer":[{"name":"hop"}],"companion":"kai"}`:          `"field":"companion"`,
			`{"withdraw":[` + strings.Repeat(`"x",`, 300) + `"x"]}`: `"code":"exhausted"`,
		} {
			time.Sleep(time.Second) // in which so many may be offered
			s.send(all, strings.Replace(message, `}]}`, `}],"companion":"nikoni"}`, 1))
			if f := s.frame(all); !strings.Contains(f, want) {
				t.Errorf("%.60s: %s", message, f)
			}
		}
		s.send(body, `{"withdraw":["wave"]}`)
		synctest.Wait()
		if _, err := try("wave", `{"hand":"left"}`); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("it was taken back: %v", err)
		}
		s.send(body, `{"offer":[{"name":"hop"}]}`)
		synctest.Wait()
		_ = body.Close()
		synctest.Wait()
		if _, err := try("hop", ``); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("its body is gone: %v", err)
		}
		var offered, withdrawn int
		for _, e := range s.room.Journal() {
			if b, err := entry.Decode[entry.Offered](e); e.Kind == entry.KindOffered && err == nil {
				offered += len(b.Actions)
				withdrawn += len(b.Withdrawn)
			}
		}
		if offered != 2 || withdrawn == 0 {
			t.Errorf("%d were offered, %d taken back", offered, withdrawn)
		}
	})
}
