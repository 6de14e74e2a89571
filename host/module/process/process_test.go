//go:build unix

package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// TestMain lets the test's own program be the guard and every program.
func TestMain(m *testing.M) {
	if code, ok := warden.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == "guest" {
		guest(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// script gives a program that does what guest does for a name.
func script(t testing.TB, name string) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(fmt.Sprintf("#!/bin/sh\n# %s\nexec '%s' guest '%s'\n", name, self, name))
}

// guest is a program that describes itself, and does what its name says when it is asked for a vote.
func guest(name string) {
	switch name {
	case "is no module":
		fmt.Println("hello")
		fmt.Fprintln(os.Stderr, "I am something else")
		return
	case "ends at once":
		fmt.Fprintln(os.Stderr, "panic: no luck")
		os.Exit(3)
	case "says nothing":
		time.Sleep(time.Hour)
	}
	shake := wire.Handshake
	if name == "another version" {
		shake.ProtocolVersion++
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: shake, Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}), GRPCServer: wire.GRPCServer,
		Plugins: plugin.PluginSet{wire.Name: wire.Plugin{Serve: func(ctx context.Context, s wire.Stream) error {
			_, request, err := s.Recv()
			if err != nil {
				return err
			}
			var req abi.Request
			if err := json.Unmarshal(request, &req); err != nil {
				return err
			}
			return answer(ctx, name, req, s)
		}}},
	})
}

const voted = `{"ok":{"state":"speak","importance":3}}`

// answer answers a call.
func answer(ctx context.Context, name string, req abi.Request, s wire.Stream) error {
	reply := func(text string) error { return s.Send(wire.Reply, []byte(text)) }
	switch req.Op {
	case abi.OpDescribe:
		switch name {
		case "wrong abi":
			return reply(`{"ok":{"abi":"99","name":"Tiny","ops":["vote"]}}`)
		case "hangs at load":
			time.Sleep(time.Hour)
		case "knows no describe":
			return reply(`{"error":{"code":"unknown_op","message":"what?"}}`)
		}
		return reply(`{"ok":{"abi":"1","name":"Tiny","ops":["vote","speak"]}}`)
	case abi.OpSpeak: // also where others hang
		return reply(`{"ok":{"text":"hello"}}`)
	case abi.OpVote, abi.OpLine:
	default:
		return reply(`{"error":{"code":"unknown_op","message":"what?"}}`)
	}
	switch name {
	case "good":
		return reply(voted)
	case "hangs":
		time.Sleep(time.Hour)
	case "computes":
		for n := 0; ; n++ {
			if n < 0 {
				return nil
			}
		}
	case "gives up":
		for {
			kind, _, err := s.Recv()
			if err != nil || kind == wire.Cancel {
				return reply(`{"error":{"code":"timeout","message":"given up"}}`)
			}
		}
	case "panics":
		panic("boom")
	case "exits":
		os.Exit(4)
	case "grows":
		var all [][]byte
		for range 64 << 10 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
		return reply(fmt.Sprintf(`{"ok":{"state":"speak","importance":%d}}`, len(all)%10))
	case "rubbish":
		return reply("\x00\x01 no { json")
	case "rubbish frame":
		return s.Send('?', []byte("what?"))
	case "no reply":
		return nil
	case "10 MB":
		return reply(`{"ok":"` + strings.Repeat("x", 10<<20) + `"}`)
	case "asks":
		if err := s.Send(wire.HostCall, req.Data); err != nil {
			return err
		}
		kind, answer, err := s.Recv()
		if err != nil || kind != wire.Answer {
			return fmt.Errorf("%c, %w", kind, err)
		}
		return reply(string(answer))
	case "has a child":
		return family(reply)
	case "holds its pipes":
		c := exec.Command("sleep", "300")
		c.Stdout, c.Stderr, c.SysProcAttr = os.NewFile(1, "out"), os.NewFile(2, "err"), &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			return err
		}
		return reply(mustJSON(map[string]any{"ok": []int{os.Getpid(), c.Process.Pid}}))
	case "environment":
		return reply(mustJSON(map[string]any{"ok": append(os.Environ(), "wd="+wd())}))
	case "talks":
		line, _ := json.Marshal(wire.LogLine{Level: abi.LevelWarn, Text: "by frame"})
		if err := s.Send(wire.Log, line); err != nil {
			return err
		}
		fmt.Println("on stdout")
		_, _ = fmt.Fprintln(os.NewFile(1, "stdout"), strings.Repeat("long ", 40_000)) // behind go-plugin's back
		fmt.Fprintln(os.Stderr, "on stderr")
		return reply(voted)
	case "stops":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return reply(voted)
	}
	return fmt.Errorf("what is %s?", name)
}

