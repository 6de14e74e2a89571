package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
)

// TestTalkFromTheShell uses every verb that talks to a daemon, with a character
// that companiond new wrote.
func TestTalkFromTheShell(t *testing.T) {
	dir := t.TempDir()
	momo(t, dir)
	// However slow the machine is, momo is waited for.
	d := start(t, dir, "[journal]\nballast = \"0\"\n[room.main]\npace = \"0s\"\npatience = \"60s\"\nfloor = \"60s\"\n")

	said := d.verb("say", "-from", "taro", "-f", "momo, hello!")
	if !strings.Contains(said, "taro: momo, hello!") || !strings.Contains(said, "momo: ") {
		t.Errorf("say -f shows\n%s", said)
	}
	var page struct{ Messages []abi.Message }
	d.get("/v1/rooms/main/messages", &page)
	if len(page.Messages) < 2 {
		t.Fatalf("nobody answered: %+v\n%s", page.Messages, d.stop())
	}
	answer := page.Messages[1]

	why := d.verb("why", fmt.Sprintf("#%d", answer.Seq))
	if !strings.Contains(why, "momo") || !strings.Contains(why, "addressed") {
		t.Errorf("why says\n%s", why)
	}
	stopped := d.verb("stop", "-from", "taro")
	if !strings.Contains(stopped, "stopped at #") {
		t.Errorf("stop says\n%s", stopped)
	}
	tail := d.tail()
	for _, want := range []string{"momo is here", "momo asks for the floor", "momo gets the floor", "momo: " + answer.Text, "STOP by taro"} {
		if !strings.Contains(tail, want) {
			t.Errorf("tail does not show %q:\n%s", want, tail)
		}
	}
	checkReplay(t, d)
	if logs := d.stop(); !strings.Contains(logs, "companiond stopped") {
		t.Errorf("it ended without a word:\n%s", logs)
	}
}

// momo writes a character and builds it the way its README says.
func momo(t *testing.T, dir string) {
	t.Helper()
	out := filepath.Join(dir, "characters")
	var said bytes.Buffer
	term := &term{out: &said, err: &said}
	if code := term.do(t.Context(), []string{"new", "character", "momo", "-lang", "go", "-dir", out}); code != 0 {
		t.Fatalf("new: %s", &said)
	}
	if code := term.do(t.Context(), []string{"new", "character", "momo", "-lang", "go", "-dir", out}); code == 0 {
		t.Error("new wrote over a character")
	}
	const line = "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o momo.wasm ."
	readme, err := os.ReadFile(filepath.Join(out, "momo", "README.md"))
	if err != nil || !strings.Contains(string(readme), line) || !strings.Contains(string(readme), "`characters/momo/momo.wasm`") {
		t.Errorf("the README does not say how to build and where to: %v\n%s", err, readme)
	}
	for _, want := range []string{filepath.Join(out, "momo", "main.go") + "\n", "cd " + filepath.Join(out, "momo") + "\n", line} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("new does not say %q:\n%s", want, &said)
		}
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", "momo.wasm", ".")
	build.Dir = filepath.Join(out, "momo")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-mod=mod", "GOPROXY=off")
	if b, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, b)
	}
}

// verb runs another companiond against this one and gives what it prints.
func (d *daemon) verb(args ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), waittest.Long)
	defer cancel()
	var out, errs bytes.Buffer
	t := &term{out: &out, err: &errs, env: []string{envURL + "=" + d.url}}
	if code := t.do(ctx, args); code != exitOK {
		d.t.Errorf("%q ended with %d: %s", args, code, &errs)
	}
	return out.String()
}

// tail reads the room until the STOP that ends it.
func (d *daemon) tail() string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), waittest.Long)
	defer cancel()
	w := &watcher{stop: "STOP by", end: cancel}
	t := &term{out: w, err: io.Discard, env: []string{envURL + "=" + d.url}}
	if code := t.do(ctx, []string{"tail", "-since", "0"}); code != exitOK {
		d.t.Errorf("tail ended with %d", code)
	}
	return w.String()
}

// watcher is a buffer that calls end when it has seen stop.
type watcher struct {
	mu   sync.Mutex
	b    strings.Builder
	stop string
	end  func()
}

func (u *watcher) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if strings.Contains(string(p), u.stop) {
		u.end()
	}
	return u.b.Write(p)
}

func (u *watcher) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.b.String()
}

func TestProblemsAreSaidInWords(t *testing.T) {
	dir := t.TempDir()
	d := start(t, dir, "[journal]\nballast = \"0\"\n[room.main]\n[room.den]\n")
	var errs bytes.Buffer
	term := &term{out: io.Discard, err: &errs, env: []string{envURL + "=" + d.url}}
	for _, tc := range []struct{ args, want string }{
		{"say -room nowhere hello", `there is no "nowhere"; rooms here: den, main`},
		{"stop -room nowhere", `there is no "nowhere"; rooms here: den, main`},
		{"why -room nowhere 1", `there is no "nowhere"; rooms here: den, main`},
		{"tail -room nowhere -since 0", `there is no "nowhere"; rooms here: den, main`},
		{"say -from a/b hello", "from"},
		{"why 999", "no entry 999"},
		{"replay -room nowhere " + filepath.Join(dir, "state", "companiond.db"), "nowhere"},
		{"tail -room nowhere", `there is no "nowhere"; rooms here: den, main`},
		{"replay nothing.db", "companiond replay: no journal at nothing.db\n"},
		{"new robot x", "new character NAME"},
		{"new charcter momo", "did you mean companiond new character momo?"},
	} {
		errs.Reset()
		if code := term.do(t.Context(), strings.Fields(tc.args)); code == exitOK {
			t.Errorf("%s: succeeded", tc.args)
		}
		if !strings.Contains(errs.String(), tc.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: says %q, want a line with %q", tc.args, &errs, tc.want)
		}
	}
	errs.Reset()
	if code := term.do(t.Context(), []string{"say", "-f", "is anybody here?"}); code != exitOK || !strings.Contains(errs.String(), "no character is in the room") {
		t.Errorf("say -f in an empty room: %d, %s", code, &errs)
	}
	resp, err := http.Get(d.url + "/v1/companions")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); strings.TrimSpace(string(b)) != "[]" {
		t.Errorf("a house without companions lists %s", b)
	}
}
