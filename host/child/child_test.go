//go:build unix

package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/waittest"
)

// TestMain lets the test's own program be the child: its first argument says what it does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if act, ok := acts[os.Args[1]]; ok {
			if err := act(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

var acts = map[string]func() error{
	"says nothing": func() error { return nil },
	"echoes": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		in, err := child.Receive(os.Stdin, 1<<20)
		os.Stdout.Write(in)
		return err
	},
	"takes memory": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		var all [][]byte
		for range 1000 {
			all = append(all, bytes.Repeat([]byte{1}, 4<<20))
			time.Sleep(time.Millisecond)
		}
		return fmt.Errorf("nobody stopped it at %d", len(all))
	},
	"takes memory at once": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		all := bytes.Repeat([]byte{1}, 4<<30)
		return fmt.Errorf("nobody stopped it at %d", len(all))
	},
	"computes": func() error {
		if err := child.Obey(func(u child.Usage) { fmt.Println(u.CPU > 0, u.Memory > 0) }); err != nil {
			return err
		}
		for n := 0; ; n++ { // as long as it may
			if n < 0 {
				return errors.New("the numbers ended")
			}
		}
	},
	"writes": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(os.TempDir(), "large"), make([]byte, 2<<20), 0o600)
	},
	"waits":          func() error { fmt.Println(os.Getpid()); select {} },
	"waits for good": func() error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	"has a child": func() error {
		c := exec.Command(os.Args[0], "waits")
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			return err
		}
		select {}
	},
	"has a daemon": func() error { // which has a child, says its number, and is killed
		return child.Command{Path: os.Args[0], Args: []string{"is a good child"}, Line: func(l string) { fmt.Println(l) }}.Run(context.Background())
	},
	"is a good child": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		if _, err := child.Receive(os.Stdin, 0); err != nil {
			return err
		}
		child.EndWith(os.Stdin)
		fmt.Println(os.Getpid())
		select {}
	},
	"fails":   func() error { return errors.New("no luck today\nnor tomorrow") },
	"chatter": func() error { fmt.Print(strings.Repeat("x", 1<<20), "\nshort\nno end"); return nil },
	"says goodbye": func() error { // with its child, which says nothing
		c := exec.Command(os.Args[0], "waits")
		if err := c.Start(); err != nil {
			return err
		}
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println(c.Process.Pid)
		<-asked
		fmt.Println("goodbye")
		return nil
	},
	"is deaf": func() error { signal.Ignore(syscall.SIGTERM); fmt.Println(os.Getpid()); select {} },
	"complains": func() error {
		for n := range 3 {
			fmt.Println("line", n)
			fmt.Fprintln(os.Stderr, "complaint", n)
		}
		return errors.New("and is gone")
	},
	"has a plain child": func() error {
		return child.Command{Path: os.Args[0], Args: []string{"waits"}, Plain: true, Line: func(l string) { fmt.Println(l) }}.Run(context.Background())
	},
	"shows its environment": func() error {
		for _, kv := range os.Environ() {
			fmt.Println(kv)
		}
		return nil
	},
	"shows how nice it is": func() error {
		if err := child.Obey(nil); err != nil {
			return err
		}
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		fmt.Println(20 - n) // as Linux has it
		return err
	},
}

func self(act string) child.Command {
	return child.Command{Path: os.Args[0], Args: []string{act}, Wall: time.Minute}
}

// run gives the lines that a child says.
func run(ctx context.Context, c child.Command) (lines []string, err error) {
	c.Line = func(l string) { lines = append(lines, l) }
	err = c.Run(ctx)
	return lines, err
}

// why demands a reason.
func why(t *testing.T, err error, want child.Why, words string) {
	t.Helper()
	var e *child.Ended
	if !errors.As(err, &e) || e.Why != want || !strings.Contains(e.Error(), words) {
		t.Errorf("%v, want it %s, with %q", err, want, words)
	}
}

