package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web"
)

// The cost of a daemon is measured on one that has a process of its own: this test
// binary, which is a daemon where beDaemon is set.

const beDaemon = "COMPANIOND_TEST_DAEMON"

// weight is what a daemon has, once what nobody uses was given back.
type weight struct {
	Resident   int // KiB
	Heap       int // KiB
	Goroutines int
}

// daemonMain runs the daemon of the folder it was started in until its input ends,
// and answers each line of it with its weight.
func daemonMain() int {
	src, err := os.ReadFile("companiond.toml")
	cfg, problems := config.Parse("companiond.toml", src, nil)
	if err != nil || config.Failed(problems) {
		fmt.Fprintln(os.Stderr, err, problems)
		return 1
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(host.CollectAt)
	}
	d := host.New(host.Options{Config: cfg, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Version: web.Version{Version: "test"}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		in, out := make([]byte, 1), json.NewEncoder(os.Stdout)
		for {
			if _, err := os.Stdin.Read(in); err != nil || out.Encode(weigh()) != nil {
				return
			}
		}
	}()
	if err := d.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// weigh gives this process's weight.
func weigh() weight {
	for range 3 { // what has a finalizer, or lies in a pool, goes with the next one
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w := weight{Heap: int(m.HeapAlloc / 1024), Goroutines: runtime.NumGoroutine()}
	status, _ := os.ReadFile("/proc/self/smaps_rollup") // where there is none the benchmark is skipped
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "Rss:"); ok {
			w.Resident, _ = strconv.Atoi(strings.Fields(v)[0])
		}
	}
	return w
}

// daemon is a daemon in a process of its own, and its folder, which stays when it
// is stopped and started again.
type daemon struct {
	b    *testing.B
	dir  string
	url  string
	http *http.Client
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	log  bytes.Buffer // of the last start
}

// newDaemon makes a folder with a configuration.
func newDaemon(b *testing.B, toml string) *daemon {
	b.Helper()
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		b.Skip("resident memory is read from /proc, which is not here")
	}
	d := &daemon{b: b, dir: b.TempDir(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	d.configure(toml)
	d.must(os.Mkdir(filepath.Join(d.dir, "characters"), 0o700))
	b.Cleanup(func() { d.stop() })
	return d
}

// configure writes the configuration of the next start, with a port that is free.
func (d *daemon) configure(toml string) {
	d.b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	d.must(err)
	addr := l.Addr().String()
	_ = l.Close() // it never accepted anybody
	d.url = "http://" + addr
	toml = fmt.Sprintf("[door]\nlisten = %q\nmax_rooms = 100000\n[journal]\nballast = \"0\"\n%s", addr, toml)
	d.must(os.WriteFile(filepath.Join(d.dir, "companiond.toml"), []byte(toml), 0o600))
}

// start starts the process, and gives how long it took until something that is said
// in a room was durable.
func (d *daemon) start(room string) time.Duration {
	d.b.Helper()
	exe, err := os.Executable()
	d.must(err)
	d.cmd = exec.Command(exe)
	d.log.Reset()
	d.cmd.Dir, d.cmd.Env, d.cmd.Stderr = d.dir, append(os.Environ(), beDaemon+"=1"), &d.log
	d.in, err = d.cmd.StdinPipe()
	d.must(err)
	out, err := d.cmd.StdoutPipe()
	d.must(err)
	d.out = json.NewDecoder(out)
	begin := time.Now()
	d.must(d.cmd.Start())
	for time.Since(begin) < 5*time.Minute {
		if err = d.say(room, "こんにちは"); err == nil {
			return time.Since(begin)
		}
		time.Sleep(time.Millisecond)
	}
	d.b.Fatalf("room %s does not answer: %v\n%s", room, err, &d.log)
	return 0
}

// stop ends the process in order, and gives how long that took.
func (d *daemon) stop() time.Duration {
	d.b.Helper()
	if d.cmd == nil {
		return 0
	}
	begin := time.Now()
	d.http.CloseIdleConnections()
	_ = d.in.Close() // Wait says what came of it
	late := time.AfterFunc(2*time.Minute, func() { _ = d.cmd.Process.Kill() })
	defer late.Stop()
	if err := d.cmd.Wait(); err != nil {
		d.b.Errorf("the daemon ended: %v\n%s", err, &d.log)
	}
	d.cmd = nil
	return time.Since(begin)
}

// starts starts the daemon and stops it, n times, and gives how long the starts took.
func (d *daemon) starts(room string, n int) (took []time.Duration) {
	d.b.Helper()
	for range n {
		took = append(took, d.start(room))
		d.stop()
	}
	return took
}

// weigh gives the daemon's weight.
func (d *daemon) weigh() (w weight) {
	d.b.Helper()
	_, err := d.in.Write([]byte{'\n'})
	d.must(err)
	d.must(d.out.Decode(&w))
	return w
}

func (d *daemon) must(err error) {
	d.b.Helper()
	if err != nil {
		d.b.Fatal(err)
	}
}

func (d *daemon) say(room, text string) error {
	return d.ask(http.MethodPost, "/v1/rooms/"+room+"/messages", []byte(fmt.Sprintf(`{"from":"taro","text":%q}`, text)), http.StatusCreated)
}

// ask asks the daemon's HTTP door for something that it answers with a status, and
// reads the answer to its end.
func (d *daemon) ask(method, path string, body []byte, want int) error {
	answer, status, err := d.answer(method, path, body)
	if err == nil && status != want {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
	}
	return err
}

func (d *daemon) answer(method, path string, body []byte) (answer []byte, status int, err error) {
	req, err := http.NewRequest(method, d.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return answer, resp.StatusCode, err
}

// status gives a line of what the system says of the daemon's process, in KiB.
func (d *daemon) status(key string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	d.must(err)
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(v)[0])
			return n
		}
	}
	return 0
}

// said counts the newest messages of a room.
func (d *daemon) said(room string) int {
	text, _, err := d.answer(http.MethodGet, "/v1/rooms/"+room+"/messages", nil)
	d.must(err)
	return bytes.Count(text, []byte(`"seq":`))
}
