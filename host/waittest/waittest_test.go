package waittest_test

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
)

func TestUntil(t *testing.T) {
	asked := 0
	waittest.Until(t, "the third time", func() bool { asked++; return asked == 3 })
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

func TestLate(t *testing.T) {
	if waittest.Late(time.Second, time.Second) || !waittest.Late(100*time.Hour, time.Second) {
		t.Error("a second for a second is late, or a hundred hours are not")
	}
}

// Three other processes for each processor leave this one a quarter of the machine.
func TestSlowness(t *testing.T) {
	if s := waittest.Slowness(); s < 1 {
		t.Errorf("slowness %.2f", s)
	}
	if runtime.GOOS != "linux" {
		t.Skip("other systems may not share alike")
	}
	for range 3 * runtime.NumCPU() {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
	}
	if s := waittest.Slowness(); s < 1.5 {
		t.Errorf("slowness %.2f beside three busy loops for each processor", s)
	}
}
