//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func main() { process.Main() }

// family starts a child that would live for long, where it is asked to, and writes down both numbers.
func family(s companion.Scene) {
	_, file, ok := strings.Cut(s.Message.Text, "family:")
	if !ok {
		return
	}
	c := exec.Command("/bin/sh", "-c", "sleep 600")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d %d", os.Getpid(), c.Process.Pid), 0o600); err != nil {
		panic(err)
	}
}
