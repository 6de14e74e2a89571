package mcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/door/mcp/waits"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// An agent from outside takes part in a round as a companion does: it is asked,
// votes, is granted the floor and speaks.
func TestAgentTakesPartInARound(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})}, &actor{id: "aya", importance: 3})
	a := h.connect(nil)
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["reason"] != "timeout" {
		t.Fatalf("in a quiet room: %v", got)
	}
	m := h.human("main", "botはどう思う?")
	asked, _ := a.call("wait_for_turn", map[string]any{"from": "bot"})
	if asked["reason"] != "asked" || len(asked["messages"].([]any)) != 1 {
		t.Fatalf("%v", asked)
	}
	r := asked["round"].(map[string]any)
	if r["about"] != float64(m.Seq) || r["addressed"] != true {
		t.Errorf("round: %v", r)
	}
	if got, failed := a.call("vote", map[string]any{"from": "bot", "state": "speak", "importance": 9}); failed || got["counted"] != true {
		t.Fatalf("vote: %v", got)
	}
	granted, _ := a.call("wait_for_turn", map[string]any{"from": "bot"})
	if granted["reason"] != "granted" {
		t.Fatalf("%v", granted)
	}
	token := granted["grant"].(map[string]any)["token"]
	if got, failed := a.call("say", map[string]any{"from": "bot", "message": "いいと思う", "grant": "g1"}); !failed || got["code"] != "denied" {
		t.Errorf("with another grant: %v", got)
	}
	if got, failed := a.call("say", map[string]any{"from": "bot", "message": "いいと思う", "grant": token}); failed || got["kind"] != "turn" {
		t.Fatalf("say: %v", got)
	}
	// The grant is used up.
	if got, failed := a.call("say", map[string]any{"from": "bot", "message": "もう一度", "grant": token}); !failed {
		t.Errorf("the grant was used twice: %v", got)
	}
	why, err := h.talk("main").Why(t.Context(), m.Seq)
	if err != nil || why.Decision.Speaker != "bot" {
		t.Errorf("why: %v %v", why.Decision, err)
	}
}

// An agent that waits does not hold up a daemon that stops, and is told why it waits no more.
func TestWaitEndsWithTheDaemon(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	done := make(chan map[string]any)
	go func() {
		got, failed := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 50})
		if !failed {
			t.Errorf("it was answered %v", got)
		}
		done <- got
	}()
	waittest.Until(t, "it waits", func() bool { return h.door.waits.Waiting() == 1 })
	h.stops()
	if got := <-done; got["code"] != string(abi.CodeUnavailable) || !strings.Contains(fmt.Sprint(got["message"]), "the daemon is stopping") {
		t.Errorf("told %v", got)
	}
}

// An agent that votes no is told what the others said, once and not again.
func TestWaitTellsWhatIsUnseen(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	a := h.connect(nil)
	done := make(chan map[string]any)
	go func() {
		got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 20})
		done <- got
	}()
	time.Sleep(100 * time.Millisecond) // it may as well come before: the wait looks first
	m := h.human("main", "やあ")
	got := <-done
	if got["reason"] != "unseen" || got["head"].(float64) < float64(m.Seq) || got["resource"] != 100.0 {
		t.Fatalf("%v", got)
	}
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["reason"] != "timeout" {
		t.Errorf("told twice: %v", got)
	}
	// Who says that it has not seen it is told again, however often it asks.
	for range 2 {
		got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0, "basis_seq": m.Seq - 1})
		if got["reason"] != "unseen" || len(got["messages"].([]any)) != 1 {
			t.Errorf("%v", got)
		}
	}
	// Its own line is no news for it.
	a.consume("bot", 5, "うん")
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["reason"] != "timeout" {
		t.Errorf("told of its own line: %v", got)
	}
}

// A wish to speak wakes a room that rests.
func TestVoteOpensARound(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})}, &actor{id: "aya"})
	a := h.connect(nil)
	h.human("main", "やあ")
	waittest.Until(t, "the room rests", func() bool { return h.talk("main").Info().State == "resting" })
	a.call("history", nil)
	if got, failed := a.call("vote", map[string]any{"from": "bot", "state": "speak", "importance": 1}); failed {
		t.Fatalf("%v", got)
	}
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot"}); got["reason"] != "granted" {
		t.Errorf("%v", got)
	}
}

