package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/waittest"
)

// polls is a server of conversations as a test wants it to be.
type polls struct {
	*httptest.Server
	// bend may change what a tool answers; nil: nothing is.
	bend func(tool, agent string, out map[string]any) map[string]any

	mu       sync.Mutex
	wake     *sync.Cond
	calls    map[string]int      // by tool
	sessions map[string]bool     // of MCP
	agents   map[string]string   // by token
	partners map[string]string   // by agent
	inbox    map[string][]string // by agent
	given    map[string]int      // of them in the answer before
	told     map[string][]string // actions an agent has to be told of
	senders  map[string]int
	closed   bool
}

func newPolls(t *testing.T) *polls {
	p := &polls{
		calls: map[string]int{}, sessions: map[string]bool{}, agents: map[string]string{}, partners: map[string]string{},
		inbox: map[string][]string{}, given: map[string]int{}, told: map[string][]string{}, senders: map[string]int{},
	}
	p.wake = sync.NewCond(&p.mu)
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.wake.Broadcast()
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *polls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodDelete {
		delete(p.sessions, id)
		return
	}
	var ask struct {
		ID     json.Number
		Method string
		Params struct {
			Name      string
			Arguments map[string]any
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var result any
	switch ask.Method {
	case "initialize":
		id = fmt.Sprint("session-", len(p.sessions))
		p.sessions[id] = true
		w.Header().Set("Mcp-Session-Id", id)
		result = map[string]any{"protocolVersion": "2025-11-25"}
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
		return
	default:
		if r.Header.Get("Mcp-Protocol-Version") == "2025-11-25" && !p.sessions[id] {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		p.calls[ask.Params.Name]++
		agent := p.agents[fmt.Sprint(ask.Params.Arguments["session_token"])]
		out := p.tool(ask.Params.Name, agent, ask.Params.Arguments)
		if p.bend != nil {
			out = p.bend(ask.Params.Name, agent, out)
		}
		result = map[string]any{"content": []any{}, "structuredContent": out, "isError": out == nil}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": ask.ID, "result": result})
}

// tool answers a call; nil is an error.
func (p *polls) tool(name, agent string, in map[string]any) map[string]any {
	p.inbox[agent] = p.inbox[agent][p.given[agent]:]
	p.given[agent] = 0
	switch name {
	case "authenticate":
		who := fmt.Sprint(in["agent_id"])
		token := fmt.Sprint("token of ", who)
		p.agents[token] = who
		return map[string]any{"session_token": token}
	case "logout":
		delete(p.agents, "token of "+agent)
		return map[string]any{"success": true}
	case "start_conversation":
		target := fmt.Sprint(in["target_agent_id"])
		p.partners[agent], p.partners[target] = target, agent
		return map[string]any{"conversation_id": "conv_" + agent}
	case "send_message":
		to := p.partners[agent]
		p.senders[agent]++
		p.inbox[to] = append(p.inbox[to], fmt.Sprint(in["content"]))
		p.wake.Broadcast()
		return map[string]any{"success": to == in["target_agent_id"]}
	case "get_pending_messages":
		var pending []any
		for _, text := range p.inbox[agent] {
			pending = append(pending, map[string]any{"content": text})
		}
		p.given[agent] = len(pending)
		return map[string]any{"pending_messages": pending}
	case "end_conversation":
		for _, who := range []string{agent, p.partners[agent]} {
			p.told[who] = append(p.told[who], "conversation_ended")
		}
		p.wake.Broadcast()
		return map[string]any{"success": true}
	case "get_next_action":
		for !p.closed && len(p.told[agent]) == 0 && len(p.inbox[agent]) == 0 {
			p.wake.Wait()
		}
		if told := p.told[agent]; len(told) > 0 {
			p.told[agent] = told[1:]
			return map[string]any{"action": told[0]}
		}
		return map[string]any{"action": "get_pending_messages"}
	}
	return nil
}

// do runs the command against a server, for a moment.
func do(url string, args ...string) (r report, errs string, code int) {
	var out, errOut bytes.Buffer
	code = doMain(append([]string{"-url", url + "/mcp", "-n", "3", "-rate", "100", "-d", "100ms", "-warm", "50ms", "-settle", "1ms"}, args...), &out, &errOut)
	_ = json.Unmarshal(out.Bytes(), &r)
	return r, errOut.String(), code
}

func TestEveryMessageComes(t *testing.T) {
	for _, args := range [][]string{nil, {"-bare"}} {
		p := newPolls(t)
		r, errs, code := do(p.URL, append(args, "-pid", fmt.Sprint(os.Getpid()))...)
		if code != 0 || errs != "" {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		if r.Messages < 9 || r.Messages > 11 || r.Conversations != 3 || r.WokeP50 <= 0 || r.WokeP99 < r.WokeP50 || r.TextP50 < r.WokeP50 || r.AnswerP50 <= 0 {
			t.Errorf("%v: %+v", args, r)
		}
		if r.Before <= 0 || r.Waiting < r.Before/2 || r.Used <= 0 {
			t.Errorf("%v: memory %+v", args, r)
		}
		if p.calls["authenticate"] != 6 || p.calls["start_conversation"] != 3 || p.calls["end_conversation"] != 3 || p.calls["logout"] != 6 {
			t.Errorf("%v: calls %v", args, p.calls)
		}
		if len(p.sessions) != 0 || len(p.agents) != 0 {
			t.Errorf("%v: left are %v and %v", args, p.sessions, p.agents)
		}
		if len(p.senders) != 6 { // all speak, each of two in turn
			t.Errorf("%v: %v", args, p.senders)
		}
	}
}

// What goes wrong is said, and ends all that waits.
func TestWhatIsWrongIsSaid(t *testing.T) {
	pending := func(text string) map[string]any {
		return map[string]any{"pending_messages": []any{map[string]any{"content": text}}}
	}
	for name, tc := range map[string]struct {
		tool string
		out  map[string]any
		want string
	}{
		"refused":         {"authenticate", nil, "authenticate of agent-"},
		"no token":        {"authenticate", map[string]any{}, "no session_token"},
		"no conversation": {"start_conversation", map[string]any{}, "no conversation_id"},
		"another action":  {"get_next_action", map[string]any{"action": "exit"}, `"exit"`},
		"never sent":      {"get_pending_messages", pending("message 70000"), "whom it is not for"},
		"not ours":        {"get_pending_messages", pending("hello"), "no message of ours"},
		"not said":        {"send_message", map[string]any{"success": false}, "success is not true"},
		"no end":          {"end_conversation", nil, "end_conversation of agent-"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolls(t)
			p.bend = func(tool, _ string, out map[string]any) map[string]any {
				if tool == tc.tool {
					return tc.out
				}
				return out
			}
			if _, errs, code := do(p.URL); code != 1 || !strings.Contains(errs, tc.want) {
				t.Errorf("%d %s", code, errs)
			}
		})
	}
}

func TestTwiceIsSaid(t *testing.T) {
	p := newPolls(t)
	p.bend = func(tool, _ string, out map[string]any) map[string]any {
		if tool == "get_pending_messages" {
			all, _ := out["pending_messages"].([]any)
			return map[string]any{"pending_messages": append(all, all...)}
		}
		return out
	}
	if _, errs, code := do(p.URL); code != 1 || !strings.Contains(errs, "twice") {
		t.Errorf("%d %s", code, errs)
	}
}

func quick(url string) settings {
	return settings{url: url + "/mcp", project: "bench", conversations: 2, rate: 100, poll: time.Second, length: 50 * time.Millisecond, settle: time.Millisecond, stuck: stuck}
}

func TestWhatIsLostIsSaid(t *testing.T) {
	p := newPolls(t)
	p.bend = func(tool, agent string, out map[string]any) map[string]any {
		if tool == "get_pending_messages" && agent == "agent-2" {
			return map[string]any{"pending_messages": []any{}}
		}
		return out
	}
	s := quick(p.URL)
	s.stuck = 300 * time.Millisecond
	if _, err := run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "to agent-2") {
		t.Errorf("%v", err)
	}
}

// Whoever interrupts it does not wait for the polls.
func TestInterrupt(t *testing.T) {
	p := newPolls(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.bend = func(tool, _ string, out map[string]any) map[string]any {
		if tool == "send_message" {
			cancel()
		}
		return out
	}
	s := quick(p.URL)
	s.length = time.Minute
	start := time.Now()
	if _, err := run(ctx, s); err == nil || err.Error() != "interrupted" || waittest.Late(time.Since(start), 10*time.Second) {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestSettings(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"-n 0", "-n: not within 1..5000"},
		{"-rate 0", "-rate: not within"},
		{"-rate NaN", "-rate: not within"},
		{"-poll 1m", "-poll: not within"},
		{"-d 0s", "-d: not within"},
		{"-warm 1h", "-warm: not within"},
		{"-settle -1s", "-settle: not within"},
		{"-n 2 -d 1m", "-d: each conversation would have 6500 messages"},
		{"-url http://192.0.2.1:80", "-url: "},
		{"-url https://127.0.0.1:80", "-url: "},
		{"-url http://localhost", "-url: "},
		{"-pid 999999999", "-pid: "},
		{"rest", "no arguments"},
	} {
		var out, errOut bytes.Buffer
		if code := doMain(strings.Fields(tc.args), &out, &errOut); code == 0 || out.Len() > 0 || !strings.Contains(errOut.String(), tc.want) {
			t.Errorf("%s: %d %s%s", tc.args, code, out.String(), errOut.String())
		}
	}
}

// What is written with -toml is a configuration that companiond takes.
func TestConfiguration(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := doMain([]string{"-n", "3", "-toml", "127.0.0.1:3000"}, &out, &errOut); code != 0 {
		t.Fatal(errOut.String())
	}
	cfg, problems := config.Parse("companiond.toml", out.Bytes(), nil)
	if len(problems) > 0 || len(cfg.Projects) != 1 || len(cfg.Projects[0].Agents) != 6 || cfg.Door.MaxClients < 12 {
		t.Errorf("%v %+v %+v", problems, cfg.Projects, cfg.Door)
	}
	for i := range 6 {
		if !slices.Contains(cfg.Projects[0].Agents, agentID(i)) {
			t.Errorf("%s is not in %v", agentID(i), cfg.Projects[0].Agents)
		}
	}
}

// The servers on Node that companiond is compared with do what is asked of them.
func TestServersOnNode(t *testing.T) {
	if _, err := os.Stat("../node_modules/express"); err != nil {
		t.Skip("bench/node_modules is missing (make npm)")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is missing")
	}
	for _, tc := range []struct{ file, flag string }{{"polls-server.mjs", "-bare=false"}, {"now-server.mjs", "-bare=false"}, {"now-server.mjs", "-bare"}} {
		t.Run(tc.file+tc.flag, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, tc.file)
			cmd.Dir, cmd.Stderr = "..", os.Stderr
			cmd.Env = append(os.Environ(), "PORT=0", "TOOLS=./polls.mjs")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			url := strings.TrimSuffix(strings.TrimSpace(line), "/mcp")
			if r, errs, code := do(url, tc.flag, "-pid", fmt.Sprint(cmd.Process.Pid)); code != 0 || r.Messages < 9 {
				t.Errorf("%d %+v %s", code, r, errs)
			}
		})
	}
}
