package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// promptedWays are how agents that obey the prompt connect: see testdata/agents7/prompted.mjs.
var promptedWays = []string{"fresh", "shared", "stateless", "together"}

// prompted are the agents of one room.
type prompted struct {
	h    *home
	room string

	mu     sync.Mutex
	events []promptedEvent
}

// promptedAgents starts them and waits until all are in the room.
func (h *home) promptedAgents(way, room string) *prompted {
	h.t.Helper()
	p := &prompted{h: h, room: room}
	on := aiSDK7.command[:len(aiSDK7.command)-1]
	cmd := exec.Command(on[0], slices.Concat(on[1:], []string{"prompted.mjs", h.url + "/mcp", way, room})...)
	cmd.Dir = aiSDK7.dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e promptedEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				h.t.Errorf("%s: %v", lines.Text(), err)
			}
			p.mu.Lock()
			p.events = append(p.events, e)
			p.mu.Unlock()
		}
	}()
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself, with an error
		<-read
		if err := cmd.Wait(); err != nil {
			h.t.Errorf("the agents: %v\n%s", err, complaints.String())
		}
	})
	h.until("the agents are in the room", func() bool {
		n := 0
		for _, m := range h.info(room).Members {
			if m.Kind == abi.KindAgent {
				n++
			}
		}
		return n == 3
	})
	return p
}

// log gives what happened so far.
func (p *prompted) log() promptedLog {
	p.mu.Lock()
	defer p.mu.Unlock()
	return promptedLog{p.h.t, p.h.entries(p.room), slices.Clone(p.events)}
}

// spinning is how many calls of a model nobody needs to look on any longer.
const spinning = 300

// quiet says whether all is said and everybody has been told of it.
func (p *prompted) quiet() bool {
	l := p.log()
	for who, all := range l.told() {
		if len(all) >= spinning {
			p.h.t.Fatalf("%s: %d calls of its model, the last one %+v", who, len(all), all[len(all)-1])
		}
	}
	info := p.h.info(p.room)
	return l.idle() && info.Round == nil && info.Floor == "" && (info.Policy == "pool" || info.Turns == info.MaxTurns) && len(l.unseen()) == 0
}

// TestPromptedAgents: agents that obey the prompt are told of each thing once, so that
// their models are called once for it, whether or not there is a session.
func TestPromptedAgents(t *testing.T) {
	aiSDK7.needs(t)
	if testing.Short() {
		t.Skip("talks take half a minute")
	}
	for _, way := range promptedWays {
		for _, room := range []string{"main", "pool"} {
			t.Run(way+"/"+room, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.open("[room.main]\ncompanions = []\npatience = \"" + forGuests(3*time.Second) + "\"\nfloor = \"30s\"\nmax_turns = 3\nsilence = \"0s\"\npace = \"0s\"\n" +
					"[room.pool]\npolicy = \"pool\"\ncompanions = []\n")
				p := h.promptedAgents(way, room)
				for i := range 3 {
					h.say(room, "taro", fmt.Sprintf("What do you think of number %d?", i+1))
					h.until("everybody has heard all of it", p.quiet)
				}
				time.Sleep(time.Second) // nothing more comes
				p.log().judge()
			})
		}
	}
}
