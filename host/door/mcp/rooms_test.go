package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// Rooms come and go while the door serves.

var taro = rooms.Owner{Name: "taro"}

// open opens a room with a policy.
func (h *home) open(name, policy string) {
	h.t.Helper()
	settings := fmt.Appendf(nil, `{"policy":%q}`, policy)
	if _, err := h.rooms.Open(h.t.Context(), rooms.Opening{Name: name, By: taro, Settings: settings}); err != nil {
		h.t.Fatal(err)
	}
}

// archive closes a room that was opened so.
func (h *home) archive(name string) {
	h.t.Helper()
	if err := h.rooms.Archive(h.t.Context(), name, taro); err != nil {
		h.t.Fatal(err)
	}
}

// history reads a room's history as a resource.
func (a *agent) history(name string) historyResource {
	a.t.Helper()
	res, err := a.session.ReadResource(a.t.Context(), &sdk.ReadResourceParams{URI: uriOf(name, historyPart)})
	if err != nil {
		a.t.Fatal(err)
	}
	var past historyResource
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &past); err != nil {
		a.t.Fatal(err)
	}
	return past
}

// A room that was opened while the door served is one like any other.
func TestARoomThatWasOpened(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())}, &actor{id: "aya"})
	a := h.connect(nil)
	in := func(name string, more map[string]any) map[string]any {
		args := map[string]any{"room": name}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	hello := map[string]any{"from": "bot", "amount": 5, "message": "うん"}
	if got, failed := a.call("consume", in("居間", hello)); !failed || got["code"] != "not_found" || got["message"] != `room: there is no "居間"` {
		t.Errorf("before: %v", got)
	}
	if _, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uriOf("居間", historyPart)}); err == nil {
		t.Error("it was read before")
	}
	h.open("居間", "pool")
	h.open("den", "vote")

	got, _ := a.call("consume", in("居間", hello))
	want(t, got, true, 95, "Resource consumed.")
	if got, failed := a.call("status", in("居間", nil)); failed || got["resource"].(float64) < 95 {
		t.Errorf("status: %v", got)
	}
	if got, _ := a.call("history", in("居間", nil)); fmt.Sprint(got) != "map[history:[map[from:bot message:うん]]]" {
		t.Errorf("history: %v", got)
	}
	if past := a.history("居間"); past.Room != "居間" || len(past.Messages) != 1 || past.Messages[0].Text != "うん" {
		t.Errorf("%+v", past)
	}
	h.human("居間", "botはいる?")
	if got, _ := a.call("wait_for_turn", in("居間", map[string]any{"from": "bot"})); got["reason"] != string(watch.Addressed) {
		t.Errorf("%v", got)
	}
	if past, _ := a.call("history", nil); fmt.Sprint(past) != "map[history:[]]" {
		t.Errorf("it was said in another room: %v", past)
	}

	h.human("den", "誰か話して")
	if got, _ := a.call("consume", in("den", map[string]any{"from": "bot", "amount": 60, "message": "話します"})); got["success"] != true {
		t.Errorf("%v", got)
	}
}

// A client may subscribe to a room that was opened while the door served.
func TestSubscribeToARoomThatWasOpened(t *testing.T) {
	s := openShelf(t, false)
	h := &home{t: t, rooms: s.rooms}
	h.open("den", "vote")
	for _, era := range eras {
		a, told := s.connect(era)
		a.subscribe(uriOf("den", historyPart))
		h.human("den", "やあ "+era)
		if got := told.await(t); got != uriOf("den", historyPart) {
			t.Errorf("told of %s", got)
		}
		if past := a.history("den"); past.Messages[len(past.Messages)-1].Text != "やあ "+era {
			t.Errorf("%+v", past)
		}
	}
}

