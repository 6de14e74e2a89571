package js_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

var update = flag.Bool("update", false, "write what comes of the checks of testdata/language.txt anew, as Node and the engine have it")

// claim is a check of language.txt.
type claim struct {
	line  int
	about string // the heading that it stands under
	code  string
	here  string // what comes of it in the engine
	node  string // and in Node, where that is something else, of one version
	told  string // what docs/JAVASCRIPT.md calls the difference
}

const claims = "testdata/language.txt"

// readClaims reads checks, which have empty lines between them.
func readClaims(t *testing.T) (all []claim) {
	t.Helper()
	var c claim
	for n, line := range strings.Split(mustRead(t, claims)+"\n", "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			c.about = line[3:]
		case strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "~ "):
			c.told = line[2:]
		case strings.HasPrefix(line, "= "):
			c.here = line[2:]
		case strings.HasPrefix(line, "! "):
			c.node = line[2:]
		case line != "" && c.code != "":
			c.code += "\n" + line
		case line != "":
			c.code, c.line = line, n+1
		case c.code != "":
			all = append(all, c)
			c = claim{about: c.about}
		}
	}
	return all
}

// Headings of what Node does otherwise, which docs/JAVASCRIPT.md lists, and of what an older one does not know.
const (
	differs = "not as in Node"
	newer   = "newer than 2023, where Node has it"
)

// TestLanguage: the programs of the list do in the engine what they do in Node, and those that are said to differ do.
func TestLanguage(t *testing.T) {
	all := readClaims(t)
	m, err := load(t, newEngine(t, nil), "language.js", mustRead(t, "testdata/language.js"))
	if err != nil {
		t.Fatal(err)
	}
	here := make([]string, len(all))
	for i, c := range all {
		data, err := json.Marshal(map[string][]string{"checks": {c.code}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Call(t.Context(), abi.Request{Op: abi.OpEvent, Data: data})
		var one []string
		if err == nil {
			err = json.Unmarshal(got, &one)
		}
		if err != nil || len(one) != 1 {
			t.Errorf("line %d: %v\n%s", c.line, err, c.code)
			continue
		}
		here[i] = one[0]
	}
	inNode := node(t, all)
	if *update {
		writeClaims(t, all, here, inNode)
		return
	}
	docs := mustRead(t, "../../../docs/JAVASCRIPT.md")
	under := map[string]int{}
	for i, c := range all {
		under[c.about]++
		if here[i] != c.here {
			t.Errorf("line %d: %s\nis      %s\nwant    %s", c.line, c.code, here[i], c.here)
		}
		if inNode != nil && !c.holds(inNode[i]) {
			t.Errorf("line %d: %s\nin Node %s\nhere    %s", c.line, c.code, inNode[i], c.here)
		}
		if c.about == differs && (c.told == "" || !strings.Contains(docs, c.told)) {
			t.Errorf("line %d: docs/JAVASCRIPT.md does not say that this differs: %q", c.line, c.told)
		}
	}
	same := len(all) - under[differs] - under[newer]
	if said := fmt.Sprintf("%d small programs", same); same < 200 || !strings.Contains(docs, said) {
		t.Errorf("docs/JAVASCRIPT.md does not say %q", said)
	}
	t.Logf("%d checks do what they do in Node, %d more where it is new enough, and %d are said to differ; Node is here: %v", same, under[newer], under[differs], inNode != nil)
}

// holds says whether Node may say so of what the list claims.
func (c claim) holds(inNode string) bool {
	switch c.about {
	case differs:
		return inNode != c.here
	case newer:
		return inNode == c.here || strings.HasPrefix(inNode, "throws ")
	}
	return inNode == c.here
}

// node gives what comes of checks in Node, nil where that is not installed.
func node(t *testing.T, all []claim) (results []string) {
	t.Helper()
	const run = `import { check } from "./language.mjs"; let all = ""; for await (const part of process.stdin) all += part;
const results = []; for (const code of JSON.parse(all)) results.push(await check(code)); process.stdout.write(JSON.stringify(results));`
	dir := t.TempDir()
	for name, text := range map[string]string{"language.mjs": mustRead(t, "testdata/language.js"), "run.mjs": run} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	codes := make([]string, len(all))
	for i, c := range all {
		codes[i] = c.code
	}
	in, err := json.Marshal(codes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Logf("not compared with Node, which is not installed: %v", err)
		return nil
	}
	cmd := exec.CommandContext(t.Context(), "node", "run.mjs")
	cmd.Dir, cmd.Stdin, cmd.Env = dir, bytes.NewReader(in), append(os.Environ(), "TZ=UTC", "LC_ALL=C")
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &results)
	}
	if err != nil || len(results) != len(all) {
		t.Fatalf("node: %d of %d: %v\n%s", len(results), len(all), err, wrong.String())
	}
	return results
}

// writeClaims writes what comes of checks.
func writeClaims(t *testing.T, all []claim, here, inNode []string) {
	t.Helper()
	text := mustRead(t, claims)
	var b strings.Builder
	b.WriteString(text[:strings.Index(text, "\n## ")+1])
	about := ""
	for i, c := range all {
		if c.about != about {
			about = c.about
			fmt.Fprintf(&b, "## %s\n\n", about)
		}
		switch {
		case inNode == nil:
			t.Fatal("what comes of the checks is what Node says, which is not installed")
		case about == newer && strings.HasPrefix(inNode[i], "throws "):
			fmt.Fprintf(&b, "%s\n= %s\n\n", c.code, here[i])
		case about == differs:
			fmt.Fprintf(&b, "~ %s\n%s\n= %s\n! %s\n\n", c.told, c.code, here[i], inNode[i])
		default:
			fmt.Fprintf(&b, "%s\n= %s\n\n", c.code, inNode[i])
		}
	}
	if err := os.WriteFile(claims, []byte(strings.TrimSuffix(b.String(), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
