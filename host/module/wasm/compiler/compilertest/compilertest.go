// Package compilertest lets the program of a test compile WebAssembly. With the race
// detector wazero's compiler takes twenty times as long and more memory than a child may
// have, so a program without it takes its place. The daemon never uses it.
package compilertest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/companiond/companiond/host/module/wasm/compiler"
	"github.com/companiond/companiond/host/waittest"
)

// Program is the one that compiles for tests, after [Main] was called: this one, or where
// it has the race detector one that lies beside it, and goes with its directory.
func Program() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if waittest.RaceDetector {
		self += ".compiler"
	}
	return self
}

// Main is compiler.Main for a TestMain. Where tests begin, it makes the program that they
// compile with, in the directory of their package.
func Main(args []string) (code int, ok bool) {
	if !waittest.RaceDetector || len(args) == 0 {
		return compiler.Main(args)
	}
	swift := Program()
	switch {
	case args[0] == compiler.Verb:
		return fail(syscall.Exec(swift, append([]string{swift}, args...), os.Environ()))
	case strings.HasPrefix(args[0], "-test."):
		// It has to be the same test: wazero's version is in the name of what it compiles, and
		// not every program knows it.
		if msg, err := exec.Command("go", "test", "-c", "-vet=off", "-o", swift, ".").CombinedOutput(); err != nil {
			return fail(fmt.Errorf("build a compiler: %w\n%s", err, msg))
		}
	}
	return 0, false
}

func fail(err error) (code int, ok bool) {
	fmt.Fprintln(os.Stderr, err)
	return 1, true
}
