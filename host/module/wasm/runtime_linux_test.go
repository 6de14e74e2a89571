package wasm

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// mdweChild is set in the environment of this test's child.
const mdweChild = "COMPANIOND_WASM_MDWE"

// The child does what systemd's MemoryDenyWriteExecute does, as far as the
// kernel (6.3 and later) helps, and starts an engine.
func TestMemoryDenyWriteExecute(t *testing.T) {
	if os.Getenv(mdweChild) != "" {
		const prSetMDWE, refuseExecGain = 65, 1
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetMDWE, refuseExecGain, 0, 0, 0, 0); errno != 0 {
			t.Fatalf("no such kernel: %v", errno)
		}
		_, err := New(Config{})
		t.Fatalf("New: %v", err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mdweChild+"=1")
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "no such kernel"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "take MemoryDenyWriteExecute=yes out of the unit"):
		t.Errorf("a start without executable memory: %v\n%s", err, out)
	}
}
