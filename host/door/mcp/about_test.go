package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/waittest"
)

// about calls the tool.
func (a *agent) about(args map[string]any) map[string]any {
	a.t.Helper()
	got, failed := a.call("about", args)
	if failed {
		a.t.Fatalf("about %v: %v", args, got)
	}
	return got
}

// at finds what is inside an answer: "room.pool.size".
func at(answer any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		answer, _ = answer.(map[string]any)[name]
	}
	return answer
}

// holds says what of an answer is not as it should be.
func holds(t *testing.T, what string, got map[string]any, want map[string]any) {
	t.Helper()
	for path, w := range want {
		if g := at(got, path); fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s: %s is %v, want %v", what, path, g, w)
		}
	}
}

// An agent that has only tools finds out who it is, where, with whom, at which prices, and
// what to do; the same as wait_for_turn says.
func TestAboutWhereTurnsArePaidFor(t *testing.T) {
	pool := abi.DefaultPool()
	pool.Size, pool.Recovery, pool.Prices, pool.Reserve, pool.Share = 300, 7500, []abi.Price{{Chars: 12, Cost: 15}, {Chars: 60, Cost: 120}}, 30, 200
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", pool), "den": rulesOf("vote", abi.Pool{})}, &actor{id: "aya"})
	a := h.connect(nil)
	got := a.about(nil)
	holds(t, "a stranger", got, map[string]any{
		"you": map[string]any{"guest": true, "kind": "agent", "scopes": []any{"read", "talk", "act"}}, "rooms": []any{"den", "main"},
		"room.name": "main", "room.policy": "pool", "room.turns_need_floor": false, "room.max_turns": 24.0,
		"room.members": []any{map[string]any{"id": "aya", "kind": "companion", "name": "aya"}},
		"room.pool": map[string]any{
			"level": 300.0, "size": 300.0, "refill_seconds": 7.5, "pricing": "strict", "reserve": 30.0, "share": 200.0,
			"prices": []any{map[string]any{"chars": 12.0, "cost": 15.0}, map[string]any{"chars": 60.0, "cost": 120.0}},
		},
		"now.call": "about", "now.why": "say who you are: pass from, the name under which you speak, to about and to every other tool",
	})
	me := map[string]any{"from": "bot"}
	holds(t, "nobody spoke", a.about(me), map[string]any{"you.name": "bot", "now.call": "consume", "now.why": "nobody has spoken yet: you may begin, with consume", "reason": "timeout", "unseen": 0.0})
	a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}) // it is known to be here
	h.human("main", "こんにちは")
	h.human("main", "botはいる?")
	for range 2 { // it reads nothing
		holds(t, "two lines", a.about(me), map[string]any{
			"now.call": "history", "now.why": "read history first: 2 messages you have not seen, and you are meant; then, if you have something to say, call consume", "reason": "addressed", "unseen": 2.0,
		})
	}
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["reason"] != "addressed" || len(got["messages"].([]any)) != 2 {
		t.Errorf("wait_for_turn: %v", got)
	}
	waittest.Until(t, "the room rests", func() bool { return h.talk("main").Info().State == "resting" })
	a.call("history", me)
	holds(t, "all is read", a.about(me), map[string]any{"now.call": "wait_for_turn", "now.why": "nothing: call wait_for_turn, or consume if you want to say more", "reason": "timeout", "unseen": 0.0})
	if got := a.consume("bot", 120, "こんにちは、います"); got["success"] != true || got["resource"] != 180.0 {
		t.Fatalf("%v", got)
	}
	if got := h.connect(nil).consume("kyoko", 80, "はいはい、私もここにいますよ"); got["success"] != false {
		t.Fatalf("80 for a line of 120: %v", got)
	}
	if _, err := h.talk("main").Stop(t.Context(), "taro"); err != nil {
		t.Fatal(err)
	}
	holds(t, "stopped", a.about(me), map[string]any{"now.call": "wait_for_turn", "room.state": "stopped"})
	if why := at(a.about(me), "now.why"); !strings.Contains(fmt.Sprint(why), "a human said STOP") {
		t.Errorf("stopped: %v", why)
	}
}

