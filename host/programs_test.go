//go:build unix

package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/waittest"
)

// TestAnInvitedAgentIsStarted: the program of one who is asked for and not here runs, knows
// what for and where, and ends with the daemon; and one that came while it ran is not forgotten.
func TestAnInvitedAgentIsStarted(t *testing.T) {
	h := newHome(t)
	var log logtest.Log
	h.log = log.Logger()
	pipe := filepath.Join(h.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	from, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that it does not end with the first that writes
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	const program = `echo $COMPANIOND_CONVERSATION $COMPANIOND_PROJECT $COMPANIOND_AGENT $COMPANIOND_URL $COMPANIOND_MCP_URL >"$0"; exec sleep 600`
	h.open(fmt.Sprintf("[project.site]\nagents = [\"taro\", \"hana\", \"worker\"]\n[agent.taro]\ntype = \"human\"\n[agent.hana]\ntype = \"human\"\n"+
		"[agent.worker]\nstart = [\"/bin/sh\", \"-c\", '%s', %q]\n", program, pipe))
	lines := bufio.NewScanner(from)
	started := func(who string) (conversation string, is []string) {
		t.Helper()
		var now struct {
			ID string `json:"conversation_id"`
		}
		resp, err := http.Post(h.url+"/chat/start", "application/json", strings.NewReader(fmt.Sprintf(`{"from":%q,"agent_id":"worker","message":"are you there?"}`, who)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&now); err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s %v", resp.Status, err)
		}
		_ = from.SetReadDeadline(time.Now().Add(waittest.Long))
		if who == "taro" && !lines.Scan() {
			t.Fatalf("no program was started: %v\n%s", lines.Err(), log.String())
		}
		return now.ID, strings.Fields(lines.Text())
	}
	id, got := started("taro")
	if want := []string{id, "site", "worker", h.url, h.url + "/mcp"}; !slices.Equal(got, want) {
		t.Errorf("it was started for %q, want %q", got, want)
	}
	started("hana")
	waittest.Until(t, "the second invitation", func() bool { return log.Count("an agent was invited and is running") == 1 })
	h.stop()
	if log.Count("an agent is started") != 1 || log.Count("an agent's program was ended") != 1 {
		t.Error(log.String())
	}
	h.open("[project.site]\nagents = [\"taro\", \"worker\"]\n[agent.taro]\ntype = \"human\"\n[agent.worker]\nstart = [\"/there/is/none\"]\n")
	waittest.Until(t, "what was asked for before the restart", func() bool { return len(log.Warnings("could not be started")) > 0 })
}
