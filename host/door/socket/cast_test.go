package socket_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// castFrame is a frame of the action socket, as far as these tests look.
type castFrame struct {
	ID, Companion, Line, Action string
	Part                        int
	Last                        bool
	End                         entry.End
	Error                       *abi.Error
}

// TestOneSocketForARoom: all companions of a room on one action socket, which is a body of each, is
// waited for, and follows who comes and goes.
func TestOneSocketForARoom(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		s.room.Leave("kai")
		synctest.Wait()
		c := s.dial("/v1/actions?room=main&playback=1", "")
		synctest.Wait()
		if n := []int{s.room.Bodies("aya"), s.room.Bodies("nikoni"), s.room.Bodies("kai")}; !slices.Equal(n, []int{1, 1, 0}) {
			t.Fatalf("bodies: %v", n)
		}
		if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "taro", By: abi.KindHuman, Text: "Hello, all of you!"}); err != nil {
			t.Fatal(err)
		}
		next := func() (f castFrame) {
			raw := s.frame(c)
			if err := json.Unmarshal([]byte(raw), &f); err != nil || f.Error != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			return f
		}
		spoke := map[string]int{}
		for range 2 {
			f := next()
			if f.Line == "" || f.Part != 1 || !f.Last || f.Action != "speak" {
				t.Fatalf("%+v", f)
			}
			spoke[f.Companion]++
			time.Sleep(time.Second)
			s.send(c, fmt.Sprintf(`{"line":%q,"played":"done"}`, f.Line))
			if e := next(); e.Line != f.Line || e.Companion != f.Companion || e.End != entry.EndSaid {
				t.Fatalf("%+v", e)
			}
		}
		if spoke["aya"] != 1 || spoke["nikoni"] != 1 {
			t.Errorf("spoke: %v", spoke)
		}
		s.room.Play("kai", &doortest.Actor{Vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Listen} }})
		s.room.Leave("nikoni")
		synctest.Wait()
		if n := []int{s.room.Bodies("aya"), s.room.Bodies("nikoni"), s.room.Bodies("kai")}; !slices.Equal(n, []int{1, 0, 1}) {
			t.Errorf("bodies: %v", n)
		}
	})
}

// TestWhoseAnActionIs: what became of an action is told of the companion whose it is; one that nobody
// was told of is refused.
func TestWhoseAnActionIs(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		c := s.dial("/v1/actions?room=main", "")
		s.room.Wake()
		synctest.Wait()
		moved := s.moves("nikoni")
		var f castFrame
		if err := json.Unmarshal([]byte(s.frame(c)), &f); err != nil || f.Companion != "nikoni" || f.ID != idOf(moved) {
			t.Fatalf("%+v %v", f, err)
		}
		s.send(c, `{"id":"of-nobody","ok":true}`)
		if err := json.Unmarshal([]byte(s.frame(c)), &f); err != nil || f.Error == nil || f.Error.Code != abi.CodeNotFound || f.Error.Field != "id" {
			t.Errorf("%+v %v", f, err)
		}
		s.send(c, fmt.Sprintf(`{"id":%q,"ok":true}`, idOf(moved)))
		synctest.Wait()
		if r := results(s.room); len(r) != 1 || r[0].Who != "nikoni" || !r[0].OK {
			t.Errorf("%+v", r)
		}
		if r := s.refused("/v1/actions?room=nowhere", "", 404); r != "" {
			t.Errorf("again after %s", r)
		}
	})
}