// Where turns are paid for no round says that the talk is capped; about and the room say it
// all the same, before a turn is refused.
func TestAboutAtTheCap(t *testing.T) {
	pool := abi.DefaultPool()
	pool.Size = 300
	capped := rulesOf("pool", pool)
	capped.MaxTurns = 2
	h := openHome(t, map[string]entry.Rules{"main": capped})
	a := h.connect(nil)
	for range 2 {
		if got := a.consume("bot", 60, "やあ、元気ですか"); got["success"] != true {
			t.Fatal(got)
		}
	}
	holds(t, "capped", a.about(map[string]any{"from": "bot"}), map[string]any{
		"room.state": "capped", "now.call": "wait_for_turn",
		"now.why": "nothing: call wait_for_turn (2 turns were taken since a human spoke, which is the cap; a human's next line starts the talk again)",
	})
}

// Who finds out with about that there are too few points is woken when there are enough.
func TestAboutTellsOfTooFewPoints(t *testing.T) {
	pool := abi.DefaultPool()
	pool.Recovery = 4000
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", pool)})
	a, b := h.connect(nil), h.connect(nil)
	a.consume("bot", 60, "こんにちは、います")
	me := map[string]any{"from": "kyoko"}
	b.call("history", me)
	holds(t, "too few", b.about(me), map[string]any{"now.call": "wait_for_turn", "now.why": "nothing: call wait_for_turn (40 points are left, and a turn costs 60)"})
	if got, _ := b.call("wait_for_turn", me); got["reason"] != "points" {
		t.Errorf("%v", got)
	}
}

// Where turns are voted on, about tells what wait_for_turn tells, and the grant.
func TestAboutWhereTurnsAreVotedOn(t *testing.T) {
	for _, policy := range []string{"vote", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{"main": rulesOf(policy, abi.DefaultPool())}, &actor{id: "aya", importance: 1})
			a := h.connect(nil)
			me := map[string]any{"from": "bot"}
			holds(t, "nothing", a.about(me), map[string]any{"now.call": "wait_for_turn", "reason": "timeout", "room.turns_need_floor": true, "room.policy": policy})
			if pool := at(a.about(me), "room.pool"); (pool != nil) != (policy == "vote+pool") {
				t.Errorf("the pool: %v", pool)
			}
			a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0})
			m := h.human("main", "botはどう?")
			waittest.Until(t, "a round", func() bool { return at(a.about(me), "reason") == "asked" })
			holds(t, "asked", a.about(me), map[string]any{
				"now.call": "vote", "now.why": "a round waits for your vote: call vote, and read first: 1 message you have not seen",
				"round.about": float64(m.Seq), "round.addressed": true, "unseen": 1.0,
			})
			a.call("history", me)
			holds(t, "asked", a.about(me), map[string]any{"now.call": "vote", "now.why": "a round waits for your vote: call vote"})
			a.call("vote", map[string]any{"from": "bot", "state": "speak", "importance": 9})
			granted, _ := a.call("wait_for_turn", me)
			got := a.about(me)
			token := at(granted, "grant.token")
			holds(t, "granted", got, map[string]any{"reason": "granted", "grant": granted["grant"], "now.call": "say", "room.floor": "bot"})
			if why := fmt.Sprint(at(got, "now.why")); !strings.HasPrefix(why, "you hold the floor until ") || !strings.HasSuffix(why, fmt.Sprintf(": call say with the grant %v", token)) {
				t.Errorf("granted: %s", why)
			}
			other := h.connect(nil).about(map[string]any{"from": "kyoko"})
			if strings.Contains(fmt.Sprint(other), fmt.Sprint(token)) {
				t.Errorf("another is told of the grant: %v", other)
			}
		})
	}
}

