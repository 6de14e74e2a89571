package streamable

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
)

// The suite of the people who write the protocol judges the guard and the
// transport. All that a revision requires must pass: there is no list of
// exceptions.
func TestConformance(t *testing.T) {
	for _, requirements := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(requirements, func(t *testing.T) {
			doortest.Conformance(t, conforming(t), requirements, "")
		})
	}
}

// The Inspector is what people try a server with.
func TestInspector(t *testing.T) {
	url := conforming(t)
	for _, era := range []string{"legacy", "modern", "auto"} {
		said := doortest.Inspector(t, url, "--protocol-era", era, "--method", "tools/call", "--tool-name", "test_simple_text")
		if !strings.Contains(said, "This is a simple text response for testing.") {
			t.Errorf("%s: %s", era, said)
		}
	}
}

func conforming(t *testing.T) (url string) {
	t.Helper()
	tr := New(fixture(), Config{})
	t.Cleanup(func() { shut(t, tr) })
	return behindGuard(t, tr, guard.Config{})
}
