package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/waits"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// connectAs opens a client of an era; those of the newer hold no session.
func (h *home) connectAs(era string) *agent {
	h.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(h.t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{h.t, s}
}

// told gives the seqs of what an answer of wait_for_turn tells.
func toldOf(answer map[string]any) (seqs []uint64) {
	for _, m := range answer["messages"].([]any) {
		seqs = append(seqs, uint64(m.(map[string]any)["seq"].(float64)))
	}
	return seqs
}

// Whoever names itself is told of everything once, with a fresh session for each call and
// without any; another under another name, through the same client, is told as well.
func TestWaitRemembersTheName(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
			for n := range 3 {
				h.human("main", fmt.Sprint("やあ ", n))
			}
			shared := h.connectAs(era)
			for _, client := range []func() *agent{func() *agent { return h.connectAs(era) }, func() *agent { return shared }} {
				for _, name := range []string{"aya", "kyoko"} {
					got, _ := client().call("wait_for_turn", map[string]any{"from": name + fmt.Sprint(client() == shared), "timeout_seconds": 0})
					if len(toldOf(got)) != 3 {
						t.Errorf("%s is told %v", name, got)
					}
					got, _ = client().call("wait_for_turn", map[string]any{"from": name + fmt.Sprint(client() == shared), "timeout_seconds": 0})
					if got["reason"] != "timeout" || len(toldOf(got)) != 0 {
						t.Errorf("%s is told again: %v", name, got)
					}
				}
			}
		})
	}
}

// With its name, an agent has the basis of what it read also where it has no session: what
// it says is not about what is no longer the newest.
func TestANameIsTheBasis(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())})
			a := h.connectAs(era)
			h.human("main", "こんにちは")
			first, _ := a.call("history", map[string]any{"from": "one"})
			second, _ := a.call("history", map[string]any{"from": "two"})
			if first["head"] != second["head"] || first["head"] == nil || first["history"].([]any)[0].(map[string]any)["seq"] == nil {
				t.Fatalf("%v, %v", first, second)
			}
			if got := a.consume("one", 50, "先に言う"); got["success"] != true {
				t.Fatal(got)
			}
			if got := a.consume("two", 50, "それを知らずに言う"); got["success"] != false || got["message"] != "Stale: one spoke meanwhile. Read history again." {
				t.Errorf("a stale line: %v", got)
			}
			a.call("history", map[string]any{"from": "one"})
			if got := a.consume("two", 50, "まだ知らない"); got["success"] != false {
				t.Errorf("another read, it did not: %v", got)
			}
			again, _ := a.call("history", map[string]any{"from": "two"})
			if got, _ := a.call("status", map[string]any{"from": "two"}); got["head"] != again["head"] {
				t.Errorf("status of who has read up to %v: %v", again["head"], got)
			}
			if got, _ := a.call("status", map[string]any{"from": "three"}); got["head"] != nil {
				t.Errorf("status of who has read nothing: %v", got)
			}
			if got := a.consume("two", 50, "読んでから言う"); got["success"] != true {
				t.Errorf("after it read: %v", got)
			}
		})
	}
}

// A position that the room has not reached is refused, and remembered by nobody.
func TestPositionsBeyondTheHead(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())})
	a := h.connect(nil)
	m := h.human("main", "やあ")
	beyond := float64(h.talk("main").Info().Head + 1000)
	for _, c := range []struct {
		tool string
		args map[string]any
		of   string
	}{
		{"wait_for_turn", map[string]any{"from": "bot", "basis_seq": beyond, "timeout_seconds": 0}, "basis_seq"},
		{"say", map[string]any{"from": "bot", "basis_seq": beyond, "message": "x"}, "basis_seq"},
		{"consume", map[string]any{"from": "bot", "basis_seq": beyond, "message": "x", "amount": 5}, "basis_seq"},
		{"history", map[string]any{"since": beyond}, "since"},
		{"history", map[string]any{"since": beyond, "from": "bot"}, "since"},
	} {
		got, failed := a.call(c.tool, c.args)
		want := fmt.Sprintf("%s: %.0f is beyond the room's head, ", c.of, beyond)
		message, _ := got["message"].(string)
		if !strings.HasPrefix(message, want) || !strings.HasSuffix(message, ": give the head of your last answer, or leave it out") || failed != (c.tool != "consume") || !failed && got["success"] != false {
			t.Errorf("%s: %v, want %q", c.tool, got, want)
		}
	}
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); len(toldOf(got)) != 1 {
		t.Errorf("it has become deaf: %v", got)
	}
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "bot", "basis_seq": m.Seq, "timeout_seconds": 0}); failed || got["reason"] != "timeout" {
		t.Errorf("at the head itself: %v", got)
	}
}

