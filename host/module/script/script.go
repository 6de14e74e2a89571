// Package script is the engine for characters that are nothing but lines to say: NAME.talk.txt, a script as package
// sdk/go/talk reads it, in one language or several. All of them are played by the same code, which is the daemon's own, so that a
// character more costs what its lines do.
//
// A script is data: it has no code that could hang, reach anything or grow. What a call may take is bounded by the size of a
// file, and what is remembered of talks by package talk.
//
// The package asks no language model, and keeps nothing of a character but in the companion's store.
package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

// Config is what the engine needs. The zero value loads scripts, and answers none of their host calls.
type Config struct {
	Host module.HostCalls
	Log  *slog.Logger // nil drops what is to be told
	// Recall gives what a companion remembers. Unlike code that somebody brought, a script is not granted it: what plays
	// it is the daemon's own, and tells no more than the settings of the companion let it. Nil: Host is asked.
	Recall func(context.Context, module.Caller, abi.MemoryAsk) (abi.Memories, error)
}

// recalling are host calls that answer what is remembered themselves.
type recalling struct {
	module.HostCalls
	recall func(context.Context, module.Caller, abi.MemoryAsk) (abi.Memories, error)
}

func (r recalling) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if op == abi.HostMemorySearch {
		return module.Answer(data, func(a abi.MemoryAsk) (abi.Memories, error) { return r.recall(ctx, c, a) })
	}
	return r.HostCalls.HostCall(ctx, c, op, data)
}

// Engine loads scripts. The zero value is ready.
type Engine struct {
	cfg  Config
	open sync.Map // *Module: those that are loaded
}

var (
	_ module.Engine    = (*Engine)(nil)
	_ module.Forgetter = (*Engine)(nil)
)

// New makes an engine. It starts nothing.
func New(c Config) *Engine {
	if c.Recall != nil && c.Host != nil {
		c.Host = recalling{c.Host, c.Recall}
	}
	return &Engine{cfg: c}
}

// Forget has all characters remember no talk, also those whose files have mistakes by now. One that is being asked does with
// its next call.
func (e *Engine) Forget() {
	e.open.Range(func(m, _ any) bool { m.(*Module).anew.Store(true); return true })
}

const (
	name   = "script"
	suffix = ".talk.txt"
	// MaxFile is how many bytes a script may have.
	MaxFile = 256 << 10
)

// Name is "script".
func (*Engine) Name() string { return name }

// Match takes what ends in ".talk.txt".
func (*Engine) Match(file string) (name string, ok bool) { return strings.CutSuffix(file, suffix) }

// Load reads a script.
//
// # Errors
//
// abi.CodeTooLarge; and abi.CodeInvalid with all that is wrong with the script, a line each, with its file and line.
func (e *Engine) Load(_ context.Context, s module.Source) (module.Module, error) {
	if len(s.Data) > MaxFile {
		return nil, abi.Errorf(abi.CodeTooLarge, "%s: a script of %d bytes, at most %d", s.Name, len(s.Data), MaxFile)
	}
	if line := notUTF8(s.Data); line > 0 {
		return nil, abi.Errorf(abi.CodeInvalid, "%s:%d: it is no UTF-8; save the file in that encoding", s.Name, line)
	}
	m := &Module{engine: e, id: s.ID, generation: s.Generation, text: string(s.Data), turn: make(chan struct{}, 1), log: e.cfg.Log}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.log = m.log.With("companion", s.ID, "generation", s.Generation)
	if err := m.cast(); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "%s", placed(s.Name, err, leaves(s.Path)))
	}
	data, err := m.ask(context.Background(), abi.Request{Op: abi.OpDescribe, ID: fmt.Sprintf("load-%s-%d", m.id, m.generation)}, false)
	if err == nil {
		m.desc, err = abi.ReadDescription(data)
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "%s: %s", s.Name, module.Reason(err))
	}
	e.open.Store(m, nil)
	return m, nil
}

// notUTF8 gives the first line that is none, 0 for a text that is.
func notUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	line := 1
	for row := range bytes.Lines(text) {
		if !utf8.Valid(row) {
			break
		}
		line++
	}
	return line
}

// leaves says whether a file is a link out of its folder. Whoever may make one need not be allowed to read what it leads to.
func leaves(path string) bool {
	if path == "" {
		return false // it is no file
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false // a text that is not saved yet
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return err != nil || filepath.Dir(to) != folder
}

// placed gives the mistakes of a script with the file that they are in; hidden says that nothing of the file is to be shown.
func placed(file string, err error, hidden bool) string {
	var mistakes talk.Mistakes
	if !errors.As(err, &mistakes) {
		return file + ": " + err.Error()
	}
	rows := make([]string, len(mistakes))
	for i, m := range mistakes {
		if hidden {
			m.Why = "is no line of a script; the file is a link out of its folder, and nothing of it is shown"
		}
		rows[i] = fmt.Sprintf("%s:%d: %s", file, m.Line, m.Why)
	}
	return strings.Join(rows, "\n")
}

// Module is one loaded script. It answers one call at a time.
type Module struct {
	engine     *Engine
	id         string
	generation uint64
	text       string
	desc       abi.Description
	log        *slog.Logger

	anew      atomic.Bool // it is to remember no talk
	calls     module.Calls
	turn      chan struct{}       // holds a token while somebody has the character
	character companion.Character // belongs to whom the turn does
}

var _ module.Module = (*Module)(nil)

// cast makes the character, who remembers no talk.
func (m *Module) cast() (err error) {
	m.character, err = talk.New(m.text)
	return err
}

// Describe gives what the script says.
func (m *Module) Describe() abi.Description { return m.desc }

// Memory gives the bytes of the file. What plays it is the daemon.
func (m *Module) Memory() int64 { return int64(len(m.text)) }

// Close lets the running calls end until its ctx does. Those that are left lose their host then, and end.
func (m *Module) Close(ctx context.Context) error {
	idle, _ := m.calls.Close(ctx)
	<-idle
	m.engine.open.Delete(m)
	return nil
}

// Call answers one op.
func (m *Module) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
	}
	switch {
	case context.Cause(ctx) == module.ErrClosed:
		return nil, module.ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if m.anew.Swap(false) {
		if err := m.cast(); err != nil {
			return nil, err
		}
	}
	return m.ask(ctx, req, true)
}

// ask has the character answer; loaded says that host ops are answered. A panic is a bug of ours, and costs what it
// remembers of talks.
func (m *Module) ask(ctx context.Context, req abi.Request, loaded bool) (json.RawMessage, error) {
	request, err := module.WriteRequest(req, m.id)
	if err != nil {
		return nil, err
	}
	asking := module.Asking{Calls: m.engine.cfg.Host, Loaded: loaded, Log: m.log, By: module.Caller{
		Companion: m.id, Room: req.Room, Call: req.ID, Op: req.Op, Engine: name, Generation: m.generation,
	}}
	reply, _ := m.character.Serve(request, companion.Carrier{
		Ask:     func(ask []byte) []byte { return asking.Answer(ctx, ask, len(ask)) },
		Log:     func(level abi.Level, text string) { m.log.Log(ctx, slog.Level(level), "script says", "line", text) },
		Context: ctx,
	})
	data, refused, err := module.ReadReply(reply)
	switch {
	case err != nil:
		return nil, &module.Fault{Kind: module.FaultReply, Cause: err}
	case refused != nil && refused.Code == abi.CodeInternal:
		if err := m.cast(); err != nil {
			return nil, err
		}
		return nil, &module.Fault{Kind: module.FaultTrap, Cause: refused}
	case refused != nil:
		return nil, refused
	}
	return data, nil
}