func TestRun(t *testing.T) {
	c := self("echoes")
	c.Input = []byte("hello\nthere")
	if lines, err := run(t.Context(), c); err != nil || strings.Join(lines, "|") != "hello|there" {
		t.Errorf("%q, %v", lines, err)
	}
	c.Input = make([]byte, 1<<20+1)
	_, err := run(t.Context(), c)
	why(t, err, child.Failed, "1048577 bytes of input, at most 1048576")
	_, err = run(t.Context(), self("fails"))
	why(t, err, child.Failed, "no luck today")
	if strings.Contains(err.Error(), "tomorrow") {
		t.Errorf("more than a line: %v", err)
	}
	_, err = run(t.Context(), child.Command{Path: filepath.Join(t.TempDir(), "nobody")})
	why(t, err, child.Missing, "nobody")
	if err := self("says nothing").Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLinesAreBounded(t *testing.T) {
	lines, err := run(t.Context(), self("chatter"))
	if err != nil || len(lines) != 3 || len(lines[0]) != 4096 || lines[1] != "short" || lines[2] != "no end" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestEnvironmentIsOurs(t *testing.T) {
	t.Setenv("SECRET", "x")
	c := self("shows its environment")
	c.Env = []string{"A=b"}
	lines, err := run(t.Context(), c)
	if err != nil || len(lines) != 2 || lines[1] != "A=b" || !strings.HasPrefix(lines[0], "COMPANIOND_CHILD=") {
		t.Errorf("%q, %v", lines, err)
	}
	c = self("echoes")
	c.Env = []string{"COMPANIOND_CHILD=nonsense"} // as if somebody had started it by hand
	_, err = run(t.Context(), c)
	why(t, err, child.Failed, "started by companiond only")
}

func TestLimits(t *testing.T) {
	c := self("takes memory")
	c.Limits = child.Limits{Memory: 128 << 20}
	_, err := run(t.Context(), c)
	why(t, err, child.Memory, "")
	c = self("takes memory at once")
	c.Limits = child.Limits{Memory: 128 << 20}
	if runtime.GOOS == "linux" { // elsewhere nothing sees it in time
		_, err = run(t.Context(), c)
		why(t, err, child.Memory, "")
	}
	c = self("computes")
	c.Limits = child.Limits{CPU: 300 * time.Millisecond}
	lines, err := run(t.Context(), c)
	why(t, err, child.CPU, "300ms")
	if len(lines) == 0 || lines[0] != "true true" {
		t.Errorf("it reports %q", lines)
	}
	c = self("writes")
	c.Limits, c.Env = child.Limits{File: 1 << 20}, []string{"TMPDIR=" + t.TempDir()}
	_, err = run(t.Context(), c)
	why(t, err, child.Failed, "file too large")
	c = self("shows how nice it is")
	c.Limits = child.Limits{Background: true}
	if lines, err := run(t.Context(), c); err != nil || runtime.GOOS == "linux" && lines[0] != "10" {
		t.Errorf("it is as nice as %q, %v", lines, err)
	}
}

// A child that does not listen ends all the same, with its own children.
func TestCancel(t *testing.T) {
	for _, act := range []string{"waits", "has a child"} {
		ctx, cancel := context.WithCancel(t.Context())
		c := self(act)
		var pid int
		c.Line = func(l string) { pid, _ = strconv.Atoi(l); cancel() }
		why(t, c.Run(ctx), child.Cancelled, "")
		waittest.Gone(t, pid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	why(t, self("waits").Run(ctx), child.Cancelled, "")
	c := self("waits for good")
	c.Wall = 50 * time.Millisecond
	why(t, c.Run(t.Context()), child.Wall, "")
}

// A child that is asked first may end as it likes, in its time; then it is ended with its own.
func TestGrace(t *testing.T) {
	for act, want := range map[string]string{"says goodbye": "goodbye", "is deaf": ""} {
		ctx, cancel := context.WithCancel(t.Context())
		c := self(act)
		c.Grace = waittest.Long
		if want == "" {
			c.Grace = 100 * time.Millisecond
		}
		var said []string
		c.Line = func(l string) { said = append(said, l); cancel() }
		why(t, c.Run(ctx), child.Cancelled, "")
		if got := strings.Join(said[1:], ","); got != want {
			t.Errorf("%s: it said %q", act, got)
		}
		pid, _ := strconv.Atoi(said[0])
		waittest.Gone(t, pid)
	}
}

// A program that knows nothing of this package finds nothing of it.
func TestPlain(t *testing.T) {
	t.Setenv("SECRET", "x")
	c := self("shows its environment")
	c.Plain = true
	if lines, err := run(t.Context(), c); err != nil || len(lines) > 0 {
		t.Errorf("%q, %v", lines, err)
	}
	c.Env = []string{"A=b"}
	if lines, err := run(t.Context(), c); err != nil || len(lines) != 1 || lines[0] != "A=b" {
		t.Errorf("%q, %v", lines, err)
	}
	c = self("waits for good") // for the end of its standard input
	c.Plain = true
	if err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestComplaints(t *testing.T) {
	var complaints []string
	c := self("complains")
	c.Complaint = func(l string) { complaints = append(complaints, l) }
	lines, err := run(t.Context(), c)
	why(t, err, child.Failed, "complaint 0")
	if len(lines) != 3 || strings.Join(complaints, "|") != "complaint 0|complaint 1|complaint 2|and is gone" {
		t.Errorf("%q, %q", lines, complaints)
	}
}

// A child that somebody else ends is told from one that failed.
func TestKilled(t *testing.T) {
	c := self("waits")
	c.Line = func(l string) {
		pid, _ := strconv.Atoi(l)
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	why(t, c.Run(t.Context()), child.Killed, "")
}

// No child outlives the daemon, not even one that was killed.
func TestEndsWithTheDaemon(t *testing.T) { endsWithTheDaemon(t, "has a daemon") }

// Nor does one that knows nothing of it, where the system sees to that.
func TestPlainEndsWithTheDaemon(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system ends no child with its parent")
	}
	endsWithTheDaemon(t, "has a plain child")
}

func endsWithTheDaemon(t *testing.T, act string) {
	t.Helper()
	daemon := exec.Command(os.Args[0], act)
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Process.Kill()
	_ = daemon.Wait()
	waittest.Gone(t, pid)
}
