package doortest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	if got := summary("=== Running\nnoise\n=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n\nTotal: 2 passed, 0 failed\n"); got != "\n✓ ping: 2 passed, 0 failed\n\nTotal: 2 passed, 0 failed" {
		t.Errorf("%q", got)
	}
	if got := summary("it crashed"); got != "it crashed" {
		t.Errorf("%q", got)
	}
}

func TestFindings(t *testing.T) {
	dir := t.TempDir()
	for name, checks := range map[string]string{
		"good":   `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"}]`,
		"bad":    `[{"id":"a","status":"SUCCESS"},{"id":"c","status":"FAILURE","errorMessage":"no"},{"id":"d","status":"WARNING","errorMessage":"hm"}]`,
		"broken": `{`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "checks.json"), []byte(checks), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := findings(dir)
	if !strings.HasPrefix(got, "bad: FAILURE c: no\nbad: WARNING d: hm\nbroken: unexpected end") || strings.Contains(got, "good") {
		t.Errorf("%q", got)
	}
	if got := failed(filepath.Join(dir, "none")); len(got) != 1 || !strings.Contains(got[0], "none") {
		t.Errorf("%q", got)
	}
}

// A developer who has not installed the judges is told how, and may go on.
func TestJudgesAreMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(sub)
	t.Setenv("COMPANIOND_NODE", "")
	root, err := moduleRoot()
	if want, _ := filepath.EvalSymlinks(dir); err != nil || root != want && root != dir {
		t.Errorf("%q %v", root, err)
	}
	skipped := true
	for _, judge := range []func(*testing.T){
		func(t *testing.T) { Conformance(t, "http://localhost:1/mcp", "2026-07-28", "") },
		func(t *testing.T) { Inspector(t, "http://localhost:1/mcp", "--method", "tools/list") },
	} {
		t.Run("", func(t *testing.T) {
			defer func() { skipped = skipped && t.Skipped() }()
			judge(t)
		})
	}
	if !skipped {
		t.Error("a judge that is not there has judged")
	}
}

func TestNoModule(t *testing.T) {
	t.Chdir(t.TempDir())
	if root, err := moduleRoot(); err == nil {
		t.Errorf("%q", root)
	}
}
