package room

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// A companion hears of its useless answers by way of whoever hosts it; nobody
// is blamed for being late or for saying no.
func TestUselessAnswersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &actor{id: "bad", vote: func(context.Context, abi.Scene) (abi.Vote, error) { return abi.Vote{State: "dance"}, nil }}
		odd := wants_("odd", 9)
		odd.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Text: "x", Closing: "soon"}, nil }
		mute := wants_("mute", 8)
		mute.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Pass: "no"}, nil }
		slow := &actor{id: "slow", vote: hang[abi.Vote]}
		no := &actor{id: "no", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{}, abi.Errorf(abi.CodeUnavailable, "not now")
		}}
		own := &actor{id: "own", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{}, abi.Errorf(abi.CodeInvalid, "vote.state: no") // as the SDK answers
		}}
		all := []*actor{bad, odd, mute, slow, no, own}
		for i, late := range []*abi.Error{
			abi.Errorf(abi.CodeExhausted, "model.main.calls_minute: 9 a minute are used up"), abi.Errorf(abi.CodeStale, "say: mika spoke meanwhile"),
			abi.Errorf(abi.CodeConflict, "votes are being counted"), abi.Errorf(abi.CodeDenied, "say: odd does not have the floor"), abi.Errorf(abi.CodeDenied, "action: odd does not have the floor any more"),
		} {
			all = append(all, &actor{id: fmt.Sprint("late", i), vote: func(context.Context, abi.Scene) (abi.Vote, error) { return abi.Vote{}, late }})
		}
		barred := &actor{id: "barred", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{}, abi.Errorf(abi.CodeDenied, "model.generate: is not granted")
		}}
		s := newStage(t, testRules, append(all, barred)...)
		defer s.end()
		var mu sync.Mutex
		told := map[string]int{}
		s.room.callees.Blame = func(who, op string, err error) {
			mu.Lock()
			defer mu.Unlock()
			told[fmt.Sprintf("%s %s %s", who, op, strings.SplitN(err.Error(), ": ", 3)[1])]++
		}
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if told["bad vote vote.state"] == 0 || told["odd speak line.closing"] == 0 || told["own vote vote.state"] == 0 || told["barred vote model.generate"] == 0 || len(told) != 4 {
			t.Errorf("told: %v", told)
		}
	})
}

// Control characters are refused at the doors and from modules alike: such a line
// is not said, such a vote does not count, and the journal says why.
func TestControlCharactersAreNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loud := wants_("loud", 9)
		loud.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Text: "be\x00ep"}, nil }
		nods := &actor{id: "nods", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{State: abi.Listen, Backchannel: "\a"}, nil
		}}
		s := newStage(t, testRules, loud, nods)
		defer s.end()
		_, err := s.room.Say(t.Context(), rooms.Utterance{From: "taro", Text: "he\x1bllo"})
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), "text: character 3 is U+001B") {
			t.Errorf("said: %v", err)
		}
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.texts(); len(got) != 1 {
			t.Errorf("said: %q", got)
		}
		why := map[string]bool{}
		for _, e := range s.entries() {
			var f entry.Failed
			if e.Kind == entry.KindFailed && json.Unmarshal(e.Body, &f) == nil {
				why[f.Who+": "+string(f.Code)+": "+f.Error[:strings.IndexByte(f.Error, ',')]] = true
			}
		}
		for _, want := range []string{"loud: invalid: line.text: character 3 is U+0000", "nods: invalid: vote.backchannel: character 1 is U+0007"} {
			if !why[want] {
				t.Errorf("the journal has %v, want %s", why, want)
			}
		}
	})
}

// The clock that a module is given is the room's: it does not run back behind
// what it was told was said.
func TestModulesAreToldTheRoomsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aya := wants_("aya", 5)
		s := newStage(t, testRules, aya)
		s.end()
		// the room's last entry is one hour ahead of the clock now
		ahead := time.Now().Add(time.Hour)
		if _, err := s.journal.Acquire(t.Context(), "main", "companiond", ahead); err != nil {
			t.Fatal(err)
		}
		s.start()
		defer s.end()
		m := s.say("taro", "hello")
		time.Sleep(time.Second)
		synctest.Wait()
		aya.mu.Lock()
		defer aya.mu.Unlock()
		if len(aya.nows) < 2 || slices.ContainsFunc(aya.nows, func(at time.Time) bool { return at.Before(m.At) || at.Sub(m.At) > time.Minute }) {
			t.Errorf("said at %v, asked at %v", m.At, aya.nows)
		}
	})
}
