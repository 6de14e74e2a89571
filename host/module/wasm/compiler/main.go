package compiler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/host/child"
)

// Verb is the first argument of a program that is to compile. It is not meant for people.
const Verb = "compile-wasm"

// maxImage bounds an image, which is a file of at most 64 MiB with what guards it.
const maxImage = 256 << 20

// Main compiles the image on standard input into a directory, when args are those of a
// child, and gives the exit code; ok is false for other arguments. A program that has
// [Queue] start itself calls it first.
func Main(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != Verb {
		return 0, false
	}
	err := compile(args[1:], os.Stdin, os.Stdout)
	if err == nil {
		return 0, true
	}
	fmt.Fprintln(os.Stderr, err)
	var errno syscall.Errno
	if strings.HasPrefix(err.Error(), "compilationcache:") || errors.As(err, &errno) {
		return exitDisk, true
	}
	return 1, true
}

// exitDisk is the exit code for trouble that is not the image's fault.
const exitDisk = 3

// args gives the arguments that compile reads.
func (s Settings) args(dir string) []string {
	return []string{Verb, dir, strconv.FormatUint(uint64(s.Pages), 10), strconv.FormatBool(s.CloseOnDone)}
}

func compile(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("%s is for companiond itself", Verb)
	}
	pages, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	set := Settings{Pages: uint32(pages), CloseOnDone: args[2] == "true"}
	if err := child.Obey(func(u child.Usage) { fmt.Fprintln(out, u.CPU.Milliseconds(), u.Memory) }); err != nil {
		return err
	}
	image, err := child.Receive(in, maxImage)
	if err != nil {
		return err
	}
	child.EndWith(in)
	cache, err := wazero.NewCompilationCacheWithDir(args[0])
	if err != nil {
		return fmt.Errorf("open the directory for the code: %w", err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, set.Runtime().WithCompilationCache(cache))
	if _, err := r.CompileModule(ctx, image); err != nil {
		return err
	}
	return nil // nothing is closed: the process ends here, and its code is on the disk
}

// used reads a line of a child.
func used(line string) (u child.Usage, ok bool) {
	var ms int64
	if n, err := fmt.Sscan(line, &ms, &u.Memory); err != nil || n != 2 {
		return u, false
	}
	u.CPU = time.Duration(ms) * time.Millisecond
	return u, true
}