func wd() string {
	dir, _ := os.Getwd()
	return dir
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// family starts a child in a session of its own, and says both numbers.
func family(reply func(string) error) error {
	c := exec.Command("sleep", "300")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	return reply(mustJSON(map[string]any{"ok": []int{os.Getpid(), c.Process.Pid}}))
}

// newEngine makes an engine that runs a file "aya" for the module aya. Its directory is empty when the
// test has ended, and there are no more goroutines.
func newEngine(t *testing.T, change func(*Config)) *Engine {
	t.Helper()
	cfg := Config{
		Programs: []Program{{Module: "aya", File: "aya"}}, Guard: os.Args[0], Environ: []string{"PATH=" + os.Getenv("PATH")},
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg)
	}
	before := runtime.NumGoroutine()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(e.cfg.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("its directory is left: %v", err)
		}
		waittest.Until(t, "its goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	})
	return e
}

func source(t testing.TB, data []byte) module.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "aya")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return module.Source{ID: "aya", Name: "aya", Path: path, Hash: hex.EncodeToString(sum[:]), Data: data, Generation: 1}
}

func load(t *testing.T, e *Engine, name string) *Module {
	t.Helper()
	m, err := e.Load(t.Context(), source(t, script(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Module)
}

// ask asks one op, with so long to answer.
func ask(t testing.TB, m module.Module, op string, within time.Duration) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return m.Call(ctx, abi.Request{Op: op, ID: "1", Data: json.RawMessage(`{"op":"now"}`)})
}

// The suite that every engine passes.
func TestEngineSuite(t *testing.T) {
	guests := map[moduletest.Guest][]byte{}
	for g, name := range map[moduletest.Guest]string{
		moduletest.Good: "good", moduletest.Hang: "hangs", moduletest.Trap: "panics", moduletest.Exit: "exits", moduletest.Grow: "grows", moduletest.BadReply: "rubbish", moduletest.HugeReply: "10 MB",
		moduletest.WrongABI: "wrong abi", moduletest.HangsAtLoad: "hangs at load", moduletest.NotDescribing: "knows no describe",
	} {
		guests[g] = script(t, name)
	}
	bound := int64(256 << 20)
	if runtime.GOOS != "linux" || waittest.RaceDetector { // which reserves more than there is
		delete(guests, moduletest.Grow)
		bound = 0
	}
	moduletest.Run(t, newEngine(t, func(c *Config) { c.Memory = bound }), "aya", guests)
}

// Whatever a program does costs its own call, the next one is answered, and the fault says what it did.
func TestFaults(t *testing.T) {
	for name, want := range map[string]struct {
		kind module.FaultKind
		why  string
	}{
		"panics": {module.FaultTrap, "panic: boom"}, "exits": {module.FaultTrap, "exit code 4"}, "rubbish": {module.FaultReply, "JSON"},
		"rubbish frame": {module.FaultReply, "unexpected frame"}, "no reply": {module.FaultReply, "without a reply"}, "10 MB": {module.FaultReply, "more than"},
		"hangs": {module.FaultTimeout, "deadline"}, "what": {module.FaultTrap, "what is what?"},
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, newEngine(t, nil), name)
			within := waittest.Long
			if name == "hangs" {
				within = 100 * time.Millisecond
			}
			data, err := ask(t, m, abi.OpVote, within)
			var fault *module.Fault
			if !errors.As(err, &fault) || fault.Kind != want.kind || !strings.Contains(fault.Error(), want.why) {
				t.Fatalf("%.80s, %v; want %s, %s", data, err, want.kind, want.why)
			}
			if data, err := ask(t, m, abi.OpSpeak, waittest.Long); err != nil {
				t.Errorf("the next call: %s, %v", data, err)
			}
		})
	}
}

