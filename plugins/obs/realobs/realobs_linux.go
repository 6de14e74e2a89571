package realobs

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// inside is set in the environment of a test that runs in a network namespace of its own.
const inside = "COMPANIOND_OBS_INSIDE"

// Where OBS listens there, and its password.
const (
	Address  = "ws://127.0.0.1:44455"
	Password = "correct horse"
)

// Isolate runs the test once more in a network namespace of its own, for OBS listens at all addresses of a machine; it is
// true in there.
func Isolate(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		up(t)
		return true
	}
	for _, name := range []string{"obs", "Xvfb"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s: apt-get install --no-install-recommends obs-studio obs-plugins xvfb fonts-noto-cjk", name)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the end of a thread counts as that of the parent
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	again := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=9m")
	again.Env = append(os.Environ(), inside+"=1")
	again.Stdout, again.Stderr = &out, &out
	again.WaitDelay = time.Minute
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if err := again.Start(); err != nil {
		t.Skipf("no network namespace can be had: %v", err)
	}
	err = again.Wait()
	t.Logf("in there:\n%s", out.String())
	if err != nil {
		t.Error(err)
	}
	return false
}

// up switches on the loopback of a new network namespace.
func up(t *testing.T) {
	t.Helper()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(s) }()
	ask := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP}
	copy(ask.name[:], "lo")
	if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, uintptr(s), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&ask))); no != 0 {
		t.Fatal(no)
	}
}

// Studio is an OBS with a home of its own, which stays when it is killed.
type Studio struct {
	Cmd *exec.Cmd // of the OBS that was started last

	t   *testing.T
	env []string
	dir string
}

// New starts a screen, and makes a home for OBS.
func New(t *testing.T) *Studio {
	home := t.TempDir()
	for name, text := range map[string]string{
		"global.ini":                        "[General]\nFirstRun=true\n[Basic]\nProfile=Untitled\nProfileDir=Untitled\nSceneCollection=Untitled\nSceneCollectionFile=Untitled\n[OBSWebSocket]\nFirstLoad=false\nServerEnabled=true\nServerPort=44455\nAlertsEnabled=false\nAuthRequired=true\nServerPassword=" + Password + "\n",
		"basic/profiles/Untitled/basic.ini": "[General]\nName=Untitled\n[Video]\nBaseCX=640\nBaseCY=360\nOutputCX=640\nOutputCY=360\nFPSCommon=10\n",
	} {
		file := filepath.Join(home, ".config/obs-studio", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	return &Studio{t: t, dir: home, env: append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_RUNTIME_DIR="+run, "LIBGL_ALWAYS_SOFTWARE=1",
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+run+"/none", "DISPLAY=:"+screenOf(t))}
}

// screenOf starts an X server, and gives its number.
func screenOf(t *testing.T) string {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	begin(t, x)
	_ = w.Close()
	t.Cleanup(func() { _ = x.Process.Signal(syscall.SIGTERM); _ = x.Wait() }) // it takes its lock away
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("the X server does not start: %v", err)
	}
	return strings.TrimSpace(number)
}

// begin starts a program that ends with this one.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// Start starts OBS, which takes some seconds until it lets somebody in.
func (s *Studio) Start() {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command("obs", "--multi", "--minimize-to-tray", "--disable-updater", "--disable-missing-files-check")
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, log, log
	begin(s.t, cmd)
	s.Cmd = cmd
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("OBS said:\n%s", text)
		}
	})
}