// A room that was archived can be read; nothing is said there any more, and an agent
// that tries is told why.
func TestARoomThatWasArchived(t *testing.T) {
	for _, policy := range []string{"pool", "vote", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
			h.open("den", policy)
			a := h.connect(nil)
			m := h.human("den", "終わりにしよう")
			h.archive("den")
			const why = "room: den was closed; its messages can still be read"
			for _, amount := range []float64{5, 60} {
				got, failed := a.call("consume", map[string]any{"room": "den", "from": "bot", "amount": amount, "message": "まだいる?"})
				if failed || got["success"] != false || got["message"] != why {
					t.Errorf("consume: %v", got)
				}
			}
			for tool, args := range map[string]map[string]any{
				"say": {"message": "まだいる?"}, "vote": {"state": "speak"}, "wait_for_turn": {"timeout_seconds": 0},
			} {
				args["room"], args["from"] = "den", "bot"
				if got, failed := a.call(tool, args); !failed || got["code"] != "denied" || got["message"] != why {
					t.Errorf("%s: %v", tool, got)
				}
			}
			if got, failed := a.call("status", map[string]any{"room": "den"}); failed || got["resource"] != 100.0 {
				t.Errorf("status: %v", got)
			}
			if got, _ := a.call("history", map[string]any{"room": "den"}); fmt.Sprint(got) != "map[history:[map[from:taro message:終わりにしよう]]]" {
				t.Errorf("history: %v", got)
			}
			if past := a.history("den"); len(past.Messages) != 1 || past.Messages[0].ID != m.ID {
				t.Errorf("%+v", past)
			}
			h.open("den", policy)
			h.human("den", "また来た")
			a.call("history", map[string]any{"room": "den"})
			if got, _ := a.call("consume", map[string]any{"room": "den", "from": "bot", "amount": 5, "message": "おかえり"}); got["success"] != true {
				t.Errorf("opened anew: %v", got)
			}
		})
	}
}

// A line that waits for the floor waits no longer when the room is closed.
func TestAWishWhereTheRoomIsArchived(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	h.open("den", "vote")
	mute, bot := h.connect(nil), h.connect(nil)
	mute.call("wait_for_turn", map[string]any{"room": "den", "from": "mute", "timeout_seconds": 0}) // every round waits for its vote
	h.human("den", "誰か話して")
	answer := make(chan map[string]any)
	go func() {
		got, _ := bot.call("consume", map[string]any{"room": "den", "from": "bot", "amount": 60, "message": "話します"})
		answer <- got
	}()
	waittest.Until(t, "the vote", func() bool {
		info := h.talk("den").Info()
		return isHere(info, "bot") && info.Round != nil && slices.Equal(info.Round.Awaits, []string{"mute"}) // it has voted
	})
	h.archive("den")
	select {
	case got := <-answer:
		if got["success"] != false || !strings.Contains(fmt.Sprint(got["message"]), "den was closed; its messages can still be read") {
			t.Errorf("%v", got)
		}
	case <-time.After(waittest.Long):
		t.Error("it still waits")
	}
}

// Rooms are offered by their beginnings, however many there are before them.
func TestCompletionFindsEveryRoom(t *testing.T) {
	rooms := map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})}
	for n := range listed {
		rooms[fmt.Sprintf("a%03d", n)] = rooms["main"]
	}
	h := openHome(t, rooms)
	h.open("zen", "vote")
	h.open("zen-garden", "vote")
	a := h.connect(nil)
	for value, want := range map[string]int{"": 100, "a": 100, "a00": 10, "zen": 2, "ze": 2, "zen-": 1, "main": 1, "x": 0} {
		res, err := a.session.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "turn_taking"}, Argument: sdk.CompleteParamsArgument{Name: "room", Value: value},
		})
		if err != nil || len(res.Completion.Values) != want || !slices.IsSorted(res.Completion.Values) {
			t.Errorf("%q: %v %v", value, res, err)
		}
	}
	list, err := a.session.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2*listed {
		t.Errorf("%d resources, %v", len(list.Resources), err)
	}
}
