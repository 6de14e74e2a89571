package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"

	"github.com/companiond/companiond/cmd/companiond/install"
)

// serviceVerb has the service manager of the machine start companiond.
func serviceVerb(t *term, ctx context.Context, args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir() // empty where there is none, as for a service
	run := func(ctx context.Context, command ...string) error {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdout, cmd.Stderr = t.err, t.err
		return cmd.Run()
	}
	return install.Desk{
		Out: t.out, OS: runtime.GOOS, UID: os.Getuid(), Exe: exe, Dir: dir, Home: home, Config: t.getenv("XDG_CONFIG_HOME"), Run: run, Parse: parse, Usage: usage,
	}.Service(ctx, t.flags("service"), args)
}