// A program that gives up a call that was given up lives on.
func TestGivesUp(t *testing.T) {
	m := load(t, newEngine(t, func(c *Config) { c.Settle = waittest.Long }), "gives up")
	before := m.current
	for begun := 0; begun < 3; {
		var fault *module.Fault
		_, err := ask(t, m, abi.OpVote, 50*time.Millisecond)
		switch {
		case errors.As(err, &fault) && fault.Kind == module.FaultTimeout:
			begun++
		case !errors.Is(err, context.DeadlineExceeded): // the one before had not been given up yet, so it never began
			t.Fatal(err)
		}
	}
	if _, err := ask(t, m, abi.OpSpeak, waittest.Long); err != nil || m.current != before {
		t.Errorf("%v; the same program: %v", err, m.current == before)
	}
}

// A program that computes in one call is found out while somebody still waits.
func TestComputesLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say what a program takes")
	}
	m := load(t, newEngine(t, func(c *Config) { c.CPUPerCall = 300 * time.Millisecond }), "computes")
	_, err := ask(t, m, abi.OpVote, waittest.Long)
	var fault *module.Fault
	if !errors.As(err, &fault) || fault.Kind != module.FaultFuel {
		t.Error(err)
	}
}

// isFoundOut asks again and again, each time for so long, until the program is found to compute too much.
func isFoundOut(t *testing.T, m *Module, patience time.Duration) {
	t.Helper()
	waittest.Until(t, "it is found out", func() bool {
		_, err := ask(t, m, abi.OpVote, patience)
		var fault *module.Fault
		return errors.As(err, &fault) && fault.Kind == module.FaultFuel
	})
}

// Only work is held against a program: one that computes is found out though each call is given up.
func TestComputes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say what a program takes")
	}
	m := load(t, newEngine(t, func(c *Config) { c.CPUPerCall = 300 * time.Millisecond }), "computes")
	isFoundOut(t, m, 200*time.Millisecond)
	waittest.Until(t, "it is called again", func() bool { // it failed some times in a row
		_, err := ask(t, m, abi.OpSpeak, waittest.Long)
		return err == nil
	})
}

// So is one whose calls are given up before it gets to them, as on a machine that is busy: what counts is what it computes.
func TestComputesForNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say what a program takes")
	}
	m := load(t, newEngine(t, func(c *Config) { c.CPUPerCall = 300 * time.Millisecond }), "computes")
	isFoundOut(t, m, 10*time.Millisecond)
}

// A filter has less time, and is found out by less, also when it answers between.
func TestAFilterComputes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say what a program takes")
	}
	m := load(t, newEngine(t, func(c *Config) { c.CPUPerCall = time.Second }), "computes")
	kind := func(op string) module.FaultKind {
		m.mu.Lock()
		p := m.current
		m.mu.Unlock()
		before := p.cpu()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			waittest.Until(t, "it has computed", func() bool { return p.cpu()-before > 300*time.Millisecond })
		}()
		_, err := m.Call(ctx, abi.Request{Op: op, ID: "1", Data: json.RawMessage(`{}`)})
		var fault *module.Fault
		if !errors.As(err, &fault) {
			t.Fatal(err)
		}
		return fault.Kind
	}
	if got := kind(abi.OpVote); got != module.FaultTimeout {
		t.Errorf("a vote: %s", got)
	}
	waittest.Until(t, "it is called again", func() bool {
		_, err := ask(t, m, abi.OpSpeak, waittest.Long)
		return err == nil
	})
	if got := kind(abi.OpLine); got != module.FaultFuel {
		t.Errorf("a filter: %s", got)
	}
}

// A program that is stopped is found out by its health, and replaced though nobody calls.
func TestHealth(t *testing.T) {
	m := load(t, newEngine(t, func(c *Config) { c.Health = 100 * time.Millisecond }), "stops")
	m.mu.Lock()
	before := m.current
	m.mu.Unlock()
	go func() { _, _ = ask(t, m, abi.OpVote, waittest.Long) }()
	waittest.Until(t, "another program runs", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.current != nil && m.current != before
	})
}

// A program that ends by itself is started again.
func TestEndsByItself(t *testing.T) {
	m := load(t, newEngine(t, nil), "has a child")
	data, err := ask(t, m, abi.OpVote, waittest.Long)
	var pids []int
	if err != nil || json.Unmarshal(data, &pids) != nil {
		t.Fatalf("%s, %v", data, err)
	}
	m.mu.Lock()
	before := m.current
	m.mu.Unlock()
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "another program runs", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.current != nil && m.current != before
	})
	if err := syscall.Kill(pids[1], 0); !errors.Is(err, syscall.ESRCH) && runtime.GOOS == "linux" {
		t.Errorf("its child lives: %v", err)
	}
}

