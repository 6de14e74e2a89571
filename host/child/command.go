package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

const (
	// pipeGrace is how long a child that has ended may leave its pipes open, as one does
	// whose own children live on.
	pipeGrace = time.Second
	// maxLine is how many bytes a line of a child may have; longer ones are cut.
	maxLine = 4 << 10
	// maxWords is how much is kept of what a child says on standard error.
	maxWords = 4 << 10
)

// Command is one run of a program.
type Command struct {
	Path string
	Args []string
	Env  []string // all of its environment; nil is none
	Dir  string   // its working directory; "" is the daemon's
	// Input is what [Receive] gives the child. Its standard input stays open behind it:
	// the end of it tells the child that the daemon is gone.
	Input []byte
	// Plain is for a program that knows nothing of this package: its standard input is empty,
	// and nothing but Env is in its environment. It ends with the daemon however that ends
	// on Linux only, and what it started itself not even there.
	Plain bool
	// Line is called with each line of its standard output, one at a time; nil drops them.
	Line func(line string)
	// Complaint is called with each line of its standard error, one at a time, maybe beside
	// Line; nil drops them. The first is in [Ended] all the same.
	Complaint func(line string)
	// Grace is how long the program may take to end after its process group was asked to, where the
	// system knows such a request; then it is ended, as it is at once where Grace is 0.
	Grace time.Duration
	// Wall bounds the time that it may take, also where it waits; 0 is no bound.
	Wall time.Duration
	// Limits are for a program that calls [Obey]; others do not hear of them.
	Limits Limits
}

// Why says why a child did not end well.
type Why string

// The reasons.
const (
	Cancelled Why = "cancelled" // its caller's context ended
	Memory    Why = "memory"    // it took more than Limits.Memory, or there was none
	CPU       Why = "cpu"       // it computed longer than Limits.CPU
	Wall      Why = "wall"      // it took longer than Command.Wall
	Killed    Why = "killed"    // somebody else ended it
	Failed    Why = "failed"    // it ended by itself, and not well
	Missing   Why = "missing"   // it could not be started
)

// Ended is the error of a child that did not end well.
type Ended struct {
	Why   Why
	Words string // the first line of its standard error
	Err   error  // as package os/exec has it
}

// Error gives the reason, and what the child had to say.
func (e *Ended) Error() string {
	if e.Words != "" {
		return fmt.Sprintf("the child process ended (%s): %s", e.Why, e.Words)
	}
	return fmt.Sprintf("the child process ended (%s): %v", e.Why, e.Err)
}

// Unwrap gives the error of package os/exec.
func (e *Ended) Unwrap() error { return e.Err }

// Run starts the program and waits until it has ended. It has ended, and all of its
// process group, when ctx has.
//
// # Errors
//
// Always an *Ended.
func (c Command) Run(ctx context.Context) error {
	run, cancel := ctx, context.CancelFunc(func() {})
	if c.Wall > 0 {
		run, cancel = context.WithTimeout(ctx, c.Wall)
	}
	defer cancel()
	if ctx.Err() != nil {
		return &Ended{Why: Cancelled, Err: ctx.Err()}
	}
	cmd := exec.CommandContext(run, c.Path, c.Args...)
	cmd.Dir, cmd.WaitDelay = c.Dir, c.Grace+pipeGrace
	var words tail
	lines, complaints := &splitter{line: c.Line}, &splitter{line: c.Complaint}
	cmd.Stdout, cmd.Stderr = lines, io.MultiWriter(&words, complaints)
	group(cmd, c.Limits.Background)
	if c.Grace > 0 {
		defer c.askFirst(cmd)()
	}
	feed, err := c.connect(cmd)
	if err != nil {
		return &Ended{Why: Missing, Err: err}
	}
	defer feed.Close()
	if c.Plain {
		runtime.LockOSThread() // the system ends the child with the thread that started it
		defer runtime.UnlockOSThread()
	}
	if err := cmd.Start(); err != nil {
		return &Ended{Why: Missing, Err: err}
	}
	defer killGroup(cmd) // whoever it left behind
	if !c.Plain {
		go func() { _ = send(feed, c.Input) }() // a child that does not read it ends some other way
	}
	err = cmd.Wait()
	lines.flush()
	complaints.flush()
	if err == nil {
		return nil
	}
	return c.ended(ctx, run, err, words.first())
}

// connect gives a child its standard input, and what it finds in its environment.
func (c Command) connect(cmd *exec.Cmd) (io.WriteCloser, error) {
	if c.Plain {
		endWith(cmd)
		cmd.Env = append([]string{}, c.Env...) // nil would be the daemon's
		return nothing{io.Discard}, nil
	}
	cmd.Env = append([]string{limitsKey + "=" + c.Limits.encode()}, c.Env...)
	return cmd.StdinPipe()
}

// nothing is written to no child.
type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

// askFirst has the end of the context ask the child to end, before it is made to. It is over when
// the child has ended.
func (c Command) askFirst(cmd *exec.Cmd) (over func()) {
	var late *time.Timer
	cmd.Cancel = func() error {
		late = time.AfterFunc(c.Grace, func() { killGroup(cmd) })
		return ask(cmd)
	}
	return func() {
		if late != nil {
			late.Stop()
		}
	}
}

// ended finds out why a child ended.
func (c Command) ended(ctx, run context.Context, err error, words string) error {
	e := &Ended{Why: Failed, Words: words, Err: err}
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	switch {
	case ctx.Err() != nil:
		e.Why = Cancelled
	case run.Err() != nil:
		e.Why = Wall
	case code == exitMemory, strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"):
		e.Why = Memory
	case code == exitCPU, exit != nil && c.Limits.CPU > 0 && exit.UserTime()+exit.SystemTime() > c.Limits.CPU*9/10: // the system counts in ticks
		e.Why = CPU
	case code < 0:
		e.Why = Killed
	}
	return e
}

// send writes what [Receive] reads.
func send(w io.Writer, data []byte) error {
	if _, err := w.Write(binary.BigEndian.AppendUint64(nil, uint64(len(data)))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// Receive reads, in a child, its [Command]'s Input, of at most so many bytes.
func Receive(r io.Reader, most uint64) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("child: read the length of the input: %w", err)
	}
	n := binary.BigEndian.Uint64(head[:])
	if n > most {
		return nil, fmt.Errorf("child: %d bytes of input, at most %d", n, most)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("child: read %d bytes of input: %w", n, err)
	}
	return data, nil
}

// tail keeps the beginning of what is written to it.
type tail struct{ kept bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.kept.Write(p[:min(len(p), max(0, maxWords-t.kept.Len()))])
	return len(p), nil
}

// first gives the first line.
func (t *tail) first() string {
	line, _, _ := bufio.NewReader(&t.kept).ReadLine()
	return strings.ToValidUTF8(strings.TrimSpace(string(line)), "")
}

// splitter hands lines on.
type splitter struct {
	line func(string)
	held []byte
	cut  bool // the rest of the line is dropped
}

func (s *splitter) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			s.flush()
			s.cut = false
		case len(s.held) < maxLine && !s.cut:
			s.held = append(s.held, b)
		default:
			s.cut = true
		}
	}
	return len(p), nil
}

func (s *splitter) flush() {
	if s.line != nil && len(s.held) > 0 {
		s.line(strings.ToValidUTF8(string(s.held), ""))
	}
	s.held = s.held[:0]
}
