package mcp

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
)

// The session by hand in the documents is answered as they say.
func TestTheSessionByHand(t *testing.T) {
	step := regexp.MustCompile(`(?m)^(?:tool ([a-z_]+) '(.*)' +# (.*)|bin/companiond say -from taro "(.*)")$`)
	for _, file := range []string{"docs/MCP.md", "docs/ja/MCP.md"} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile("../../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
			client := doortest.NewByHand(t, h.url)
			steps := step.FindAllStringSubmatch(string(text), -1)
			if len(steps) != 5 {
				t.Errorf("%d steps", len(steps))
			}
			for _, m := range steps {
				if m[4] != "" {
					h.human("main", m[4])
					continue
				}
				_, got := client.Post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, m[1], m[2]))
				_, rest, _ := strings.Cut(got, `"structuredContent":`)
				for part := range strings.SplitSeq(m[3], "…") {
					_, behind, ok := strings.Cut(rest, part)
					if !ok {
						t.Errorf("%s %s: %s\nthe file says %s", m[1], m[2], got, m[3])
					}
					rest = behind
				}
			}
		})
	}
}