// What a limit cuts off is told, and can be read.
func TestGapsAreTold(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())})
	a := h.connect(nil)
	first := h.human("main", "最初")
	if got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 0}); got["missed_since"] != nil {
		t.Errorf("nothing is missing: %v", got)
	}
	a.call("history", map[string]any{"from": "aya"})
	var seqs []uint64
	for n := range abi.MaxHistory + 20 {
		seqs = append(seqs, h.human("main", fmt.Sprint("つぎ ", n)).Seq)
	}
	for tool, args := range map[string]map[string]any{"wait_for_turn": {"from": "bot", "timeout_seconds": 0}, "history": {"from": "aya"}} {
		got, _ := a.call(tool, args)
		if got["missed_since"] == nil || got["missed_since"].(float64) < float64(first.Seq) || got["missed_since"].(float64) >= float64(seqs[0]) {
			t.Errorf("%s missed since %v, the first message is %d", tool, got["missed_since"], first.Seq)
		}
		if got["head"] != float64(h.talk("main").Info().Head) {
			t.Errorf("%s: head %v", tool, got["head"])
		}
	}
	if got, _ := a.call("history", map[string]any{"from": "aya"}); got["missed_since"] != nil {
		t.Errorf("nothing is missing now: %v", got)
	}
	var read []uint64
	since := float64(first.Seq)
	for page := 0; ; page++ {
		got, _ := a.call("history", map[string]any{"from": "natsumi", "since": since, "limit": 50})
		for _, m := range got["history"].([]any) {
			read = append(read, uint64(m.(map[string]any)["seq"].(float64)))
		}
		since = got["head"].(float64)
		if status, _ := a.call("status", map[string]any{"from": "natsumi"}); status["head"] != since {
			t.Errorf("page %d leaves it at %v, status says %v", page, since, status["head"])
		}
		if got["more"] == nil {
			break
		}
	}
	if fmt.Sprint(read) != fmt.Sprint(seqs) {
		t.Errorf("read %v of %v", read, seqs)
	}
}

// An agent that had too few points is woken when they are back, once, and one that had not is
// not.
func TestWaitForPoints(t *testing.T) {
	pool := freePool()
	pool.Recovery = int64(1500 * min(waittest.Slowness(), 3)) // or they are back before they are missed
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", pool)})
	a := h.connect(nil)
	for _, who := range []string{"bot", "aya", "rich"} {
		a.call("wait_for_turn", map[string]any{"from": who, "timeout_seconds": 0})
	}
	if got := a.consume("rich", 100, "全部使う"); got["success"] != true {
		t.Fatal(got)
	}
	a.call("history", map[string]any{"from": "bot"})
	a.call("history", map[string]any{"from": "aya"})
	if got := a.consume("bot", 60, "足りない"); got["message"] != "Not enough resource." {
		t.Fatal(got)
	}
	a.call("status", map[string]any{"from": "aya"})
	for _, who := range []string{"bot", "aya"} {
		got, _ := a.call("wait_for_turn", map[string]any{"from": who, "timeout_seconds": 20})
		if got["reason"] != "points" || got["resource"] != 100.0 {
			t.Errorf("%s: %v", who, got)
		}
	}
	for _, who := range []string{"bot", "aya", "rich"} {
		if got, _ := a.call("wait_for_turn", map[string]any{"from": who, "timeout_seconds": 0}); got["reason"] != "timeout" {
			t.Errorf("%s: %v", who, got)
		}
	}
}

// An agent that was asked and does not vote is asked once, and again when its wait is over;
// the same for a grant that it does not use.
func TestToldOnce(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.Patience, rules.Floor = 60_000, 60_000
	h := openHome(t, map[string]entry.Rules{"main": rules})
	a := h.connect(nil)
	wait := func(seconds float64) (string, time.Duration) {
		t.Helper()
		began := time.Now()
		got, _ := a.call("wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": seconds})
		return got["reason"].(string), time.Since(began)
	}
	wait(0)
	h.human("main", "botはどう?")
	for _, want := range []string{"asked", "granted"} {
		if got, _ := wait(20); got != want {
			t.Fatalf("%s, not %s", got, want)
		}
		for range 2 {
			if got, took := wait(0.3); got != want || took < 300*time.Millisecond {
				t.Errorf("%s again after %v, not %s", got, took, want)
			}
		}
		if want == "asked" {
			if got, failed := a.call("vote", map[string]any{"from": "bot", "state": "speak", "importance": 9}); failed {
				t.Fatal(got)
			}
		}
	}
}

// Of two waits of one agent one is told, and there may not be many.
func TestParallelWaits(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	a := h.connectAs(modernEra)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers := make(chan map[string]any, waits.Each)
	for range waits.Each {
		go func() {
			res, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: "wait_for_turn", Arguments: map[string]any{"from": "bot", "timeout_seconds": 50}})
			if err != nil {
				t.Error(err)
			}
			got, _ := res.StructuredContent.(map[string]any)
			answers <- got
		}()
	}
	waittest.Until(t, "they wait", func() bool { return h.door.waits.Waiting() == waits.Each })
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "bot"}); !failed || got["code"] != "exhausted" {
		t.Errorf("a fifth: %v", got)
	}
	if got, failed := a.call("wait_for_turn", map[string]any{"from": "other", "timeout_seconds": 0}); failed {
		t.Errorf("another: %v", got)
	}
	for range waits.Each { // each line ends one of them: another that it ended would tell it again
		m := h.human("main", "やあ")
		if got := <-answers; got["reason"] != "unseen" || fmt.Sprint(toldOf(got)) != fmt.Sprint([]uint64{m.Seq}) {
			t.Errorf("of message %d it is told %v", m.Seq, got)
		}
	}
}