// Somebody who escaped its guard and holds the pipes keeps nobody from closing the module.
func TestEscapes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere more of them escape")
	}
	m := load(t, newEngine(t, nil), "holds its pipes")
	data, err := ask(t, m, abi.OpVote, waittest.Long)
	var pids []int
	if err != nil || json.Unmarshal(data, &pids) != nil {
		t.Fatalf("%s, %v", data, err)
	}
	defer func() { _ = syscall.Kill(pids[1], syscall.SIGKILL) }()
	if err := syscall.Kill(m.current.running.PID(), syscall.SIGKILL); err != nil { // its guard
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	defer cancel()
	if err := m.Close(ctx); err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	if err := syscall.Kill(pids[1], 0); err != nil {
		t.Errorf("it did not escape: %v", err)
	}
}

// One that never starts again is tried later and later, and calls are told so.
func TestBackOff(t *testing.T) {
	m := load(t, newEngine(t, nil), "exits")
	for range 3 {
		_, _ = ask(t, m, abi.OpVote, waittest.Long)
	}
	if _, err := ask(t, m, abi.OpVote, waittest.Long); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "failed 3 times in a row") {
		t.Errorf("%v", err)
	}
	if why := m.Trouble(); !strings.Contains(why, "failed 3 times in a row, the last time: the program ended: exit code 4") {
		t.Errorf("its status says %q", why)
	}
}

