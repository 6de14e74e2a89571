package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room/reader"

	"github.com/companiond/companiond/host/waittest"
)

// agentsDir holds chat-relay's agents, as its article prints them, on Node.
const agentsDir = "testdata/agents"

// agentsOn is a version of the AI SDK that chat-relay's agents run on.
type agentsOn struct {
	name    string
	dir     string   // where its packages are
	command []string // that starts the agents there
}

// The version that chat-relay was written for, and the newest one, which has no sessions
// any more; that one brings its own Node.
var (
	aiSDK6 = agentsOn{"AI SDK 6", agentsDir, []string{"node", "agents.mjs"}}
	aiSDK7 = agentsOn{"AI SDK 7", "testdata/agents7", []string{"node_modules/node/bin/node", "--import", "./newest.mjs", "../agents/agents.mjs"}}
)

// needsNode skips a test, with the reason, where programs that npm installed in
// a folder cannot run; COMPANIOND_NODE=1 makes that a failure.
func needsNode(t *testing.T, dir string) {
	t.Helper()
	why := ""
	if _, err := exec.LookPath("node"); err != nil {
		why = "node is not installed"
	} else if _, err := os.Stat(dir + "/node_modules/.package-lock.json"); err != nil {
		why = "its packages are not installed: npm ci --prefix host/" + dir
	}
	if why != "" {
		noNode(t, why)
	}
}

// noNode skips a test, or fails it, that a program of Node would run.
func noNode(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("COMPANIOND_NODE") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// needs skips a test where the agents cannot run.
func (on agentsOn) needs(t *testing.T) {
	t.Helper()
	needsNode(t, on.dir)
	if node := on.command[0]; node != "node" {
		if _, err := os.Stat(filepath.Join(on.dir, node)); err != nil {
			noNode(t, "its own Node is not installed: npm ci --prefix host/"+on.dir)
		}
	}
}

// seedPort is where chat-relay's agents look for their server when they are not told
// otherwise.
const seedPort = "3000"

// agentEvent is one line that the agents print.
type agentEvent struct {
	Event, Who, Error, Reason string
	Success                   bool
	Amount                    float64
	Errors                    int
	T                         int64 // when, in milliseconds
	Messages                  int   // of history that it has read
}

// runAgents runs chat-relay's three agents for some time, where the daemon is, and
// lets a human say one line when they are ready.
func (h *home) runAgents(d time.Duration, line string) []agentEvent {
	h.t.Helper()
	return h.runAgentsOn(aiSDK6, d, line, nil)
}

// runAgentsOn does so on one version of the AI SDK, with settings of the agents' README.
// They end before their time is over once enough says so.
func (h *home) runAgentsOn(on agentsOn, d time.Duration, line string, enough func(agentEvent) bool, settings ...string) []agentEvent {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), d+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, on.command[0], on.command[1:]...)
	cmd.Dir = on.dir
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("RUN_MS=%d", d.Milliseconds()))
	cmd.Env = append(cmd.Env, settings...)
	if port := h.url[strings.LastIndex(h.url, ":")+1:]; port != seedPort {
		cmd.Env = append(cmd.Env, "RELAY_PORT="+port)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	var events []agentEvent
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e agentEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			h.t.Errorf("%s: %v", lines.Text(), err)
		}
		events = append(events, e)
		switch {
		case e.Event == "ready":
			h.add("user", line)
		case enough != nil && enough(e):
			enough = nil
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		}
	}
	if err := cmd.Wait(); err != nil {
		h.t.Errorf("the agents: %v\n%s", err, complaints.String())
	}
	return events
}

