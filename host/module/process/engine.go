// Package process runs modules that are programs of their own, as hashicorp/go-plugin starts them: a
// copy of the file that was read and checked, in a directory of its own, behind a guard that leaves
// nothing of it (host/child/warden), with a connection that nobody else can use.
//
// A call is a stream of frames (sdk/go/process/wire). A program that crashes, hangs or answers nonsense is
// ended and started anew, later and later where it keeps failing.
//
// The package runs no file that the configuration does not name, passes nothing of the daemon's
// environment on but what any program needs, and watches no folder.
package process

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/module"
)

// Program is a file that may be run, as a table [module.NAME] of the configuration says.
type Program struct {
	Module   string // NAME
	File     string // its name in the watched folder
	Checksum string // SHA-256 of the file, in small hex; "" is any
}

// Config says what may run, and how. The zero value runs nothing; any zero field means the default
// named at it.
type Config struct {
	Programs []Program
	// Dir is where copies of the programs and their sockets are while they run. It is the engine's
	// own: what is left there of an earlier run is deleted. Its path is short, for the sake of sockets.
	// "" is a new one among the system's temporary files.
	Dir string
	// Guard is a program that calls warden.Main before anything else; "" is this one.
	Guard string
	// Environ is what each program finds in its environment.
	Environ []string
	// CallTimeout bounds a call whose ctx has no deadline; 0 means 5 s.
	CallTimeout time.Duration
	// StartTimeout bounds a start that is not a load; 0 means 30 s.
	StartTimeout time.Duration
	// Settle is how long a program may take to give up a call that was given up, before it is ended;
	// 0 means 500 ms.
	Settle time.Duration
	// Health is how often a program is asked whether it lives; one that twice does not say so in that
	// time is ended. 0 means 15 s.
	Health time.Duration
	// CPUPerCall is the processor time that calls which were given up may have taken in a row, before it
	// is held against the program: it hangs, and does not wait. 0 means 5 s.
	CPUPerCall time.Duration
	// LogBytesPerSecond bounds what a program may write to the log; 0 means 64 KiB.
	LogBytesPerSecond int
	// Memory bounds what each program may take, in bytes, where the system knows such a bound; 0 is none.
	Memory int64
	Host   module.HostCalls // answers host calls; nil answers none
	Log    *slog.Logger     // nil drops it
}

func (c Config) withDefaults() Config {
	c.CallTimeout = cmp.Or(c.CallTimeout, 5*time.Second)
	c.StartTimeout = cmp.Or(c.StartTimeout, 30*time.Second)
	c.Settle = cmp.Or(c.Settle, 500*time.Millisecond)
	c.Health = cmp.Or(c.Health, 15*time.Second)
	c.CPUPerCall = cmp.Or(c.CPUPerCall, 5*time.Second)
	c.LogBytesPerSecond = cmp.Or(c.LogBytesPerSecond, 64<<10)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Engine loads programs. It is safe for concurrent use.
type Engine struct {
	cfg Config

	mu      sync.Mutex
	named   []Program
	opened  bool // there is a directory
	closed  bool
	made    int // modules
	modules map[*Module]struct{}
}

var (
	_ module.Engine = (*Engine)(nil)
	_ module.Closer = (*Engine)(nil)
)

// maxDir is how long Config.Dir may be: a socket's path has at most 104 bytes on some systems, of which
// its own name and those of three directories take up to fifty-four.
const maxDir = 50

// New makes an engine. Close it to end all programs and to delete its directory.
//
// # Errors
//
// The directory cannot be made or emptied, or belongs to others.
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if cfg.Guard == "" {
		self, err := warden.Self()
		if err != nil {
			return nil, fmt.Errorf("process: find the program that guards others: %w", err)
		}
		cfg.Guard = self
	}
	e := &Engine{cfg: cfg, modules: map[*Module]struct{}{}}
	if err := e.Replace(cfg.Programs); err != nil {
		return nil, err
	}
	return e, nil
}

// Replace has other programs be those that may run. Modules that are loaded stay as they are, whatever becomes of their files.
//
// # Errors
//
// Those of New, which come of the first programs that there are; then it has none.
func (e *Engine) Replace(all []Program) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(all) > 0 && !e.opened && !e.closed {
		if e.cfg.Dir, err = openDir(e.cfg.Dir); err != nil {
			return fmt.Errorf("process: make the directory of running programs: %w", err)
		}
		e.opened = true
	}
	e.named = slices.Clone(all)
	return nil
}

