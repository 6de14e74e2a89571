//go:build unix

package warden_test

import (
	"bufio"
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

	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/waittest"
)

// TestMain lets the test's own program be the guard, the daemon, and what is guarded.
func TestMain(m *testing.M) {
	if code, ok := warden.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		if act, ok := acts[os.Args[1]]; ok {
			act()
			return
		}
	}
	os.Exit(m.Run())
}

var acts = map[string]func(){
	"waits":    func() { fmt.Println(os.Getpid()); time.Sleep(time.Hour) },
	"fails":    func() { fmt.Fprintln(os.Stderr, "no luck"); os.Exit(7) },
	"is brief": func() { fmt.Println("hello|", os.Getenv("A"), os.Getenv("SECRET"), strings.Join(os.Args[2:], ",")) },
	"computes": func() {
		fmt.Println(os.Getpid())
		for n := 0; ; n++ {
			if n < 0 {
				return
			}
		}
	},
	"lists what is open": func() {
		open, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			panic(err)
		}
		for _, f := range open {
			at, _ := os.Readlink(f)
			fmt.Println(at)
		}
	},
	"takes memory": func() {
		all := make([]byte, 2<<30)
		for i := range all {
			all[i] = 1
		}
		fmt.Println("nobody stopped it", len(all))
	},
	"has a family": func() { // one in its group, one in a session of its own, whose child is one too
		fmt.Println(os.Getpid())
		for _, alone := range []bool{false, true} {
			c := exec.Command(os.Args[0], "has a child")
			c.Stdout, c.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: alone}
			if err := c.Start(); err != nil {
				panic(err)
			}
		}
		time.Sleep(time.Hour)
	},
	"has a child": func() {
		fmt.Println(os.Getpid())
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		c := exec.Command(os.Args[0], "waits")
		c.Stdout, c.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	},
	"loses its child": func() { // which lives on when it has ended
		c := exec.Command(os.Args[0], "waits")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		if err != nil {
			panic(err)
		}
		if err := c.Start(); err != nil {
			panic(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		fmt.Print(line)
	},
	"is a daemon": func() {
		r, err := warden.Program{Guard: os.Args[0], Path: os.Args[0], Args: []string{"has a family"}}.Start()
		if err != nil {
			panic(err)
		}
		fmt.Println(r.PID())
		_, _ = io.Copy(os.Stdout, r.Stdout)
	},
}

func start(t *testing.T, act string, args ...string) *warden.Running {
	t.Helper()
	guard, err := warden.Self()
	if err != nil {
		t.Fatal(err)
	}
	r, err := warden.Program{Guard: guard, Path: os.Args[0], Args: append([]string{act}, args...), Env: []string{"A=b"}}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Kill(); r.Stdout.Close(); r.Stderr.Close() })
	return r
}

// pids reads so many numbers of processes.
func pids(t *testing.T, from io.Reader, n int) (all []int) {
	t.Helper()
	lines := bufio.NewScanner(from)
	for len(all) < n && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	if len(all) < n {
		t.Fatalf("%d processes, want %d: %v", len(all), n, lines.Err())
	}
	return all
}

