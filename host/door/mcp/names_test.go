package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// Nobody talks under the name of another, or under one that looks like it.

// say lets somebody say something in the usual room.
func (h *home) say(from, text string) abi.Message {
	h.t.Helper()
	m, err := h.talk(usualRoom).Say(h.t.Context(), rooms.Utterance{From: from, Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// An agent whose name a human takes is told so whatever it tries, and goes on under
// another.
func TestAHumanTakesAnAgentsName(t *testing.T) {
	const why = `from: "mika" is a human here; take another name`
	for _, policy := range []string{"pool", "vote", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{usualRoom: rulesOf(policy, freePool())})
			a := h.connect(nil)
			h.say("taro", "誰かいる?")
			if got := a.consume("mika", 60, "いるよ"); got["success"] != true {
				t.Fatalf("%v", got)
			}
			seen := h.say("mika", "私がミカです")
			for _, amount := range []float64{5, 60} {
				if got := a.consume("mika", amount, "私もミカ"); got["success"] != false || got["message"] != why {
					t.Errorf("consume: %v", got)
				}
			}
			for tool, args := range map[string]map[string]any{
				"say": {"message": "私もミカ"}, "vote": {"state": "speak"}, "wait_for_turn": {"timeout_seconds": 0},
			} {
				args["from"] = "mika"
				if got, failed := a.call(tool, args); !failed || got["code"] != "denied" || got["message"] != why {
					t.Errorf("%s: %v", tool, got)
				}
			}
			got, failed := a.call("wait_for_turn", map[string]any{"from": "mika-bot"})
			if list := fmt.Sprint(got["messages"]); failed || !strings.Contains(list, seen.Text) {
				t.Errorf("under another name: %v", got)
			}
			if got := a.consume("mika-bot", 30, "では別の名で"); got["success"] != true {
				t.Errorf("under another name: %v", got)
			}
		})
	}
}

// So is one that waits for its turn while that happens, which has not seen then what
// was said under its name.
func TestAHumanTakesTheNameOfAnAgentThatWaits(t *testing.T) {
	for _, policy := range []string{"pool", "vote"} {
		t.Run(policy, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{usualRoom: rulesOf(policy, freePool())})
			a := h.connect(nil)
			type answered struct {
				got    map[string]any
				failed bool
			}
			answer := make(chan answered)
			go func() {
				got, failed := a.call("wait_for_turn", map[string]any{"from": "mika", "timeout_seconds": 1})
				answer <- answered{got, failed}
			}()
			waittest.Until(t, "mika is here", func() bool { return isHere(h.talk(usualRoom).Info(), "mika") })
			m := h.say("mika", "私がミカです")
			if r := <-answer; !r.failed || r.got["message"] != `from: "mika" is a human here; take another name` {
				t.Errorf("%v", r.got)
			}
			if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot"}); !strings.Contains(fmt.Sprint(got["messages"]), m.Text) {
				t.Errorf("%v", got)
			}
		})
	}
}

// And one whose line waits for the floor.
func TestAHumanTakesTheNameOfAnAgentThatWishes(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.Patience = 500
	h := openHome(t, map[string]entry.Rules{usualRoom: rules})
	mute, a := h.connect(nil), h.connect(nil)
	mute.call("wait_for_turn", map[string]any{"from": "mute", "timeout_seconds": 0}) // every round waits for its vote
	h.say("taro", "誰か話して")
	answer := make(chan map[string]any)
	go func() { answer <- a.consume("mika", 60, "話します") }()
	waittest.Until(t, "mika is here", func() bool { return isHere(h.talk(usualRoom).Info(), "mika") })
	h.say("mika", "私がミカです")
	if got := <-answer; got["success"] != false || got["message"] != `from: "mika" is a human here; take another name` {
		t.Errorf("%v", got)
	}
}

