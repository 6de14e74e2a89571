//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
)

// manager is a service manager, as far as the daemon sees of it.
type manager struct {
	t     *testing.T
	hears *net.UnixConn
	dir   string
	cmd   *exec.Cmd
	log   chan string
}

// serve starts the daemon as a service manager does: with folders, a socket that is open already, and a watchdog.
func serve(t *testing.T, config string, sockets ...*os.File) *manager {
	t.Helper()
	m := &manager{t: t, dir: t.TempDir(), log: make(chan string, 1000)}
	short, err := os.MkdirTemp("", "cd") // the path of a socket may be no longer than 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	at := filepath.Join(short, "notify")
	if m.hears, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.hears.Close() })
	for _, dir := range []string{"etc", "state", "cache"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.dir, "etc", "companiond.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.cmd = exec.Command("sh", "-c", `export LISTEN_PID=$$; exec "$0" run`, exe) // the pid is known no sooner
	m.cmd.Dir, m.cmd.ExtraFiles = "/", sockets
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "COMPANIOND_") }) // of those who run the tests
	m.cmd.Env = append(env, beDaemon+"=1", "NOTIFY_SOCKET="+at, "WATCHDOG_USEC=1000000",
		"CONFIGURATION_DIRECTORY="+filepath.Join(m.dir, "etc"), "STATE_DIRECTORY="+filepath.Join(m.dir, "state"), "CACHE_DIRECTORY="+filepath.Join(m.dir, "cache"))
	if len(sockets) > 0 {
		m.cmd.Env = append(m.cmd.Env, "LISTEN_FDS="+strconv.Itoa(len(sockets)))
	}
	logs, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var is syscall.Stat_t
	if err := syscall.Fstat(int(end.Fd()), &is); err != nil {
		t.Fatal(err)
	}
	m.cmd.Stderr = end
	m.cmd.Env = append(m.cmd.Env, fmt.Sprintf("JOURNAL_STREAM=%d:%d", is.Dev, is.Ino))
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	t.Cleanup(func() { _ = m.cmd.Process.Kill(); _ = m.cmd.Wait() })
	go func() {
		defer close(m.log)
		for lines := bufio.NewScanner(logs); lines.Scan(); {
			m.log <- lines.Text()
		}
	}()
	return m
}

// until reads what the daemon tells until a message has some words.
func (m *manager) until(words string) string {
	m.t.Helper()
	buf := make([]byte, 4096)
	for {
		_ = m.hears.SetReadDeadline(time.Now().Add(waittest.Long))
		n, err := m.hears.Read(buf)
		if err != nil {
			m.t.Fatalf("it never says %q: %v", words, err)
		}
		if got := string(buf[:n]); strings.Contains(got, words) {
			return got
		}
	}
}

func (m *manager) logs() string {
	var all []string
	for l := range m.log {
		all = append(all, l)
	}
	return strings.Join(all, "\n")
}

// listening gives a socket as a service manager passes it, and its address.
func listening(t *testing.T, at string) (*os.File, string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	addr := l.Addr().String()
	_ = l.Close() // the file stays open
	return f, addr
}

// A service: it takes the socket that was opened for it, lives in the folders that it is given, says when it is there, that
// it works, and that it stops.
func TestAService(t *testing.T) {
	socket, at := listening(t, "127.0.0.1:0")
	m := serve(t, "", socket)
	if got := m.until("READY=1"); !strings.Contains(got, "STATUS=http://"+at+", 0 companions, 1 rooms, WebAssembly is ") {
		t.Errorf("%q", got)
	}
	resp, err := http.Get("http://" + at + "/v1/rooms")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	m.until("WATCHDOG=1")
	if _, err := os.Stat(filepath.Join(m.dir, "state", "companiond.db")); err != nil {
		t.Error(err)
	}
	if found, err := os.ReadDir(filepath.Join(m.dir, "cache")); err != nil || len(found) != 1 {
		t.Error(found, err)
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.until("STOPPING=1")
	logs := m.logs()
	if err := m.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, logs)
	}
	for _, l := range strings.Split(logs, "\n") {
		if !strings.HasPrefix(l, "<6>msg=") && !strings.HasPrefix(l, "<4>msg=") {
			t.Errorf("a line without its priority: %s", l)
		}
	}
}

// A socket that other machines reach lets in no guests whom the configuration does not.
func TestAServiceWithAnOpenSocket(t *testing.T) {
	socket, _ := listening(t, "0.0.0.0:0")
	m := serve(t, "", socket)
	logs := m.logs()
	if err := m.cmd.Wait(); err == nil || !strings.Contains(logs, "which other machines can reach, and door.listen says 127.0.0.1:3000") {
		t.Errorf("%v\n%s", err, logs)
	}
}