// What a program prints comes through as it is, with its exit code, and nothing of the daemon's
// environment reaches it.
func TestProgram(t *testing.T) {
	t.Setenv("SECRET", "x")
	r := start(t, "is brief", "--flag", "two words")
	if said, err := io.ReadAll(r.Stdout); err != nil || string(said) != "hello| b  --flag,two words\n" {
		t.Errorf("%q, %v", said, err)
	}
	if err := r.Wait(); err != nil || warden.How(err) != "it ended by itself" {
		t.Error(err)
	}
	r = start(t, "fails")
	if said, _ := io.ReadAll(r.Stderr); string(said) != "no luck\n" || warden.How(r.Wait()) != "exit code 7" {
		t.Errorf("%q, %s", said, warden.How(r.Wait()))
	}
	r = start(t, "waits")
	if err := syscall.Kill(pids(t, r.Stdout, 1)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if how := warden.How(r.Wait()); how != "ended by signal 9" {
		t.Error(how)
	}
}

func TestCannotBeStarted(t *testing.T) {
	noise := filepath.Join(t.TempDir(), "noise")
	if err := os.WriteFile(noise, []byte("\x00\x01 noise"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{noise: "exec format error", filepath.Join(t.TempDir(), "nobody"): "no such file"} {
		r, err := warden.Program{Guard: os.Args[0], Path: path}.Start()
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(r.Stderr)
		if how := warden.How(r.Wait()); how != "it could not be started" || !strings.Contains(string(said), why) {
			t.Errorf("%s: %s, %s", path, how, said)
		}
	}
	if _, err := (warden.Program{Guard: filepath.Join(t.TempDir(), "nobody"), Path: os.Args[0]}).Start(); err == nil {
		t.Error("it starts without a guard")
	}
}

// Whoever is below a program ends with it: told to, by itself, and however the daemon ends.
func TestNothingIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere one in a session of its own is nobody's child")
	}
	r := start(t, "has a family")
	family := pids(t, r.Stdout, 5)
	r.Kill()
	waittest.Gone(t, family...)
	if rest, err := io.ReadAll(r.Stdout); err != nil || len(rest) > 0 {
		t.Errorf("its output goes on: %q, %v", rest, err)
	}
	r.Kill() // again

	r = start(t, "loses its child")
	waittest.Gone(t, pids(t, r.Stdout, 1)...)
	if err := r.Wait(); err != nil {
		t.Error(err)
	}

	r = start(t, "has a family") // whose guard is ended, with the program alone
	family = pids(t, r.Stdout, 5)
	if err := syscall.Kill(r.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, family[0])
	for _, pid := range family[1:] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}

	r = start(t, "has a family") // which is stopped
	family = pids(t, r.Stdout, 5)
	if err := syscall.Kill(family[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.Kill()
	waittest.Gone(t, family...)

	daemon := exec.Command(os.Args[0], "is a daemon")
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	family = pids(t, out, 6)
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()
	waittest.Gone(t, family...)
}

// A guard that is stopped goes on when it is to end, and one that is stopped again and again is ended, with all that is
// below it.
func TestGuardIsStopped(t *testing.T) {
	r := start(t, "waits")
	pid := pids(t, r.Stdout, 1)[0]
	if err := syscall.Kill(r.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.Kill()
	waittest.Gone(t, pid)
	if runtime.GOOS != "linux" {
		return
	}
	r = start(t, "has a family")
	family := pids(t, r.Stdout, 5)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for syscall.Kill(r.PID(), syscall.SIGSTOP) == nil {
			time.Sleep(time.Microsecond)
		}
	}()
	r.Kill()
	waittest.Gone(t, family...)
	<-over
}

// What a shell opened for the daemon is not the program's.
func TestOpenFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is not known what is open")
	}
	secret, err := os.CreateTemp(t.TempDir(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, secret.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	r := start(t, "lists what is open")
	said, err := io.ReadAll(r.Stdout)
	if err != nil || strings.Contains(string(said), "secret") || !strings.Contains(string(said), "/dev/null") {
		t.Errorf("%s, %v", said, err)
	}
}

// A program that takes more memory than it may ends, and nothing else does.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" || waittest.RaceDetector { // which reserves more than there is
		t.Skip("the system bounds no memory")
	}
	r, err := warden.Program{Guard: os.Args[0], Path: os.Args[0], Args: []string{"takes memory"}, Memory: 256 << 20}.Start()
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(r.Stderr)
	if how := warden.How(r.Wait()); how != "exit code 2" || !strings.Contains(string(said), "out of memory") && !strings.Contains(string(said), "cannot allocate memory") {
		t.Errorf("%s: %.300s", how, said)
	}
	r.Stdout.Close()
	r.Stderr.Close()
}

func TestUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say")
	}
	r := start(t, "computes")
	pids(t, r.Stdout, 1)
	waittest.Until(t, "it has computed", func() bool {
		cpu, memory := r.Usage()
		return cpu >= 50*time.Millisecond && memory > 1<<20
	})
	r.Kill()
	if cpu, memory := r.Usage(); cpu != 0 || memory != 0 {
		t.Errorf("%v and %d bytes of one that is gone", cpu, memory)
	}
}