// A name that is nobody's to have, or reads as somebody else's, is refused in the
// words of each tool.
func TestNamesThatAgentsMayNotHave(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{usualRoom: rulesOf("pool", freePool())}, &actor{id: "aya"})
	h.say("taro", "やあ")
	a := h.connect(nil)
	if got := a.consume("bot", 5, "うん"); got["success"] != true {
		t.Fatalf("%v", got)
	}
	for name, why := range map[string]string{
		"user":       `from: "user" stands for a human; take a name that is your own, such as "mika-bot"`,
		"ユーザー":       `from: "ユーザー" stands for a human; take a name that is your own, such as "mika-bot"`,
		"Guest-2":    `from: "Guest-2" stands for a human; take a name that is your own, such as "mika-bot"`,
		"system":     `from: "system" reads as the daemon, its keepers, everybody or nobody; take a name of your own, such as "mika"`,
		"companiond": `from: "companiond" reads as the daemon, its keepers, everybody or nobody; take a name of your own, such as "mika"`,
		"aya":        `from: "aya" is a companion here; take another name`,
		"ＡＹＡ":        `from: "ＡＹＡ" is a companion here; take another name`,
		"taro":       `from: "taro" is a human here; take another name`,
		"tar0":       `from: "tar0" cannot be told from a name of taro, who is a human here; take another name`,
		"b0t":        `from: "b0t" cannot be told from a name of bot, who is an agent here; take another name`,
	} {
		if got := a.consume(name, 5, "うん"); got["success"] != false || got["message"] != why {
			t.Errorf("%s: %v", name, got)
		}
		if got, failed := a.call("wait_for_turn", map[string]any{"from": name, "timeout_seconds": 0}); !failed || got["code"] != "denied" || got["message"] != why {
			t.Errorf("%s: %v", name, got)
		}
		for _, tool := range []string{"history", "status", "about"} {
			if got, failed := a.call(tool, map[string]any{"from": name}); !failed || got["code"] != "denied" || got["message"] != why {
				t.Errorf("%s: %s: %v", tool, name, got)
			}
		}
	}
	for _, tool := range []string{"history", "status", "about"} {
		for _, name := range []string{"bot", "another"} {
			if got, failed := a.call(tool, map[string]any{"from": name}); failed {
				t.Errorf("%s: %s: %v", tool, name, got)
			}
		}
	}
}

// A token's holder need not say its name with consume either, whatever the schema says, which is
// chat-relay's; a guest has to.
func TestATokenSaysWhoConsumes(t *testing.T) {
	s := openShelf(t, false)
	(&home{t: t, rooms: s.rooms}).open("den", "pool")
	line := map[string]any{"amount": 5, "message": "やあ", "room": "den"}
	for _, era := range eras {
		s.from(holder("hibiki", identity.Read, identity.Talk))
		a, _ := s.connect(era)
		if got, failed := a.call("consume", line); failed || got["success"] != true {
			t.Errorf("%s: %v", era, got)
		}
		got, _ := a.call("history", map[string]any{"room": "den"})
		if !strings.Contains(fmt.Sprint(got), "from:hibiki") {
			t.Errorf("%s: %v", era, got)
		}
		s.from(identity.Guest(nil))
		b, _ := s.connect(era)
		if got, failed := b.call("consume", line); !failed || got["message"] != "from: is missing" {
			t.Errorf("%s: a guest: %v", era, got)
		}
	}
}

// A token's holder has read what it read as a resource, also where there are no
// sessions.
func TestResourcesAreReadByTheirReader(t *testing.T) {
	s := openShelf(t, false)
	h := &home{t: t, rooms: s.rooms}
	for _, era := range eras {
		s.from(holder("bot-"+era[:4], identity.Read, identity.Talk))
		a, _ := s.connect(era)
		h.say("taro", "やあ")
		a.history(usualRoom)
		h.say("taro", "聞いてる?")
		got, _ := a.call("consume", map[string]any{"from": "bot-" + era[:4], "amount": 60, "message": "いい天気ですね"})
		if got["success"] != false || got["message"] != "Stale: taro spoke first. Read history again." {
			t.Errorf("%s: %v", era, got)
		}
	}
}
