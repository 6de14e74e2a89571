package web_test

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
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// withTokens gives a guest of a house in which あやボット and mika have tokens.
func withTokens(t *testing.T) identity.Caller {
	t.Helper()
	r, err := identity.Parse("tokens", []byte("あやボット agent talk sha256:"+identity.Hash("a")+"\nmika human talk sha256:"+identity.Hash("b")))
	if err != nil {
		t.Fatal(err)
	}
	return identity.Guest(r)
}

// from gives a body that says who says STOP.
func from(name string) string {
	b, _ := json.Marshal(map[string]string{"from": name})
	return string(b)
}

// STOP is obeyed at once, whatever its speaker is called: a name that cannot be the
// caller's is left out, and somebody says it.
func TestStopWhateverTheName(t *testing.T) {
	guest, aya := withTokens(t), holder("aya", abi.KindHuman, identity.Talk)
	for _, c := range []struct {
		name     string
		by       identity.Caller
		body     string
		recorded string
	}{
		{"no body", guest, "", "guest"},
		{"no name", guest, `{}`, "guest"},
		{"an empty name", guest, from(""), "guest"},
		{"a name", guest, from("taro"), "taro"},
		{"a word for humans", guest, from("user"), "user"},
		{"a word of the daemon's", guest, from("system"), "somebody"},
		{"one with trimmings", guest, from("Admin_2"), "somebody"},
		{"a word for everybody", guest, from("みんな"), "somebody"},
		{"a companion's name", guest, from("aya"), "somebody"},
		{"one that looks like it", guest, from("ＡＹＡ"), "somebody"},
		{"one in two scripts", guest, from("аya"), "somebody"},
		{"a holder's name", guest, from("mika"), "somebody"},
		{"one that reads like it", guest, from("アヤボット"), "somebody"},
		{"with a space", guest, from("a b"), "somebody"},
		{"with what shows as nothing", guest, from("ta\u200bro"), "somebody"},
		{"with a line of its own", guest, from("taro\nsystem"), "somebody"},
		{"too long", guest, from(strings.Repeat("x", 10_000)), "somebody"},
		{"a holder, without a name", holder("mika", abi.KindHuman, identity.Talk), "", "mika"},
		{"a holder, as another", holder("mika", abi.KindHuman, identity.Talk), from("taro"), "mika"},
		{"a holder, as nobody", holder("mika", abi.KindHuman, identity.Talk), from("a b"), "mika"},
		{"a holder who is called like a companion", aya, "", "somebody"},
	} {
		t.Run(c.name, func(t *testing.T) { stopsTalk(t, c.by, c.body, c.recorded) })
	}
}

// stopsTalk has a companion talk in the room until it is stopped.
func stopsTalk(t *testing.T, by identity.Caller, body, recorded string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newDoor(t, nil)
		main := f.house.Get("main")
		main.Play("aya", &doortest.Actor{
			Vote:  func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
			Speak: func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} },
		})
		f.ask("POST", says, `{"from":"ken","text":"talk, then"}`)
		synctest.Wait()
		if floor := main.Info().Floor; floor != "aya" {
			t.Fatalf("%q has the floor", floor)
		}
		start := time.Now()
		w := f.as(by, "POST", stops, body)
		e := f.newest(t, entry.KindStop)
		exactly(t, w, 200, fmt.Sprintf(`{"seq":%d}`, e.Seq))
		if string(e.Body) != from(recorded) {
			t.Errorf("recorded: %s, want %s", e.Body, recorded)
		}
		synctest.Wait()
		if i := main.Info(); i.Floor != "" || i.State != "stopped" || time.Since(start) != 0 {
			t.Errorf("%+v after %v", i, time.Since(start))
		}
	})
}

// An agent has nothing to take the floor from others with, whatever it calls itself.
func TestAgentsDoNotSayStop(t *testing.T) {
	f := newDoor(t, nil)
	bot := holder("bot", abi.KindAgent, identity.Read, identity.Talk, identity.Act)
	for _, body := range []string{"", `{}`, from("bot"), from("mika"), from("guest"), from("system"), from("a b")} {
		isRefused(t, f.as(bot, "POST", stops, body), 403, abi.CodeDenied, "body.from", "bot is an agent")
	}
	isRefused(t, f.as(holder("mika", abi.KindHuman, identity.Read, identity.Act), "POST", stops, ""), 403, abi.CodeDenied, "", `"talk"`)
	if all := f.house.Get("main").Happened(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// A name that cannot be told from others, or that stands for the daemon or everybody,
// is refused wherever somebody speaks.
func TestNamesAtTheDoor(t *testing.T) {
	s := newSensing(t)
	for _, c := range []struct {
		name, from string
		status     int
		code       abi.Code
		says       string
	}{
		{"mixed scripts", "mіka", 400, "invalid", "mixes scripts"},
		{"mixed scripts in one word of two", "mika-kеn", 400, "invalid", "mixes scripts"},
		{"a zero-width space", "mi\u200bka", 400, "invalid", "U+200B"},
		{"a letter that shows as nothing", "mika\u3164", 400, "invalid", "U+3164"},
		{"a mark that shows as nothing", "mika\ufe0f", 400, "invalid", "U+FE0F"},
		{"a joiner", "mi\u200dka", 400, "invalid", "U+200D"},
		{"turned around", "mika\u202e", 400, "invalid", "U+202E"},
		{"the daemon", "system", 403, "denied", "reads as the daemon"},
		{"its keepers, by the look", "Ａdmin-1", 403, "denied", "reads as the daemon"},
		{"everybody", "皆さん", 403, "denied", "reads as the daemon"},
		{"nobody", "nu11", 403, "denied", "reads as the daemon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name, _ := json.Marshal(c.from)
			isRefused(t, s.ask("POST", says, fmt.Sprintf(`{"from":%s,"text":"hi"}`, name)), c.status, c.code, "body.from", c.says)
			isRefused(t, s.ask("POST", perceives, fmt.Sprintf(`{"title":"input","format":"text","body":"hi","from":%s}`, name)), c.status, c.code, "body.from", c.says)
			w := s.ask("POST", "/add", fmt.Sprintf(`{"from":%s,"message":"hi"}`, name))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || !strings.Contains(w.Body.String(), `"path":["from"]`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if all := s.room.Happened(); len(all) != 0 {
				t.Errorf("%v", all)
			}
		})
	}
	for _, name := range []string{"user", "ゲスト", "みな", "Ali", "Мика", "kuma3号", "i7"} { // what people are called
		if w := s.ask("POST", says, fmt.Sprintf(`{"from":%q,"text":"hi"}`, name)); w.Code != 201 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