// A room that cannot be talked in says so, and one that was closed.
func TestAboutARoomThatWasArchived(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	h.open("den", "pool")
	h.archive("den")
	a := h.connect(nil)
	holds(t, "closed", a.about(map[string]any{"from": "bot", "room": "den"}), map[string]any{"room.state": "archived", "now.call": "history", "rooms": []any{"den", "main"}})
	if got, failed := a.call("about", map[string]any{"room": "attic"}); !failed || got["message"] != `room: there is no "attic"` || got["field"] != "room" {
		t.Errorf("%v", got)
	}
}

// A token's holder is told its name and what it may do; names of others are refused as
// wait_for_turn refuses them.
func TestAboutWhoIAm(t *testing.T) {
	s := openShelf(t, false)
	for _, era := range eras {
		s.from(holder("hibiki", identity.Read, identity.Talk))
		a, _ := s.connect(era)
		holds(t, era, a.about(nil), map[string]any{"you.name": "hibiki", "you.kind": "agent", "you.guest": false, "you.scopes": []any{"read", "talk"}, "now.call": "wait_for_turn"})
		if got, failed := a.call("about", map[string]any{"from": "another"}); !failed || got["message"] != `from: this token is hibiki's, not "another"'s` || got["field"] != "from" {
			t.Errorf("%v", got)
		}
		s.from(holder("reader", identity.Read))
		b, _ := s.connect(era)
		holds(t, era, b.about(nil), map[string]any{"you.name": "reader", "you.scopes": []any{"read"}, "now.call": "history", "now.why": "you may read here, and not speak"})
		s.from(holder("mute"))
		c, _ := s.connect(era)
		if got, failed := c.call("about", nil); !failed || got["code"] != "denied" {
			t.Errorf("without a scope: %v", got)
		}
	}
}

func TestAboutNamesOfOthers(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{usualRoom: rulesOf("pool", freePool())}, &actor{id: "aya"})
	h.say("taro", "やあ")
	a := h.connect(nil)
	if got := a.consume("bot", 5, "うん"); got["success"] != true {
		t.Fatalf("%v", got)
	}
	for _, name := range []string{"user", "system", "aya", "ＡＹＡ", "taro", "b0t", "k k"} {
		got, failed := a.call("about", map[string]any{"from": name})
		want, refused := a.call("wait_for_turn", map[string]any{"from": name, "timeout_seconds": 0})
		if !failed || !refused || got["code"] != want["code"] || got["message"] != want["message"] {
			t.Errorf("%s: about %v, wait_for_turn %v", name, got, want)
		}
	}
}

// However many there are, the answer is bounded.
func TestAboutIsBounded(t *testing.T) {
	rules := map[string]entry.Rules{}
	for i := range guide.Listed + 5 {
		rules[fmt.Sprintf("room-%03d", i)] = rulesOf("vote", abi.Pool{})
	}
	rules[usualRoom] = rulesOf("vote", abi.Pool{})
	var all []*actor
	for i := range guide.Listed + 5 {
		all = append(all, &actor{id: fmt.Sprintf("c%03d", i)})
	}
	h := openHome(t, rules, all...)
	got := h.connect(nil).about(nil)
	names, members := at(got, "rooms").([]any), at(got, "room.members").([]any)
	if len(names) != guide.Listed || at(got, "more_rooms") != true || len(members) != guide.Listed || at(got, "room.more_members") != true {
		t.Errorf("%d rooms, more %v; %d members, more %v", len(names), at(got, "more_rooms"), len(members), at(got, "room.more_members"))
	}
	if !slices.IsSortedFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) }) {
		t.Error(names)
	}
}

// What about tells of a room in trouble is what it declares: clients throw away what is not.
func TestAboutARoomInTrouble(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	out := h.declared().out["about"]
	p := &poorly{Directory: h.rooms}
	p.trouble.Store(true)
	d := New(Config{Rooms: p, Version: "test", Cards: noCards, Stopping: t.Context()})
	for _, in := range []aboutIn{{}, {From: "bot"}} {
		told, err := d.about(t.Context(), call{caller: identity.Guest(nil)}, in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if err := out.Validate(got); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		holds(t, "in trouble", got, map[string]any{"room.state": "unavailable", "room.closing": "none", "reason": nil, "now.why": "the room cannot take anything now: the disk is ill"})
	}
}
