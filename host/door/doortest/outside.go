package doortest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// judges is where npm puts those who judge the MCP door, below the module's
// root. `npm ci` there installs them, and the Node that runs them.
const judges = "host/door/mcp/testdata/conformance"

// patience is how long a judge may take.
const patience = 3 * time.Minute

// Conformance runs the MCP conformance suite against the server at url and
// demands that all of it passes that the requirements of a revision, such as
// "2026-07-28", ask for. Baseline, when it is not empty, is a file of single checks
// that are expected to fail, each with the reason that the suite gives: one that does
// not fail, or not for that, is a failure as well. Without the suite the test is skipped,
// or fails if COMPANIOND_NODE is 1.
func Conformance(t *testing.T, url, requirements, baseline string) {
	t.Helper()
	dir := judgesDir(t)
	out := t.TempDir()
	const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
	args := []string{suite, "server", "--url", url, "--requirements", requirements, "-o", out}
	var expected []finding
	if baseline != "" {
		abs, err := filepath.Abs(baseline)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--expected-failures", abs)
		text, err := os.ReadFile(abs)
		if err != nil {
			t.Fatal(err)
		}
		var problems []string
		if expected, problems = readBaseline(string(text)); len(problems) > 0 {
			t.Fatalf("%s:\n%s", baseline, strings.Join(problems, "\n"))
		}
	}
	list, err := ask(t, dir, []string{suite, "list", "--requirements", requirements})
	required := requiredIn(list)
	if err != nil || len(required) == 0 {
		t.Fatalf("conformance with %s: what is required? %v\n%s", requirements, err, list)
	}
	said, err := ask(t, dir, args)
	verdict := summary(said)
	found, filing := results(out)
	if filing != nil {
		t.Fatalf("conformance with %s: %v\n%s", requirements, filing, verdict)
	}
	if problems := score(found, required, expected); err != nil || len(problems) > 0 {
		t.Fatalf("conformance with %s: %v\n%s\n%s", requirements, err, strings.Join(problems, "\n"), verdict)
	}
	if !strings.Contains(verdict, " passed, 0 failed") || !strings.Contains(verdict, "Total: ") {
		t.Fatalf("conformance with %s says that all is well, but not what:\n%s", requirements, said)
	}
	t.Logf("conformance with %s: %d checks are expected to fail%s", requirements, len(expected), verdict)
}

// Inspector runs the MCP Inspector's command line against the server at url,
// with arguments such as "--strict", "--method", "tools/list", and gives what it
// printed. It fails the test when the Inspector finds something, or is skipped
// as Conformance is.
func Inspector(t *testing.T, url string, args ...string) string {
	t.Helper()
	dir := judgesDir(t)
	said, err := ask(t, dir, append([]string{"node_modules/.bin/mcp-inspector", "--cli", url, "--transport", "http"}, args...))
	if err != nil {
		t.Fatalf("inspector %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	return said
}

// ask runs a judge with the Node that came with it, for they need a newer one
// than a machine may have.
func ask(t *testing.T, dir string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, nodeBinary), args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return string(out), err
}

const nodeBinary = "node_modules/node/bin/node"

func judgesDir(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, filepath.FromSlash(judges))
	if _, err := os.Stat(filepath.Join(dir, nodeBinary)); err != nil {
		const why = "the conformance suite is not installed: npm ci --prefix " + judges
		if os.Getenv("COMPANIOND_NODE") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return dir
}

// moduleRoot finds the folder of go.mod. A test runs in its package's folder.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	mod := strings.TrimSpace(string(out))
	if err == nil && (mod == "" || mod == os.DevNull) {
		err = errors.New("find module root: no go.mod above")
	}
	return filepath.Dir(mod), err
}

// summary gives what the suite says in the end.
func summary(said string) string {
	_, verdict, found := strings.Cut(said, "=== SUMMARY ===")
	if !found {
		return said
	}
	return strings.TrimRight(verdict, "\n")
}
