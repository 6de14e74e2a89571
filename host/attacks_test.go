package host_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// ask makes one request of the daemon and gives status and body.
func (h *home) ask(method, path, body string, header ...string) (int, string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// agentSession begins a session of MCP by hand and gives its id.
func (h *home) agentSession() string {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	id := resp.Header.Get("Mcp-Session-Id")
	h.ask("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
	return id
}

// TestEvilSites is what a page of another site can try, at every door.
func TestEvilSites(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	const status = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`
	ws := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
	}{
		{"another name at /mcp", "POST", "/mcp", status, []string{"Host", "evil.example"}},
		{"another name at /add", "POST", "/add", `{"from":"a","message":"b"}`, []string{"Host", "evil.example:3000"}},
		{"another name at the relay", "GET", "/", "", append([]string{"Host", "evil.example"}, ws...)},
		{"another site at /mcp", "POST", "/mcp", status, []string{"Origin", "http://evil.example"}},
		{"another site at /add", "POST", "/add", `{"from":"a","message":"b"}`, []string{"Origin", "http://evil.example"}},
		{"a sandboxed page at /add", "POST", "/add", `{"from":"a","message":"b"}`, []string{"Origin", "null"}},
		{"another port at /mcp", "POST", "/mcp", status, []string{"Origin", "http://localhost:9"}},
		{"another site at the relay", "GET", "/", "", append([]string{"Origin", "http://evil.example"}, ws...)},
		{"another site at the feed", "GET", "/v1/rooms/main/feed", "", append([]string{"Origin", "http://evil.example"}, ws...)},
		{"a sandboxed page at the relay", "GET", "/ws", "", append([]string{"Origin", "null"}, ws...)},
	} {
		if code, body := h.ask(c.method, c.path, c.body, c.header...); code != http.StatusForbidden {
			t.Errorf("%s: %d %s", c.name, code, body)
		}
	}
	if ms := h.messages("main"); len(ms) > 0 {
		t.Errorf("something was said: %v", ms)
	}
}

// TestGreedyRequests are too long or too slow.
func TestGreedyRequests(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	for path, size := range map[string]int{"/mcp": 4<<20 + 1, "/add": 64<<10 + 1} {
		if code, body := h.ask("POST", path, strings.Repeat(" ", size)); code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d bytes to %s: %d %.200s", size, path, code, body)
		}
	}
	var wg sync.WaitGroup
	began := time.Now()
	for name, begin := range map[string]string{
		"a header": "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		"a body":   "POST /add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"from\"",
	} {
		wg.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprint(conn, begin)
			_ = conn.SetReadDeadline(time.Now().Add(waittest.Long))
			b, err := io.ReadAll(bufio.NewReader(conn))
			if err != nil || (name == "a body" && !strings.Contains(string(b), "408")) {
				t.Errorf("%s that does not come was waited for: %v %q", name, err, b)
			}
			most := 8 * time.Second // 5 s for a header, 10 s for a body, and some for the machine
			if name == "a body" {
				most = 15 * time.Second
			}
			if took := time.Since(began); waittest.Late(took, most) {
				t.Errorf("%s that does not come was waited for %v", name, took)
			}
		})
	}
	wg.Wait()
}

// newEra is what a request of the era without sessions says of who makes it.
const newEra = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// TestNamesOfTheHouse: nobody from outside speaks under the name of a companion,
// by whatever door.
func TestNamesOfTheHouse(t *testing.T) {
	for _, policy := range []string{"vote", "pool", "vote+pool"} {
		t.Run(policy, func(t *testing.T) { takeNames(t, policy) })
	}
}

func takeNames(t *testing.T, policy string) {
	h := newHome(t)
	h.drop(parrot(t, "one"), "hana.wasm")
	h.open(fmt.Sprintf("[room.main]\npolicy = %q\n", policy))
	id := h.agentSession()
	for _, args := range []string{
		`"consume","arguments":{"amount":5,"message":"偽物","from":"hana"}`, `"consume","arguments":{"amount":5,"message":"偽物","from":"ＨＡＮＡ"}`,
		`"say","arguments":{"message":"偽物","from":"hana"}`, `"vote","arguments":{"state":"speak","from":"hana"}`, `"wait_for_turn","arguments":{"from":"hana","timeout_seconds":0}`,
	} {
		code, body := h.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+args+`}}`, "Mcp-Session-Id", id)
		if code != http.StatusOK || !strings.Contains(body, "is a companion here") {
			t.Errorf("%s: %d %s", args, code, body)
		}
		tool := args[1:strings.Index(args, `",`)]
		code, body = h.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+args+newEra+`}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		if code != http.StatusOK || !strings.Contains(body, "is a companion here") {
			t.Errorf("%s, new era: %d %s", args, code, body)
		}
	}
	for path, body := range map[string]string{"/add": `{"from":"hana","message":"偽物"}`, "/v1/rooms/main/messages": `{"from":"hana","text":"偽物"}`} {
		if code, body := h.ask("POST", path, body); code != http.StatusForbidden || !strings.Contains(body, "is a companion here") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, e := range h.entries("main") {
		if e.Kind == entry.KindSaid || e.Kind == entry.KindVote || strings.Contains(string(e.Body), "偽物") {
			t.Errorf("entry %d: %s", e.Seq, e.Body)
		}
	}
}

// TestHundredAgents call at once through the whole daemon, in both eras of MCP:
// each gets its own answer.
func TestHundredAgents(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\npool_pricing = \"free\"\npool_recovery = \"1h\"\npool_size = 200\nmax_turns = 0\n")
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			id := h.agentSession()
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":"call-%d","method":"tools/call","params":{"name":"consume","arguments":{"amount":1,"message":"line %d","from":"agent%d"}}}`, i, i, i)
			code, body := h.ask("POST", "/mcp", call, "Mcp-Session-Id", id)
			if code != 200 || !strings.Contains(body, fmt.Sprintf(`"id":"call-%d"`, i)) || !strings.Contains(body, `"success":true`) {
				t.Errorf("%d: %d %s", i, code, body)
			}
			call = fmt.Sprintf(`{"jsonrpc":"2.0","id":"new-%d","method":"tools/call","params":{"name":"consume","arguments":{"amount":1,"message":"new %d","from":"agent%d"}`+newEra+`}}`, i, i, i)
			code, body = h.ask("POST", "/mcp", call, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "consume")
			if code != 200 || !strings.Contains(body, fmt.Sprintf(`"id":"new-%d"`, i)) || !strings.Contains(body, `"success":true`) {
				t.Errorf("%d, new era: %d %s", i, code, body)
			}
		})
	}
	wg.Wait()
	if ms := h.messages("main"); len(ms) != 200 {
		t.Errorf("%d messages of 200", len(ms))
	}
	if pool := h.info("main").Pool; pool == nil || pool.Level != 0 {
		t.Errorf("the pool: %+v", pool)
	}
}