// A directory whose path is too long for sockets is another one, the same each time, and what is left in
// it is deleted.
func TestDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	var dirs [2]string
	for i := range dirs {
		e := newEngine(t, func(c *Config) { c.Dir = long })
		dirs[i] = e.cfg.Dir
		if err := os.WriteFile(filepath.Join(e.cfg.Dir, "left"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(e.cfg.Dir); len(left) != 1 {
			t.Errorf("%d files", len(left))
		}
		m := load(t, e, "good")
		if _, err := ask(t, m, abi.OpVote, waittest.Long); err != nil {
			t.Error(err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if dirs[0] != dirs[1] || len(dirs[0]) > maxDir {
		t.Errorf("%q", dirs)
	}
}

func TestRefused(t *testing.T) {
	e := newEngine(t, nil)
	for name, why := range map[string]string{
		"is no module":    `it ended by itself; the first thing it printed is "hello"`,
		"ends at once":    "exit code 3: panic: no luck",
		"another version": "another version of the border",
	} {
		if _, err := e.Load(t.Context(), source(t, script(t, name))); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := e.Load(ctx, source(t, script(t, "says nothing"))); abi.CodeOf(err) != abi.CodeTimeout {
		t.Errorf("one that says nothing: %v", err)
	}
	open := source(t, script(t, "good"))
	if err := os.Chmod(open.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Load(t.Context(), open); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("everybody may write it: %v", err)
	}
	plain := source(t, script(t, "good"))
	if err := os.Chmod(plain.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Load(t.Context(), plain); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "chmod +x") {
		t.Errorf("it is not executable: %v", err)
	}
	elsewhere := source(t, script(t, "good"))
	if err := os.Chmod(filepath.Dir(elsewhere.Path), 0o777); err != nil {
		t.Fatal(err)
	}
	linked := source(t, script(t, "good"))
	if err := errors.Join(os.Remove(linked.Path), os.Symlink(elsewhere.Path, linked.Path)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Load(t.Context(), linked); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "linked to") {
		t.Errorf("everybody may put another in its place: %v", err)
	}
	open = source(t, script(t, "good"))
	open.Name = "kyoko"
	if _, err := e.Load(t.Context(), open); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("nobody names it: %v", err)
	}
	known := newEngine(t, func(c *Config) { c.Programs[0].Checksum = strings.Repeat("ab", 32) })
	if _, err := known.Load(t.Context(), source(t, script(t, "good"))); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "[module.aya] wants abab") {
		t.Errorf("it is another file: %v", err)
	}
}

type now struct{}

func (now) HostCall(_ context.Context, c module.Caller, op string, _ json.RawMessage) (json.RawMessage, error) {
	return json.Marshal([]string{op, c.Companion, c.Engine, c.Op})
}

func TestHostCalls(t *testing.T) {
	m := load(t, newEngine(t, func(c *Config) { c.Host = now{} }), "asks")
	if data, err := ask(t, m, abi.OpVote, waittest.Long); err != nil || string(data) != `["now","aya","process","vote"]` {
		t.Errorf("%s, %v", data, err)
	}
}

// Nothing of the daemon's environment reaches a program.
func TestEnvironment(t *testing.T) {
	t.Setenv("API_KEY", "secret")
	e := newEngine(t, func(c *Config) { c.Environ = append(c.Environ, "LANG=ja_JP.UTF-8") })
	m := load(t, e, "environment")
	data, err := ask(t, m, abi.OpVote, waittest.Long)
	var env []string
	if err != nil || json.Unmarshal(data, &env) != nil || strings.Contains(string(data), "secret") || !slices.Contains(env, "LANG=ja_JP.UTF-8") {
		t.Errorf("%s, %v", data, err)
	}
	for _, want := range []string{"TMPDIR=" + m.dir, "wd=" + m.dir} {
		if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, want) }) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// What a program says goes to the log, from every side.
func TestTalks(t *testing.T) {
	var book logtest.Log
	m := load(t, newEngine(t, func(c *Config) { c.Log = book.Logger() }), "talks")
	if _, err := ask(t, m, abi.OpVote, waittest.Long); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"level=WARN", `stream=log line="by frame"`, `stream=stdout line="on stdout"`, `stream=stderr line="on stderr"`} {
		waittest.Until(t, want, func() bool { return strings.Contains(book.String(), want) })
	}
}

// What is run is what was read, and nothing of it is left.
func TestMemoryAndClose(t *testing.T) {
	m := load(t, newEngine(t, nil), "good")
	if _, err := ask(t, m, abi.OpVote, waittest.Long); err != nil {
		t.Fatal(err)
	}
	if n := m.Memory(); n < 1<<20 && runtime.GOOS == "linux" {
		t.Errorf("%d bytes", n)
	}
	pid := m.current.running.PID()
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its guard lives: %v", err)
	}
	if _, err := os.Stat(m.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
}

// TestReplacements: a program's file is replaced a hundred times while it is called, and no call is lost and nothing
// left.
func TestReplacements(t *testing.T) {
	const times, callers = 100, 4
	dir := t.TempDir()
	put := func(n int) {
		tmp := filepath.Join(dir, "aya.tmp")
		if err := os.WriteFile(tmp, append(script(t, "good"), fmt.Sprintf("# %d\n", n)...), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(dir, "aya")); err != nil {
			t.Fatal(err)
		}
	}
	put(0)
	e := newEngine(t, func(c *Config) { c.Log = slog.New(slog.DiscardHandler) })
	f, err := folder.New(folder.Config{Dir: dir, Engines: []module.Engine{e}, Debounce: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	<-f.Ready()
	aya, ok := f.Companion("aya")
	if !ok {
		t.Fatalf("%+v", f.Status())
	}
	var calls, lost atomic.Int64
	var calling sync.WaitGroup
	enough := make(chan struct{})
	for range callers {
		calling.Go(func() {
			for {
				select {
				case <-enough:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
				if _, err := aya.Call(ctx, abi.Request{Op: abi.OpVote, ID: "1"}); err != nil {
					lost.Add(1)
					t.Log(err)
				}
				cancel()
				calls.Add(1)
			}
		})
	}
	for n := 1; n <= times; n++ {
		put(n)
		waittest.Until(t, fmt.Sprintf("replacement %d", n), func() bool { return aya.Generation() == uint64(n+1) })
	}
	close(enough)
	calling.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("%d replacements, %d calls of %d callers, %d lost", times, calls.Load(), callers, lost.Load())
	if lost.Load() > 0 || calls.Load() < times {
		t.Errorf("%d of %d calls lost", lost.Load(), calls.Load())
	}
	if left, err := os.ReadDir(e.cfg.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in its directory: %v, %v", left, err)
	}
	children, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range children {
		if text, err := os.ReadFile(c); err == nil && len(text) > 0 {
			t.Errorf("children are left: %s", text)
		}
	}
}
