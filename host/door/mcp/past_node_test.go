package mcp

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/waittest"
)

// specDir has a client on the TypeScript SDK, and its packages.
const specDir = "../../testdata/spec"

// TestPastOnTheTypeScriptSDK: a compresser on that SDK goes the whole way of the article, and the person at its client
// decides.
func TestPastOnTheTypeScriptSDK(t *testing.T) {
	if _, err := os.Stat(specDir + "/node_modules/.package-lock.json"); err != nil {
		if os.Getenv("COMPANIOND_NODE") == "1" {
			t.Fatal(err)
		}
		t.Skip("its packages are not installed: npm ci --prefix host/testdata/spec")
	}
	for answer, is := range map[string]history.State{"approve": history.Approved, "deny": history.Denied, "later": history.Offered, "close": history.Offered} {
		t.Run(answer, func(t *testing.T) {
			h := openArchive(t, 12)
			h.from(person("taro"))
			h.says(history.No, history.Yes)
			h.mu.Lock()
			h.later = true
			h.mu.Unlock()
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", "past.mjs", h.url, answer)
			cmd.Dir = specDir
			cmd.WaitDelay = 5 * time.Second
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{
				`"saw":"read_session_turns","error":false,"turns":10`, `"error":true,"text":"not_found: turns: 99 is no turn of main: it has 1 to 12 so far"`,
				`"status":"rejected","verdict":"NO"`, `"messages":["The draft is being verified."`, `"status":"pending_approval","verdict":"YES"`,
				`"saw":"question"`, `"fields":["decision","why"]`, `> A draft by the feedback: M1 is missing`,
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %s in\n%s", want, out)
				}
			}
			if got := h.state("p1"); got != is {
				t.Errorf("it is %s\n%s", got, out)
			}
		})
	}
}