// Where nobody has spoken, a vote is about nothing: an agent is told so, and who has to begin.
func TestVoteWhereNobodySpoke(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	holds(t, "nothing was said", a.about(map[string]any{"from": "bot"}), map[string]any{
		"now.call": "wait_for_turn", "now.why": "nothing: call wait_for_turn (nobody has spoken yet: a person has to begin, or a companion)",
	})
	for _, state := range []string{"speak", "listen"} {
		got, failed := a.call("vote", map[string]any{"from": "bot", "state": state})
		if !failed || got["code"] != "conflict" || got["message"] != "nobody has spoken yet, so there is nothing to vote about: a person has to begin, or a companion; call wait_for_turn" {
			t.Errorf("%s: %v", state, got)
		}
	}
}

func TestTurnMistakes(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})}, &actor{id: "aya"})
	a := h.connect(nil)
	h.human("main", "やあ")
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"vote", map[string]any{"from": "bot", "state": "shout"}, `invalid: state: "shout" is neither "speak" nor "listen"`},
		{"vote", map[string]any{"from": "bot", "state": "speak", "importance": 11}, "invalid: importance: 11 is outside 0..10"},
		{"vote", map[string]any{"from": "aya", "state": "speak"}, `denied: from: "aya" is a companion here; take another name`},
		{"vote", map[string]any{"state": "speak"}, "invalid: from: must not be empty"},
		{"wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 56}, "invalid: timeout_seconds: 56 is outside 0..55"},
		{"say", map[string]any{"from": "bot"}, "invalid: message: is missing"},
		{"say", map[string]any{"from": "bot", "message": "x"}, "denied: does not have the floor"},
		{"say", map[string]any{"from": "bot", "message": "x", "kind": "song"}, `invalid: kind: "song" is neither "turn" nor "backchannel"`},
		{"say", map[string]any{"from": "bot", "message": "x", "to": "aya"}, "invalid: to: must be a list, not string"},
	} {
		res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*sdk.TextContent).Text; !res.IsError || got != c.want {
			t.Errorf("%s %v:\n got %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}

// Companions of the house and agents are in one room, under each policy.
func TestMixedRoom(t *testing.T) {
	for _, policy := range []string{"vote", "pool", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			rules := rulesOf(policy, abi.DefaultPool())
			rules.Patience = int64(300 * min(waittest.Slowness(), 20)) // or aya and kyoko miss their votes
			h := openHome(t, map[string]entry.Rules{"main": rules}, &actor{id: "aya", importance: 5}, &actor{id: "kyoko", importance: 1, aside: "そうだね"})
			a := h.connect(nil)
			a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0})
			h.human("main", "bot、元気?")
			got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 2})
			if policy == "pool" {
				waittest.Until(t, "two lines", func() bool { return len(spoken(h, t)) >= 2 })
				waittest.Until(t, "a line is taken", func() bool { // the others may be quicker
					a.call("history", nil)
					return a.consume("bot", 5, "元気!")["success"] == true
				})
			} else {
				if got["reason"] != "asked" {
					t.Fatalf("%v", got)
				}
				if got, failed := a.call("vote", map[string]any{"from": "bot", "state": "speak", "importance": 8}); failed {
					t.Fatalf("%v", got)
				}
				got, _ = a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 5})
				if got["reason"] != "granted" {
					t.Fatalf("%v", got)
				}
				if got, failed := a.call("say", map[string]any{"from": "bot", "message": "元気だよ", "grant": got["grant"].(map[string]any)["token"]}); failed {
					t.Fatalf("%v", got)
				}
			}
			waittest.Until(t, "everybody has spoken", func() bool {
				by := strings.Join(spoken(h, t), " ")
				return strings.Contains(by, "aya turn") && strings.Contains(by, "bot ") && (policy == "vote" || strings.Contains(by, "kyoko backchannel"))
			})
			if policy == "vote" && strings.Contains(fmt.Sprint(spoken(h, t)), "backchannel") {
				t.Errorf("a backchannel in a room without a pool: %v", spoken(h, t))
			}
		})
	}
}

