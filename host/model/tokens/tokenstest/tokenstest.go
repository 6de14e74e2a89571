// Package tokenstest is for tests of what keeps to a budget of tokens: it makes talk up, and counts tokens as
// the vocabularies of real models do, by programs that npm installs. No text and no vocabulary of others is in it.
package tokenstest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Families are the vocabularies that [Count] counts by. The last is one of those that know few Japanese letters.
func Families() []string { return []string{"o200k", "cl100k", "mistral"} }

// Count gives how many tokens each text is by one of the [Families]. Where that cannot be, the test is
// skipped, with the reason; with COMPANIOND_NODE=1 the programs are installed, and what fails then is a failure.
func Count(t testing.TB, family string, texts []string) (counts []int) {
	t.Helper()
	dir := needs(t)
	raw, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "count.mjs", family)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(raw)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node count.mjs: %v\n%s", err, complaints.String())
	}
	if err := json.Unmarshal(out, &counts); err != nil || len(counts) != len(texts) {
		t.Fatalf("%s counted %d of %d texts: %v", family, len(counts), len(texts), err)
	}
	return counts
}

// needs gives the folder of the programs.
func needs(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(here), "..", "..", "testdata", "tokenizers")
	must := os.Getenv("COMPANIOND_NODE") == "1"
	why := ""
	if _, err := exec.LookPath("node"); err != nil {
		why = "node is not installed"
	} else if !installed(dir) {
		why = "the tokenizers are not installed: npm ci --prefix host/model/testdata/tokenizers"
		if must {
			why = ""
			cmd := exec.CommandContext(t.Context(), "npm", "ci", "--loglevel=error")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("npm ci: %v\n%s", err, out)
			}
		}
	}
	switch {
	case why != "" && must:
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
	return dir
}

func installed(dir string) bool {
	for _, name := range []string{"gpt-tokenizer", "mistral-tokenizer-js"} {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", name, "package.json")); err != nil {
			return false
		}
	}
	return true
}
