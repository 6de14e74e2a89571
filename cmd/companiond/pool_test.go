package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"

	"github.com/companiond/companiond/host/waittest"
)

// TestKilledDaemonKnowsThePool kills the daemon again and again while agents
// spend from its pool. Whenever it is back, the level is the formula's: the
// size without the costs, in the journal, that are younger than the recovery
// time; and what was acknowledged is there.
func TestKilledDaemonKnowsThePool(t *testing.T) {
	waittest.WithoutRaces(t)
	rounds := 40
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_KILL_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 8
	}
	const recovery = 2 * time.Second
	toml := "[journal]\nballast = \"0\"\n[room.main]\npolicy = \"pool\"\npool_pricing = \"free\"\npool_recovery = \"2s\"\nmax_turns = 0\n"
	dir := t.TempDir()
	acked, low := map[string]float64{}, 0
	for round := range rounds {
		d := start(t, dir, toml)
		if level := checkLevel(t, d, recovery, acked); level < 100 {
			low++
		}
		spendAndKill(d, round, acked)
		if t.Failed() {
			return
		}
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
	}
	d := start(t, dir, toml)
	checkLevel(t, d, recovery, acked)
	checkReplay(t, d)
	t.Logf("%d kills, %d acknowledged lines, %d restarts with a pool that was not full", rounds, len(acked), low)
	if len(acked) < rounds || low < rounds/4 {
		t.Error("the load was no load")
	}
}

// checkLevel holds the level, as it is told, between what the formula gives
// just before and just after it was asked for.
func checkLevel(t *testing.T, d *daemon, recovery time.Duration, acked map[string]float64) float64 {
	t.Helper()
	type spend struct {
		at   time.Time
		cost float64
	}
	var spends []spend
	there := map[string]float64{}
	for _, e := range d.entries(0) {
		var s entry.Said
		if e.Kind != entry.KindSaid {
			continue
		}
		if err := json.Unmarshal(e.Body, &s); err != nil {
			t.Fatal(err)
		}
		spends, there[s.Text] = append(spends, spend{e.At, s.Cost}), s.Cost
		sum := 0.0
		for _, p := range spends {
			if e.At.Sub(p.at) < recovery {
				sum += p.cost
			}
		}
		if sum > 100 {
			t.Errorf("entry %d: %v points were spent of 100", e.Seq, sum)
		}
	}
	for text, cost := range acked {
		if got, ok := there[text]; !ok || got != cost {
			t.Errorf("acknowledged %q for %v, the journal has %v", text, cost, got)
		}
	}
	level := func(now time.Time) float64 {
		left := 100.0
		for _, p := range spends {
			if now.Sub(p.at) < recovery {
				left -= p.cost
			}
		}
		return left
	}
	var all struct {
		Rooms []struct{ Pool struct{ Level float64 } }
	}
	before := time.Now().Add(-2 * time.Millisecond) // the room's clock has whole milliseconds
	d.get("/v1/rooms", &all)
	after := time.Now().Add(2 * time.Millisecond)
	got := all.Rooms[0].Pool.Level
	if got < level(before) || got > level(after) || got < 0 || got > 100 {
		t.Errorf("the level is %v, the formula gives %v to %v", got, level(before), level(after))
	}
	before = time.Now().Add(-2 * time.Millisecond)
	told := d.status()
	if after = time.Now().Add(2 * time.Millisecond); told < level(before) || told > level(after) {
		t.Errorf("status says %v, the formula gives %v to %v", told, level(before), level(after))
	}
	return got
}

// status asks as an agent does.
func (d *daemon) status() float64 {
	d.t.Helper()
	session, err := d.mcp("", hello)
	if err != nil {
		d.t.Fatal(err)
	}
	answer, err := d.mcp(session.Header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`)
	if err != nil {
		d.t.Fatal(err)
	}
	var said struct {
		Result struct {
			StructuredContent struct{ Resource *float64 }
		}
	}
	if err := json.Unmarshal([]byte(answer.body), &said); err != nil || said.Result.StructuredContent.Resource == nil {
		d.t.Fatalf("status: %v in %s", err, answer.body)
	}
	return *said.Result.StructuredContent.Resource
}

// hello begins a session.
const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// spendAndKill lets three agents spend over MCP and kills the daemon in the
// middle of it.
func spendAndKill(d *daemon, round int, acked map[string]float64) {
	var mu sync.Mutex
	var agents sync.WaitGroup
	for a := range 3 {
		agents.Go(func() {
			session, err := d.mcp("", hello)
			if err != nil {
				return
			}
			id := session.Header.Get("Mcp-Session-Id")
			if _, err := d.mcp(id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
				return
			}
			for n := 0; ; n++ {
				text, cost := fmt.Sprintf("round %d agent %d line %d", round, a, n), float64(rand.IntN(8))
				answer, err := d.mcp(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"consume","arguments":{"amount":%v,"message":%q,"from":"agent%d"}}}`, n+1, cost, text, a))
				if err != nil {
					return
				}
				if strings.Contains(answer.body, `"success":true`) {
					mu.Lock()
					acked[text] = cost
					mu.Unlock()
				}
			}
		})
	}
	time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
	d.kill()
	agents.Wait()
}

type mcpAnswer struct {
	*http.Response
	body string
}

// mcp posts one message of MCP.
func (d *daemon) mcp(session, body string) (mcpAnswer, error) {
	req, err := http.NewRequest(http.MethodPost, d.url+"/mcp", strings.NewReader(body))
	if err != nil {
		return mcpAnswer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return mcpAnswer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return mcpAnswer{resp, string(b)}, err
}
