package host_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/waittest"
)

// mortal is a daemon in a process of its own that is killed at a planned point of what its
// clients do, and started again at once.
type mortal struct {
	t     *testing.T
	dir   string
	kills int
	where map[string]int // it was killed so often at which call
	last  string

	// The mutex is held while one daemon takes the place of another.
	mu    sync.Mutex
	cmd   *exec.Cmd
	heard chan struct{} // closed when all that it said was read
	life  int           // the how-manieth daemon it is
	url   string
	fault error // why there is none any more
	calls int   // since the plan was made
	point int   // the call, before, within or behind; -1 when it is done
}

// newMortal starts one on a folder of its own.
func newMortal(t *testing.T, toml string) *mortal {
	t.Helper()
	m := &mortal{t: t, dir: t.TempDir(), where: map[string]int{}, point: -1}
	toml = "[door]\nlisten = \"127.0.0.1:0\"\n[journal]\nballast = \"0\"\n" + toml
	err := os.Mkdir(filepath.Join(m.dir, "characters"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, "companiond.toml"), []byte(toml), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Cleanup(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.end()
	})
	if m.begin(); m.fault != nil {
		t.Fatal(m.fault)
	}
	return m
}

// process starts one.
func (m *mortal) process() (logs io.Reader) {
	exe, err := os.Executable()
	if err == nil {
		m.cmd = exec.Command(exe)
		m.cmd.Dir, m.cmd.Env = m.dir, append(os.Environ(), beDaemon+"=1")
		_, err = m.cmd.StdinPipe() // it ends with its input
	}
	if err == nil {
		logs, err = m.cmd.StderrPipe()
	}
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		m.fault, m.cmd = err, nil
	}
	return logs
}

var readyLine = regexp.MustCompile(`msg="companiond is ready" listen=(\S+)`)

// begin starts a daemon and waits until it answers.
func (m *mortal) begin() {
	logs := m.process()
	if m.fault != nil {
		return
	}
	var seen strings.Builder
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if found := readyLine.FindStringSubmatch(lines.Text()); found != nil {
			m.life, m.url, m.heard = m.life+1, found[1], make(chan struct{})
			go m.listen(lines)
			return
		}
	}
	m.fault = fmt.Errorf("the daemon did not start:\n%s", &seen)
}

// listen reads what the daemon says: it has nothing to complain of.
func (m *mortal) listen(lines *bufio.Scanner) {
	defer close(m.heard)
	for lines.Scan() {
		if l := lines.Text(); strings.Contains(l, "level=WARN") || strings.Contains(l, "level=ERROR") {
			m.t.Errorf("the daemon says %s", l)
		}
	}
}

// end kills the process.
func (m *mortal) end() {
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill() // it may have ended
	if m.heard != nil {
		<-m.heard
		m.heard = nil
	}
	_ = m.cmd.Wait()
	m.cmd = nil
}

// kill kills the daemon and starts it again; one in four is killed once more while it starts.
func (m *mortal) kill(where string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
	if rand.IntN(4) == 0 {
		if m.process(); m.fault != nil {
			return
		}
		<-time.After(time.Duration(rand.IntN(100)) * time.Millisecond)
		m.end()
		where += ", and once more"
	}
	m.kills++
	m.where[where]++
	if m.last = where; m.fault == nil {
		m.begin()
	}
}

// plan makes the daemon be killed at a point of the calls that come.
func (m *mortal) plan(point int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls, m.point = 0, point
}

// missed kills it where the point of the plan has not come.
func (m *mortal) missed() {
	m.mu.Lock()
	planned := m.point >= 0
	m.point = -1
	m.mu.Unlock()
	if planned {
		m.kill("when all is over")
	}
}

// step makes a call, and kills the daemon where this is the point.
func (m *mortal) step(tool string, call func(context.Context) error) error {
	m.mu.Lock()
	at := -1
	if m.point >= 0 && m.point/3 == m.calls {
		at, m.point = m.point%3, -1
	}
	m.calls++
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	switch at {
	case 0:
		m.kill("before " + tool)
	case 1:
		killed := make(chan struct{})
		time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() {
			defer close(killed)
			m.kill("within " + tool)
		})
		defer func() { <-killed }()
	}
	err := call(ctx)
	if at == 2 {
		m.kill("behind " + tool)
	}
	return err
}

// alive gives the daemon that lives, once it answers.
func (m *mortal) alive() (life int, url string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life, m.url, m.fault
}

// outlived says whether something went wrong because the daemon was killed, once another has taken
// its place; else it gives what went wrong.
func (m *mortal) outlived(life int, wrong error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil {
		return m.fault
	}
	if m.life == life {
		return wrong
	}
	return nil
}

// failed ends the daemon for good, where something is wrong: nobody waits for it any longer.
func (m *mortal) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.fault == nil {
		m.fault = err
		m.end()
	}
}

// replays holds the journal to the rules.
func (m *mortal) replays(rooms []string) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end()
	found, err := filepath.Glob(filepath.Join(m.dir, "state", "companion*.db"))
	if err != nil || len(found) != 1 {
		m.t.Fatalf("journals %q, %v", found, err)
	}
	j, err := sqlite.OpenReadOnly(found[0])
	if err != nil {
		m.t.Fatal(err)
	}
	defer j.Close()
	for _, name := range rooms {
		if r, err := reader.Replay(context.Background(), j, name); err != nil || r.Diff != nil || r.Derived == 0 || r.Folded > 0 {
			m.t.Errorf("replay of %s: %+v %v", name, r, err)
		}
		if bad, err := j.Verify(context.Background(), name, 0); err != nil || bad != 0 {
			m.t.Errorf("verify %s: entry %d, %v", name, bad, err)
		}
	}
}
