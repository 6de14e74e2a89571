package compiler

import (
	"strings"
	"testing"
)

func TestSupported(t *testing.T) {
	for machine, want := range map[string]bool{
		"linux/amd64": true, "linux/arm64": true, "darwin/arm64": true, "windows/amd64": true,
		"linux/riscv64": false, "linux/386": false, "solaris/arm64": false, "illumos/amd64": true, "plan9/amd64": false,
	} {
		goos, goarch, _ := strings.Cut(machine, "/")
		if got := Supported(goos, goarch); got != want {
			t.Errorf("%s: %t", machine, got)
		}
	}
}
