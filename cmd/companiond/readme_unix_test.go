//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/companiond/companiond/host/waittest"
)

// TestReadmeRuns does in a clean copy of the tree what the READMEs tell a newcomer to do, in their order: what stands in a block
// of shell is typed, what is to be saved is saved, and each time somebody answers. Blocks of other documents behind the line
// <!-- runs --> are typed then. The package for Debian is not built, and nobody listens to the voice: tests of their own do.
func TestReadmeRuns(t *testing.T) {
	waittest.WithoutRaces(t)
	for _, tool := range []string{"make", "bash", "curl", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	for readme, docs := range map[string]string{"README.md": "docs/*.md", "README.ja.md": "docs/ja/*.md"} {
		t.Run(readme, func(t *testing.T) {
			n := newcomer{t: t, dir: t.TempDir()}
			n.copyTree()
			for _, b := range blocks(read(t, filepath.Join(n.dir, readme))) {
				n.do(b)
			}
			slices.Sort(n.done)
			if want := []string{"card", "deb", "lines", "model", "run", "say", "voice"}; !slices.Equal(n.done, want) {
				t.Errorf("%s led to %q, want %q", readme, n.done, want)
			}
			marked := 0
			files, err := filepath.Glob(filepath.Join(n.dir, docs))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				for _, b := range blocks(read(t, file)) {
					if b.lang == "sh" && strings.HasSuffix(b.before, "<!-- runs -->") {
						marked++
						n.run("curl() { command curl --fail-with-body -sS \"$@\"; }\nset -e\n" + strings.ReplaceAll(b.text, "127.0.0.1:3000", n.addr))
					}
				}
			}
			if marked < 2 {
				t.Errorf("%d blocks of %s are marked to be run", marked, docs)
			}
		})
	}
}

// newcomer is somebody who reads a README with a clean copy of the tree.
type newcomer struct {
	t    *testing.T
	dir  string
	addr string
	done []string // what came of the blocks
	said string   // what the last say showed
}

// do does what a block says.
func (n *newcomer) do(b block) {
	n.t.Helper()
	switch {
	case b.lang == "sh":
		for line := range strings.Lines(b.text) {
			n.typed(strings.TrimSpace(line))
		}
	case b.lang == "" && n.said != "":
		for _, m := range regexp.MustCompile(`(?m)^([a-z]+): `).FindAllStringSubmatch(b.text, -1) {
			if !strings.Contains(n.said, " "+m[1]+": ") {
				n.t.Errorf("%s is said to answer, and this was heard:\n%s", m[1], n.said)
			}
		}
	case b.lang == "text":
		n.save(b)
		waittest.Until(n.t, "momo is there", func() bool { return n.has("/v1/companions/momo", `"generation":1`) })
		sentence := regexp.MustCompile(`"([^"]+)"|「([^」]+)」`).FindStringSubmatch(b.before)
		_, answer, _ := strings.Cut(b.text[strings.LastIndex(strings.TrimSpace(b.text), "\n"):], ": ")
		n.hears(sentence[1]+sentence[2], "momo", strings.TrimSpace(answer))
		n.done = append(n.done, "lines")
	case b.lang == "json":
		n.save(b)
		waittest.Until(n.t, "tama is there", func() bool { return n.has("/v1/companions/tama", `"generation":1`) })
		n.done = append(n.done, "card")
	case b.lang == "toml" && strings.Contains(b.text, "[model.main]"):
		n.settings(regexp.MustCompile(`"http://[^"]*"`).ReplaceAllString(b.text, fmt.Sprintf("%q", n.model())))
		if told := n.run(command(n.t, b.before, "bin/companiond reload")); !strings.Contains(told, "in force: model.main") {
			n.t.Errorf("reload says %s", told)
		}
		n.hears("tama, who are you?", "tama", "The roof is mine.")
		n.done = append(n.done, "model")
	case b.lang == "toml":
		n.run(command(n.t, b.before, "make state/plugins/voice"))
		n.settings(b.text)
		if told := n.run("bin/companiond check"); !strings.HasSuffix(told, "ok\n") {
			n.t.Errorf("check says %s", told)
		}
		if told := n.run(command(n.t, b.before, "bin/companiond reload")); !strings.Contains(told, "in force: handler.voice, module.voice\n") || strings.Contains(told, "warning") {
			n.t.Errorf("reload says %s", told)
		}
		n.done = append(n.done, "voice")
	}
}

// typed runs a line of shell. The daemon stays, and for the package for Debian it is looked what would be done.
func (n *newcomer) typed(line string) {
	n.t.Helper()
	switch {
	case strings.HasPrefix(line, "make run"):
		n.start(line)
		n.done = append(n.done, "run")
	case strings.HasPrefix(line, "make deb"):
		_, file, _ := strings.Cut(line, "apt install ./")
		if told := n.run("make -n deb VERSION=0"); file == "" || !strings.Contains(told, "-t "+file) {
			n.t.Errorf("make deb does not make %q:\n%s", file, told)
		}
		n.done = append(n.done, "deb")
	default:
		n.said = n.run(line)
		n.done = append(n.done, "say")
	}
}

