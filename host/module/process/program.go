package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// program is a program that runs.
type program struct {
	client   *plugin.Client
	rpc      wire.Client
	running  *warden.Running
	dir      string    // of its sockets and temporary files
	shake    io.Reader // its first line
	read     sync.WaitGroup
	ending   atomic.Bool // it is being ended, which is not its own doing
	dropped  atomic.Bool // because it is of no use any more
	cleared  sync.Once   // what it held is given back
	ended    sync.Once   // endedHow is known
	endedHow string
	owed     time.Duration // of its processor time, that is the module's debt; the module's mu
	health   atomic.Int64  // how often in a row it did not answer
}

// start starts the module's program, and connects to it. The error is in words for its maker.
func (m *Module) start(ctx context.Context) (*program, error) {
	dir := filepath.Join(m.dir, "p"+strconv.FormatInt(m.started.Add(1), 10))
	err := os.Mkdir(dir, 0o700)
	if err != nil {
		return nil, fmt.Errorf("make a directory for its sockets: %w", err)
	}
	m.said.lastWords() // those of another program
	p := &program{dir: dir}
	var stop func() bool
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake,
		Plugins:          plugin.PluginSet{wire.Name: wire.Plugin{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		SkipHostEnv:      true,
		StartTimeout:     startCeiling, // ctx ends it sooner
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		SyncStdout:       m.said.writer(m.said.out),
		SyncStderr:       m.said.writer(m.said.err),
		Logger:           hclog.NewNullLogger(),
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			running, err := warden.Program{
				Guard: m.engine.cfg.Guard, Path: m.path, Dir: dir, Memory: m.engine.cfg.Memory,
				Env: append(append(cmd.Env, m.engine.cfg.Environ...), "TMPDIR="+dir),
			}.Start()
			if err != nil {
				return nil, err
			}
			p.running = running
			first, line := io.Pipe()
			p.shake = first
			p.read.Go(func() { handshake(p.running.Stdout, line, m.said.writer(m.said.out)) })
			p.read.Go(func() { _, _ = io.Copy(m.said.writer(m.said.err), p.running.Stderr) })
			stop = context.AfterFunc(ctx, p.running.Kill)
			return guarded{p, m.path}, nil
		},
	})
	err = p.connect()
	if stop != nil {
		stop()
	}
	if err == nil && ctx.Err() == nil {
		return p, nil
	}
	if err != nil && ctx.Err() == nil {
		err = p.whyNot(ctx, err)
	}
	p.end(context.Background(), 0)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if words := m.said.lastWords(); words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return nil, err
}

// maxShake is how long a handshake may be, in bytes. With its certificate one has a thousand.
const maxShake = 16 << 10

// handshake hands the first line of what a program prints to one side, and the rest, which no program
// of go-plugin's prints there, to another: whoever waited for the end of a very long line would have the
// program wait as well.
func handshake(from io.Reader, line *io.PipeWriter, rest io.Writer) {
	in := bufio.NewReaderSize(from, maxShake)
	first, err := in.ReadSlice('\n')
	_, _ = line.Write(first)
	_ = line.Close()
	if err == nil || errors.Is(err, bufio.ErrBufferFull) {
		_, _ = io.Copy(rest, in)
	}
}

// startCeiling is longer than any load may take.
const startCeiling = time.Hour

// connect shakes hands.
func (p *program) connect() error {
	rpc, err := p.client.Client()
	if err != nil {
		return err
	}
	found, err := rpc.Dispense(wire.Name)
	if err != nil {
		return err
	}
	p.rpc = found.(wire.Client) // what wire.Plugin gives
	return nil
}

// soon is how long a program that seems to have ended may take to do so.
const soon = 5 * time.Second