// spoken gives who said what kind of thing.
func spoken(h *home, t *testing.T) []string {
	t.Helper()
	past, err := h.talk("main").History(t.Context(), abi.HistoryAsk{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, m := range past.Messages {
		by = append(by, m.From+" "+string(m.Kind))
	}
	return by
}

// Who is meant is told so, by whatever name it is called.
func TestAddressed(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	a := h.connect(nil)
	a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0})
	for text, want := range map[string]string{"botはどう?": "addressed", "BOT, what do you think?": "addressed", "誰かいる?": "unseen", "みんな、元気?": "unseen"} {
		h.human("main", text)
		if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot"}); got["reason"] != want {
			t.Errorf("%s: %v", text, got["reason"])
		}
	}
}

// Calls that wait are bounded, and the others go on.
func TestWaitsAreBounded(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	var leave func()
	for i := range waits.Most {
		var err error
		if leave, err = h.door.waits.Enter(readers.Place{Who: readers.Who{Name: fmt.Sprint("other", i)}}.Agent(), fmt.Sprint("address", i%2), time.Now().Add(waittest.Long)); err != nil {
			t.Fatal(err)
		}
	}
	a := h.connect(nil)
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "bot"}); !failed || got["code"] != "unavailable" || got["retry"] != true || !strings.Contains(fmt.Sprint(got), "try again in ") {
		t.Errorf("%v", got)
	}
	if got := a.consume("bot", 5, "うん"); got["success"] != true {
		t.Errorf("%v", got)
	}
	leave()
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); failed || got["reason"] != "timeout" {
		t.Errorf("%v", got)
	}
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); failed {
		t.Errorf("the place was not given back: %v", got)
	}
}

// An agent waits in as many rooms as it likes, in each with a few calls.
func TestWaitsInManyRooms(t *testing.T) {
	rules := rulesOf("pool", abi.DefaultPool())
	h := openHome(t, map[string]entry.Rules{"main": rules, "den": rules})
	for range waits.Each {
		if _, err := h.door.waits.Enter(readers.Place{Room: "main", Who: readers.Who{Name: "bot"}}.Agent(), "local", time.Now().Add(waittest.Long)); err != nil {
			t.Fatal(err)
		}
	}
	a := h.connect(nil)
	wait := func(room string) (map[string]any, bool) {
		return a.call("wait_for_turn", map[string]any{"from": "bot", "room": room, "timeout_seconds": 0})
	}
	if got, failed := wait("main"); !failed || got["message"] != "4 calls of yours are waiting in this room, which is all there may be in one" {
		t.Errorf("%v", got)
	}
	if got, failed := wait("den"); failed {
		t.Errorf("%v", got)
	}
}

// Where nobody may speak, a wish to is refused at once, with the reason.
func TestWishWhereNobodyMaySpeak(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.MaxTurns = 1
	h := openHome(t, map[string]entry.Rules{"main": rules}, &actor{id: "aya", importance: 5}, &actor{id: "kyoko"})
	a := h.connect(nil)
	h.human("main", "やあ")
	waittest.Until(t, "the room is capped", func() bool { return h.talk("main").Info().State == "capped" })
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot"}); got["turns"] != 1.0 || got["max_turns"] != 1.0 || got["closing"] != "none" {
		t.Errorf("the agent is not told how far the talk is: %v", got)
	}
	a.call("history", nil)
	if got := a.consume("bot", 60, "私も"); got["success"] != false || got["message"] != "1 turn was taken since a human spoke, which is the cap" {
		t.Errorf("%v", got)
	}
	if _, err := h.talk("main").Stop(t.Context(), "taro"); err != nil {
		t.Fatal(err)
	}
	if got := a.consume("bot", 60, "私も"); got["success"] != false || got["message"] != "a human said STOP; a human's next line starts the talk again" {
		t.Errorf("%v", got)
	}
}
