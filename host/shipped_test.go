package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
)

// TestShippedConformance runs the conformance suite against the daemon as it is
// shipped. A case that needs tools, prompts or resources that the suite's authors
// invented is in the baseline, which may neither grow nor be out of date.
func TestShippedConformance(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	for _, requirements := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(requirements, func(t *testing.T) {
			doortest.Conformance(t, h.url+"/mcp", requirements, "testdata/conformance/"+requirements+".yml")
		})
	}
}

// TestShippedInspector: the Inspector has nothing against the tools, in either
// era of the protocol, and can call them.
func TestShippedInspector(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	for _, era := range []string{"legacy", "modern"} {
		said := doortest.Inspector(t, h.url+"/mcp", "--protocol-era", era, "--strict", "--method", "tools/list")
		var list struct {
			Tools []struct {
				Name        string
				InputSchema map[string]any
			}
		}
		if err := json.Unmarshal([]byte(said), &list); err != nil || len(list.Tools) < 6 {
			t.Fatalf("%s: %v\n%s", era, err, said)
		}
		for _, tool := range list.Tools {
			for _, word := range []string{"oneOf", "anyOf", "allOf"} { // model providers refuse the whole request
				if _, has := tool.InputSchema[word]; has || tool.InputSchema["type"] != "object" {
					t.Errorf("%s: the schema of %s begins with %s", era, tool.Name, word)
				}
			}
		}
		if said := doortest.Inspector(t, h.url+"/mcp", "--protocol-era", era, "--method", "tools/call", "--tool-name", "status"); !strings.Contains(said, "100") {
			t.Errorf("%s: status says %s", era, said)
		}
	}
}