// whyNot says why a program could not be started.
func (p *program) whyNot(ctx context.Context, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	switch {
	case p.running == nil:
		return fmt.Errorf("the system does not start it: %s", why)
	case strings.Contains(why, "Unrecognized remote plugin message"), strings.Contains(why, "exited before"):
		how := "it goes on"
		select {
		case <-p.running.Gone():
			how = warden.How(p.running.Wait())
		case <-time.After(soon):
		case <-ctx.Done():
		}
		if line := strings.TrimSpace(strings.TrimPrefix(why, "Unrecognized remote plugin message:")); line != "" && strings.HasPrefix(why, "Unrecognized") {
			how += fmt.Sprintf("; the first thing it printed is %.100q, and a module's first line is its handshake", line)
		}
		return fmt.Errorf("it does not begin as a module does (a Go program calls process.Main() of the SDK): %s", how)
	case strings.Contains(strings.ToLower(why), "incompatible api version"):
		return fmt.Errorf("it speaks another version of the border than %d: build it with the SDK of this companiond", wire.Handshake.ProtocolVersion)
	}
	return errors.New(why)
}

// end ends the program and gives back what it held. It may end by itself until ctx does, or for so
// long; then it is ended by force.
func (p *program) end(ctx context.Context, grace time.Duration) {
	p.ending.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.client.Kill() // asks first, and has no bound on that
	}()
	if p.running != nil {
		ctx, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		p.running.Kill()
		select {
		case <-ended:
		case <-time.After(pipesGrace): // somebody who escaped the guard holds them
			_, _ = p.running.Stdout.Close(), p.running.Stderr.Close()
		}
	}
	<-ended
	p.clear()
}

// pipesGrace is how long what a program printed may still come when nothing is left of it.
const pipesGrace = time.Second

// clear gives back what is left of a program that has ended.
func (p *program) clear() {
	p.cleared.Do(func() {
		if p.running != nil {
			late := time.AfterFunc(pipesGrace, func() { _, _ = p.running.Stdout.Close(), p.running.Stderr.Close() })
			p.read.Wait()
			late.Stop()
			_, _ = p.running.Stdout.Close(), p.running.Stderr.Close()
		}
		_ = os.RemoveAll(p.dir)
	})
}

// gone says whether it has ended.
func (p *program) gone() bool {
	select {
	case <-p.running.Gone():
		return true
	default:
		return p.ending.Load()
	}
}

// how says how it ended, once that is known, which it soon is: to everybody who asks the same.
func (p *program) how(ctx context.Context, said *said) error {
	select {
	case <-p.running.Gone():
	case <-time.After(soon):
		return errors.New("its connection ended")
	case <-ctx.Done():
		return errors.New("its connection ended")
	}
	p.ended.Do(func() {
		p.drained()
		p.endedHow = "the program ended: " + warden.How(p.running.Wait())
		if words := said.lastWords(); words != "" {
			p.endedHow += ": " + words
		}
	})
	return errors.New(p.endedHow)
}

// drained waits until all is read that the program printed, but not for long: somebody who escaped its guard may
// hold the pipes.
func (p *program) drained() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.read.Wait()
	}()
	select {
	case <-done:
	case <-time.After(pipesGrace):
	}
}

// cpu is the processor time that it has taken.
func (p *program) cpu() time.Duration {
	cpu, _ := p.running.Usage()
	return cpu
}

// guarded is a program behind its guard, as go-plugin wants it.
type guarded struct {
	p    *program
	path string
}

var _ runner.Runner = guarded{}

// Start does nothing: it was started when it was made.
func (g guarded) Start(context.Context) error { return nil }

// Diagnose has nothing to add.
func (g guarded) Diagnose(context.Context) string { return "" }

// Stdout is where the handshake comes from.
func (g guarded) Stdout() io.ReadCloser { return io.NopCloser(g.p.shake) }

// Stderr gives nothing: it is read already.
func (g guarded) Stderr() io.ReadCloser { return io.NopCloser(bytes.NewReader(nil)) }

func (g guarded) Name() string { return g.path }
func (g guarded) ID() string   { return strconv.Itoa(g.p.running.PID()) }

// Wait waits until nothing is left of it.
func (g guarded) Wait(context.Context) error { return g.p.running.Wait() }

// Kill ends it by force, when it is time: of one that does not begin as a module does it is still to be
// found out why.
func (g guarded) Kill(context.Context) error {
	if g.p.ending.Load() {
		g.p.running.Kill()
	}
	return nil
}

// PluginToHost and HostToPlugin change no address: it runs on this machine.
func (g guarded) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}
func (g guarded) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
