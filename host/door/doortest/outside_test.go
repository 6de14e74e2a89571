package doortest

import (
	"os"
	"path/filepath"
	"slices"
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

// What the suite files is compared check by check with what is expected.
func TestScore(t *testing.T) {
	dir := t.TempDir()
	for name, checks := range map[string]string{
		"server-good-2026-01-02T03-04-05-678Z":         `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"}]`,
		"server-bad-one-2026-01-02T03-04-05-679Z":      `[{"id":"a","status":"SUCCESS"},{"id":"c","status":"FAILURE","errorMessage":"no,\n never"},{"id":"d","status":"WARNING","errorMessage":"hm"}]`,
		"server-not-asked-for-2026-01-02T03-04-05-68Z": `[{"id":"x","status":"FAILURE","errorMessage":"no"}]`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "checks.json"), []byte(checks), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := results(dir)
	if err != nil {
		t.Fatal(err)
	}
	required := []string{"good", "bad-one"}
	c, d := finding{"bad-one:c", "no, never"}, finding{"bad-one:d", "hm"}
	for name, tc := range map[string]struct {
		required []string
		expected []finding
		want     string
	}{
		"as expected":    {required, []finding{c, d}, ""},
		"unexpected":     {required, []finding{d}, "unexpected: bad-one:c # no, never"},
		"another reason": {required, []finding{{c.check, "maybe"}, d}, "unexpected: bad-one:c # no, never; stale, the check is fulfilled or fails for another reason: bad-one:c # maybe"},
		"stale":          {required, []finding{c, d, {"good:a", "why"}}, "stale, the check is fulfilled or fails for another reason: good:a # why"},
		"absent":         {required, []finding{c, d, {"good:z", "why"}}, "absent, the suite has no such check: good:z # why"},
		"twice":          {required, []finding{c, d, d}, "twice: bad-one:d # hm"},
		"not run":        {append(required, "lost"), []finding{c, d}, "lost: was not run to its end"},
	} {
		if got := strings.Join(score(found, tc.required, tc.expected), "; "); got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "server-good-2026-01-02T03-04-05-678Z", "checks.json"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results(dir); err == nil || !strings.Contains(err.Error(), "server-good") {
		t.Errorf("%v", err)
	}
	if _, err := results(filepath.Join(dir, "none")); err == nil {
		t.Error("there is nothing")
	}
}

func TestBaseline(t *testing.T) {
	got, problems := readBaseline("# about\nserver:\n  # more\n\n  - a:b # because: \"x\" # and\n  - c:d # why\n")
	if want := []finding{{"a:b", `because: "x" # and`}, {"c:d", "why"}}; !slices.Equal(got, want) || problems != nil {
		t.Errorf("%v %v", got, problems)
	}
	_, problems = readBaseline("server:\n  - whole # why\n  - a:b\n- c:d # why\n  - a:b:c # why\n")
	want := "line 2: whole is no single check, write scenario:check-id; line 3: a:b has no reason, write it behind a #; " +
		`line 4: "- c:d # why" is no entry; line 5: a:b:c is no single check, write scenario:check-id`
	if got := strings.Join(problems, "; "); got != want {
		t.Errorf("%s", got)
	}
}

func TestRequired(t *testing.T) {
	got := requiredIn("Required for x (3 scenarios):\n\nServer scenarios (test against a server):\n  - a-b\n  - c\n\nClient scenarios:\n  - d\n")
	if want := []string{"a-b", "c"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := requiredIn("it crashed"); got != nil {
		t.Errorf("%v", got)
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