// openDir makes the directory of running programs, empty, and gives its path: another one, that is the
// same each time, where that would be too long.
func openDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "companiond-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if len(dir) > maxDir {
		sum := sha256.Sum256([]byte(dir))
		dir = filepath.Join(os.TempDir(), "companiond-"+hex.EncodeToString(sum[:8]))
	}
	err = errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Dir(dir), 0o700))
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil { // as where somebody else has it, which everybody may among temporary files
		return os.MkdirTemp("", "companiond-")
	}
	return dir, nil
}

// Name is the engine's name as doors show it.
func (e *Engine) Name() string { return "process" }

// Match takes the files that the configuration names, and gives the modules' names.
func (e *Engine) Match(file string) (name string, ok bool) {
	p, ok := e.program(file)
	return p.Module, ok
}

func (e *Engine) program(file string) (Program, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.named, func(p Program) bool { return p.File == file })
	if i < 0 {
		return Program{}, false
	}
	return e.named[i], true
}

// again is abi.Errorf of an error that the same file need not give the next time.
func again(code abi.Code, format string, args ...any) error {
	err := abi.Errorf(code, format, args...)
	err.Retry = true
	return err
}

var errClosing = abi.Errorf(abi.CodeUnavailable, "companiond is stopping")

// Load starts a program and lets it describe itself.
//
// # Errors
//
// abi.CodeInvalid and CodeDenied say what is wrong with the file, CodeTimeout that ctx ended first,
// CodeUnavailable that the engine is closing or the system starts no program.
func (e *Engine) Load(ctx context.Context, s module.Source) (module.Module, error) {
	if err := e.check(s); err != nil {
		return nil, err
	}
	m, err := e.add(s)
	if err != nil {
		return nil, err
	}
	if err := m.begin(ctx); err != nil {
		return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// check refuses a file that may not be run.
func (e *Engine) check(s module.Source) error {
	if len(s.Data) == 0 {
		return abi.Errorf(abi.CodeInvalid, "the file is empty")
	}
	p, named := e.program(filepath.Base(s.Name))
	if !named {
		return abi.Errorf(abi.CodeDenied, "no [module.NAME] of the configuration names this program")
	}
	if why := p.differs(s.Hash); why != "" {
		return abi.Errorf(abi.CodeDenied, "%s", why)
	}
	return checkOwner(s.Path)
}

// differs says why a file with this SHA-256 is not the program; "" where it is.
func (p Program) differs(sum string) string {
	if p.Checksum == "" || p.Checksum == sum {
		return ""
	}
	return fmt.Sprintf("its SHA-256 is %s, and [module.%s] wants %s: if the new file is yours, write checksum = %q", sum, p.Module, p.Checksum, sum)
}

// Check says why a program cannot be run as it is now, "" where it can: its file, in a folder, is not there, others may write it, it
// has more than max bytes, or another checksum.
func (p Program) Check(folder string, max int64) string {
	path := filepath.Join(folder, p.File)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Sprintf("%q is not there", path)
	}
	if err := checkOwner(path); err != nil {
		return module.Reason(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Sprintf("%q is no file", path)
	case info.Size() > max:
		return fmt.Sprintf("%q has %d bytes, at most %d are loaded (wasm.max_file)", path, info.Size(), max)
	case p.Checksum == "":
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return module.Reason(err)
	}
	sum := sha256.Sum256(data)
	return p.differs(hex.EncodeToString(sum[:]))
}

// add makes a module, with its directory and its copy of the file. What is run is what was read, whatever
// becomes of the file meanwhile.
func (e *Engine) add(s module.Source) (*Module, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosing
	}
	e.made++
	dir := filepath.Join(e.cfg.Dir, "m"+strconv.Itoa(e.made))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "make a directory for the program: %w", err)
	}
	m := newModule(e, s, dir)
	if err := os.WriteFile(m.path, s.Data, 0o500); err != nil {
		return nil, errors.Join(abi.Errorf(abi.CodeUnavailable, "copy the program: %w", err), os.RemoveAll(dir))
	}
	e.modules[m] = struct{}{}
	return m, nil
}

func (e *Engine) remove(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.modules, m)
}

// Close ends all programs: their calls may end until ctx does. No other is loaded from its start on.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	var all []*Module
	for m := range e.modules {
		all = append(all, m)
	}
	opened := e.opened
	e.mu.Unlock()
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, m := range all {
		closing.Go(func() { errs[i] = m.Close(ctx) })
	}
	closing.Wait()
	if opened {
		errs = append(errs, os.RemoveAll(e.cfg.Dir))
	}
	return errors.Join(errs...)
}