// hears says something and wants words of somebody in what follows.
func (n *newcomer) hears(text, who, words string) {
	n.t.Helper()
	heard := n.run("bin/companiond say -f '" + text + "'")
	if !regexp.MustCompile(`(?m) ` + who + `: .*` + regexp.QuoteMeta(words)).MatchString(heard) {
		n.t.Errorf("%q is not answered by %s with %q:\n%s", text, who, words, heard)
	}
}

// save writes a block into the file that the text before it names.
func (n *newcomer) save(b block) {
	n.t.Helper()
	name := regexp.MustCompile("`(characters/[^`]+)`").FindStringSubmatch(b.before)
	if name == nil {
		n.t.Fatalf("no file is named before\n%s", b.text)
	}
	if err := os.WriteFile(filepath.Join(n.dir, name[1]), []byte(b.text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newcomer) settings(text string) {
	n.t.Helper()
	file := filepath.Join(n.dir, "companiond.toml")
	if err := os.WriteFile(file, []byte(read(n.t, file)+text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newcomer) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = n.dir
	// Nobody waits for lines to be read, and a machine that is busy is waited for. Without its packages there is no JavaScript, which
	// no block needs.
	cmd.Env = append(os.Environ(), "COMPANIOND_DOOR_LISTEN="+n.addr, "COMPANIOND_ROOM_MAIN_PACE=0s", "COMPANIOND_ROOM_MAIN_PATIENCE=60s", "MAKEFLAGS=JS=none", "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
	return cmd
}

func (n *newcomer) run(line string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), waittest.Long)
	defer cancel()
	out, err := n.command(ctx, line).CombinedOutput()
	if err != nil {
		n.t.Errorf("%s\n%v\n%s", line, err, out)
	}
	return string(out)
}

// start runs the daemon until the test ends, and waits until it is ready.
func (n *newcomer) start(line string) {
	n.t.Helper()
	for n.addr = ""; n.addr == ""; { // a port that no connection gets by chance: those begin at 32768
		free, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err != nil {
			continue // somebody has it
		}
		n.addr = free.Addr().String()
		if err := free.Close(); err != nil {
			n.t.Fatal(err)
		}
	}
	cmd := n.command(context.Background(), line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	var said strings.Builder // until it ended that of the goroutine
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if said.WriteString(lines.Text() + "\n"); strings.Contains(lines.Text(), "companiond is ready") {
				close(ready)
			}
		}
		_ = cmd.Wait() // make says that it was ended
	}()
	n.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may have ended
		<-ended
		for _, want := range []string{"The first build", "companiond is ready"} {
			if !strings.Contains(said.String(), want) {
				n.t.Errorf("make run does not say %q:\n%s", want, said.String())
			}
		}
	})
	select { // however long it is built
	case <-ready:
	case <-ended:
		n.t.Fatalf("make run ended:\n%s", said.String())
	}
}

func (n *newcomer) has(path, words string) bool {
	resp, err := http.Get("http://" + n.addr + path)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return false
	}
	return resp.StatusCode == http.StatusOK && strings.Contains(b.String(), words)
}

// model is a language model that always says the same: a line where a stream is asked for, else a vote.
func (n *newcomer) model() (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			n.t.Error(err)
		}
		if ask.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"The roof is mine.\"}}]}\n\n"+
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"state\":\"listen\",\"importance\":0,\"reason\":\"asleep\"}"},"finish_reason":"stop"}]}`)
	}))
	n.t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// copyTree copies the tree without what is built or installed there.
func (n *newcomer) copyTree() {
	n.t.Helper()
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules"}, d.Name()), path == filepath.Join(tree, "bin"), path == filepath.Join(tree, "state"):
			return filepath.SkipDir
		}
		to := filepath.Join(n.dir, strings.TrimPrefix(path, tree))
		if d.IsDir() {
			return os.MkdirAll(to, 0o750)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, info.Mode())
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// command gives a command that a text names.
func command(t *testing.T, text, name string) string {
	t.Helper()
	if !strings.Contains(text, "`"+name+"`") {
		t.Errorf("%s is not named in: %s", name, text)
	}
	return name
}

// block is one of code, with the paragraphs between the one before it and itself.
type block struct{ lang, before, text string }

func blocks(text string) (all []block) {
	var before, code strings.Builder
	lang, in := "", false
	for line := range strings.Lines(text) {
		fence, is := strings.CutPrefix(line, "```")
		switch {
		case is && !in:
			lang, in = strings.TrimSpace(fence), true
		case is:
			all = append(all, block{lang, strings.TrimSpace(before.String()), code.String()})
			before.Reset()
			code.Reset()
			in = false
		case in:
			code.WriteString(line)
		default:
			before.WriteString(line)
		}
	}
	return all
}
