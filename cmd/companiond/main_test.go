package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
)

// beDaemon makes the test binary be companiond, so that tests can start it,
// kill it and look at what it left.
const beDaemon = "TEST_BE_COMPANIOND"

func TestMain(m *testing.M) {
	if code, ok := compilertest.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := warden.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if os.Getenv(beDaemon) != "" {
		os.Exit(doMain(os.Args[1:]))
	}
	testscript.Main(m, map[string]func(){
		"companiond": func() { os.Exit(doMain(os.Args[1:])) },
	})
}

// daemon is a companiond in a process of its own.
type daemon struct {
	t    *testing.T
	dir  string
	url  string
	cmd  *exec.Cmd
	logs chan string // what it logs behind "ready"; closed when it ended
}

// start runs companiond in dir, whose companiond.toml it writes, and waits
// until its doors are open.
func start(t *testing.T, dir, config string) *daemon {
	t.Helper()
	file := filepath.Join(dir, "companiond.toml")
	if err := os.WriteFile(file, []byte("[door]\nlisten = \"127.0.0.1:0\"\n[log]\nformat = \"json\"\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, dir: dir, logs: make(chan string, 1000)}
	d.cmd = exec.Command(exe, "run", "-config", file)
	d.cmd.Dir = dir
	d.cmd.Env = append(os.Environ(), beDaemon+"=1")
	logs, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.kill)
	var seen strings.Builder
	lines := bufio.NewScanner(logs)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		var l struct{ Msg, Listen string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "companiond is ready" {
			d.url = l.Listen
			break
		}
	}
	if d.url == "" {
		t.Fatalf("companiond did not start:\n%s", seen.String())
	}
	go func() {
		defer close(d.logs)
		for lines.Scan() {
			select {
			case d.logs <- lines.Text():
			default:
			}
		}
	}()
	return d
}

// kill ends it as a power cut to the process would: SIGKILL.
func (d *daemon) kill() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill() // it may have ended
		_ = d.cmd.Wait()
	}
}

// stop ends it as a service manager does and gives what it logged.
func (d *daemon) stop() string {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	var logs strings.Builder
	for l := range d.logs {
		logs.WriteString(l + "\n")
	}
	if err := d.cmd.Wait(); err != nil {
		d.t.Fatalf("companiond ended with %v\n%s", err, logs.String())
	}
	return logs.String()
}

// say posts a message and answers its seq; an error is a message that was not
// acknowledged.
func (d *daemon) say(from, text string) (uint64, error) {
	body := fmt.Sprintf(`{"from":%q,"text":%q}`, from, text)
	resp, err := http.Post(d.url+"/v1/rooms/main/messages", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var out struct{ Seq uint64 }
	if resp.StatusCode != http.StatusCreated {
		return 0, fmt.Errorf("%s: %s", resp.Status, b)
	}
	return out.Seq, json.Unmarshal(b, &out)
}

// get reads JSON.
func (d *daemon) get(path string, out any) {
	d.t.Helper()
	resp, err := http.Get(d.url + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %s %s %v", path, resp.Status, b, err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		d.t.Fatalf("%s: %v in %s", path, err, b)
	}
}

// entries reads the journal of the room main behind an entry, 0 for all of it.
func (d *daemon) entries(since uint64) []entry.Entry {
	d.t.Helper()
	var all []entry.Entry
	for {
		var page struct{ Entries []entry.Entry }
		d.get(fmt.Sprintf("/v1/rooms/main/entries?limit=1000&since=%d", since), &page)
		if len(page.Entries) == 0 {
			return all
		}
		all = append(all, page.Entries...)
		since = all[len(all)-1].Seq
	}
}

// checkReplay runs companiond replay on the daemon's journal, while it runs.
func checkReplay(t *testing.T, d *daemon) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "replay", "-config", filepath.Join(d.dir, "companiond.toml"))
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), beDaemon+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no difference") {
		t.Errorf("replay: %v\n%s", err, out)
	}
}
