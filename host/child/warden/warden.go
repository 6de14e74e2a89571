// Package warden runs a program, such as a module's, so that nothing of it is left when the
// program ends, when it is told to, or when the daemon ends, however that ends: the program, what
// it started, and what that started in a session of its own.
//
// For that the daemon starts itself once more, as the guard of the one program ([Main]): it holds
// a pipe to the daemon, ends all that is below it when the pipe ends, and then itself. It touches
// neither what the program prints nor what it is given in its environment. On Linux it becomes the
// parent of whoever loses their own; other Unix systems lose those that left the program's
// process group. On Windows a job object does it.
//
// It restarts nobody, and says nothing of its own but why a program could not
// be started.
package warden

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"
)

// Verb is the first argument of a program that is to be a guard. It is not meant for people.
const Verb = "guard-program"

// exitUnstarted is the exit code of a guard whose program could not be started.
const exitUnstarted = 96

// killGrace is how long a guard may take to end all that is below it before it is ended itself, with
// the program alone.
const killGrace = 3 * time.Second

// Main guards the program that args name, when they are those of a guard, and gives its exit code;
// ok is false for other arguments. A program that has [Program] start itself calls it first.
func Main(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != Verb {
		return 0, false
	}
	var memory int64
	if len(args) > 1 {
		memory, _ = strconv.ParseInt(args[1], 10, 64)
	}
	if len(args) < 3 {
		fmt.Fprintf(os.Stderr, "%s is for companiond itself\n", Verb)
		return exitUnstarted, true
	}
	code, err := guard(args[2:], memory)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnstarted, true
	}
	return code, true
}

// Self gives the path by which this very program can be started again, also when another version
// took its place.
func Self() (string, error) {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// Program is what is run behind a guard.
type Program struct {
	// Guard is a program that calls [Main] before anything else: what [Self] gives.
	Guard string
	Path  string
	Args  []string // without its name
	Env   []string // all of its environment
	Dir   string   // its working directory; "" is the daemon's
	// Memory bounds what each of its processes may have of memory that it writes to, in bytes, where the
	// system knows such a bound; 0 is none.
	Memory int64
}

// Running is a program that was started. Stdout and Stderr end when nothing is left of it; they are
// the caller's to read and to close.
type Running struct {
	Stdout, Stderr *os.File

	cmd     *exec.Cmd
	leash   io.Closer     // while it is open the guard lets the program live
	gone    chan struct{} // closed when nothing is left
	err     error         // set before gone is closed
	program atomic.Int64  // its number, once [Running.Usage] has found it
}

// Start starts the program. The error is the system's, and about the guard: why the program itself
// cannot be started is what [Running.Wait] and Stderr say.
func (p Program) Start() (*Running, error) {
	leash, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, outTo, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, leash.Close(), hold.Close())
	}
	complaints, complaintsTo, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, leash.Close(), hold.Close(), out.Close(), outTo.Close())
	}
	r := &Running{Stdout: out, Stderr: complaints, leash: hold, gone: make(chan struct{})}
	r.cmd = exec.Command(p.Guard, append([]string{Verb, strconv.FormatInt(p.Memory, 10), p.Path}, p.Args...)...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = leash, outTo, complaintsTo
	r.cmd.Env, r.cmd.Dir = append([]string{}, p.Env...), p.Dir // nil would be the daemon's
	apart(r.cmd)
	err = r.cmd.Start()
	_, _, _ = leash.Close(), outTo.Close(), complaintsTo.Close() // they are the guard's now
	if err != nil {
		return nil, errors.Join(err, hold.Close(), out.Close(), complaints.Close())
	}
	go func() {
		r.err = r.cmd.Wait()
		_ = hold.Close()
		close(r.gone)
	}()
	return r, nil
}

// PID is the number of the guard, below which the program is. See [Usage].
func (r *Running) PID() int { return r.cmd.Process.Pid }

// Gone is closed when nothing is left of the program.
func (r *Running) Gone() <-chan struct{} { return r.gone }

// Wait waits until nothing is left of the program, and says how it ended: an *exec.ExitError with
// the program's own exit code, or 128 and the number of the signal that ended it.
func (r *Running) Wait() error {
	<-r.gone
	return r.err
}

// Kill ends the program and all that it started. It waits until nothing is left. It may be called
// more than once, and by several at a time.
func (r *Running) Kill() {
	_ = r.leash.Close()
	wake(r.cmd.Process) // whoever stopped it
	select {
	case <-r.gone:
	case <-time.After(killGrace): // the guard itself is stopped all the time, or something below it cannot end
		endBelow(r.PID())
		_ = r.cmd.Process.Kill()
		<-r.gone
	}
}

// exitText says how a program ended, for people.
func exitText(code int) string {
	if code > 128 {
		return "ended by signal " + strconv.Itoa(code-128)
	}
	return "exit code " + strconv.Itoa(code)
}

// How says in words how a program ended whose [Running.Wait] gave err.
func How(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "it ended by itself"
	case errors.As(err, &exit) && exit.ExitCode() == exitUnstarted:
		return "it could not be started"
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exitText(exit.ExitCode())
	}
	return err.Error()
}