// add is chat-relay's curl.
func (h *home) add(from, message string) {
	h.t.Helper()
	body, err := json.Marshal(map[string]string{"from": from, "message": message})
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := http.Post(h.url+"/add", "application/json", strings.NewReader(string(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Success bool }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK || !answer.Success {
		h.t.Fatalf("/add: %s %v", resp.Status, err)
	}
}

// onSeedPort opens a daemon where chat-relay's agents look for it.
func (h *home) onSeedPort(toml string) {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:"+seedPort)
	for range 180 { // another run of this test may have it
		if err == nil {
			break
		}
		time.Sleep(time.Second)
		l, err = net.Listen("tcp", "127.0.0.1:"+seedPort)
	}
	if err != nil {
		if os.Getenv("COMPANIOND_NODE") == "1" {
			h.t.Fatal(err)
		}
		h.t.Skipf("the agents' port is taken: %v", err)
	}
	_ = l.Close()
	h.openAt("127.0.0.1:"+seedPort, toml)
}

// TestSeedAgents lets chat-relay's agents talk, unmodified and with the URL they
// know: one curl starts a talk of turns and backchannels in which nobody is
// refused for ever and the budget holds.
func TestSeedAgents(t *testing.T) {
	needsNode(t, agentsDir)
	waittest.WithoutRaces(t)
	t.Parallel() // agents wait for their models most of the time
	h := newHome(t)
	h.onSeedPort("[room.main]\npolicy = \"pool\"\n")
	events := h.runAgents(45*time.Second, "こんにちは!あなたたちは誰ですか?")
	h.judgeAgents(events)
	h.checkPool("main")
	h.stop()
	h.replays("main")
}

// TestSeedAgentsAmongCompanions lets them talk in one room with companions that
// are Wasm files, under each policy. They are told the port, because they talk at the
// same time.
func TestSeedAgentsAmongCompanions(t *testing.T) {
	needsNode(t, agentsDir)
	waittest.WithoutRaces(t)
	t.Parallel()
	for _, policy := range []string{"vote", "pool", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if policy == "vote+pool" { // the characters of this repository
				for _, name := range []string{"aya", "kyoko", "natsumi"} {
					h.drop("../characters/"+name+".talk.txt", name+".talk.txt")
				}
			} else {
				h.drop(parrot(t, "one"), "hana.wasm")
			}
			h.open(fmt.Sprintf("[room.main]\npolicy = %q\npatience = \"3s\"\nsilence = \"3s\"\npace = \"2s\"\n", policy))
			worst := h.refusals(h.runAgents(20*time.Second, "こんにちは!あなたたちは誰ですか?"))
			by := map[abi.ParticipantKind]int{}
			for _, e := range h.entries("main") {
				var s entry.Said
				if e.Kind == entry.KindSaid && json.Unmarshal(e.Body, &s) == nil {
					by[s.By]++
				}
			}
			t.Logf("%s: %v, at most %d refusals in a row", policy, by, worst)
			if worst > 9 { // three agents and the importance rises by one each time
				t.Errorf("somebody was refused %d times in a row", worst)
			}
			if by[abi.KindCompanion] == 0 || by[abi.KindAgent] == 0 {
				t.Errorf("not both spoke: %v", by)
			}
			h.checkPool("main")
			h.stop()
			h.replays("main")
		})
	}
}

// refusals gives the most refusals in a row of one agent.
func (h *home) refusals(events []agentEvent) (worst int) {
	h.t.Helper()
	row := map[string]int{}
	for _, e := range events {
		switch {
		case e.Event == "error":
			h.t.Errorf("%s: %s", e.Who, e.Error)
		case e.Event == "consume" && e.Success:
			row[e.Who] = 0
		case e.Event == "consume":
			row[e.Who]++
			worst = max(worst, row[e.Who])
		}
	}
	return worst
}

// judgeAgents holds a talk of agents to what a talk is.
func (h *home) judgeAgents(events []agentEvent) {
	h.t.Helper()
	worst := h.refusals(events)
	order, turns, backs, speakers := "", 0, 0, map[string]bool{}
	var last struct { // the newest turn
		from string
		seq  uint64
	}
	for _, e := range h.entries("main") {
		var s entry.Said
		if e.Kind != entry.KindSaid || json.Unmarshal(e.Body, &s) != nil {
			continue
		}
		if s.By == abi.KindHuman {
			last.from, last.seq = s.From, e.Seq
			continue
		}
		if s.Basis < last.seq && last.from != s.From {
			h.t.Errorf("entry %d: %s had read up to %d, and %s spoke at %d", e.Seq, s.From, s.Basis, last.from, last.seq)
		}
		if s.Kind == abi.KindTurn {
			last.from, last.seq = s.From, e.Seq
			turns, order, speakers[s.From] = turns+1, order+"T", true
		} else {
			backs, order = backs+1, order+"b"
		}
	}
	h.t.Logf("%s: %d turns of %d speakers, %d backchannels, at most %d refusals in a row", order, turns, len(speakers), backs, worst)
	// One turn in five seconds is all that the pool pays for.
	if turns < 5 || backs < 5 || len(speakers) < 2 || !strings.Contains(order, "Tb") || !strings.Contains(order, "bT") {
		h.t.Errorf("that is no talk: %s", order)
	}
	if worst > 6 {
		h.t.Errorf("somebody was refused %d times in a row", worst)
	}
}

// checkPool computes the level after each line anew from what is in the journal.
func (h *home) checkPool(name string) {
	h.t.Helper()
	type spend struct {
		at   time.Time
		cost float64
	}
	var spends []spend
	for _, e := range h.entries(name) {
		var s entry.Said
		if e.Kind != entry.KindSaid || json.Unmarshal(e.Body, &s) != nil {
			continue
		}
		spends = append(spends, spend{e.At, s.Cost})
		level := 100.0
		for _, p := range spends {
			if e.At.Sub(p.at) < 5*time.Second {
				level -= p.cost
			}
		}
		if level < 0 || s.Cost < 0 {
			h.t.Errorf("entry %d leaves a level of %v", e.Seq, level)
		}
	}
}

// replays runs the journal of a daemon that has stopped through the rules again.
func (h *home) replays(name string) {
	h.t.Helper()
	j, err := sqlite.OpenReadOnly(h.dir + "/state/companiond.db")
	if err != nil {
		h.t.Fatal(err)
	}
	defer j.Close()
	if r, err := reader.Replay(context.Background(), j, name); err != nil || r.Diff != nil || r.Derived == 0 || r.Folded > 0 {
		h.t.Errorf("replay: %+v %v", r, err)
	}
}
