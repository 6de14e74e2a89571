package wasm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/module/wasm/wasmtest"
	"github.com/companiond/companiond/host/waittest"
)

// busyEngine gives an engine whose compiler has something else to do until free is
// called. Until then the interpreter helps out, or does not.
func busyEngine(t *testing.T, helpsOut bool) (e *Engine, free func()) {
	t.Helper()
	dir := t.TempDir()
	flag := filepath.Join(dir, "free")
	e = newTestEngine(t, func(c *Config) {
		c.CacheDir, c.Compiler = filepath.Join(dir, "cache"), []string{os.Args[0], busy, flag}
	})
	if helpsOut {
		if err := e.startQuick(); err != nil {
			t.Fatal(err)
		}
	}
	return e, func() {
		if err := os.WriteFile(flag, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// TestUnknownFileIsInterpretedUntilItIsCompiled calls a module all the while
// that its code changes from one form to the other, and looks for a call that
// noticed.
func TestUnknownFileIsInterpretedUntilItIsCompiled(t *testing.T) {
	e, free := busyEngine(t, true)
	m := load(t, e, tinyFile(tiny{}))
	if m.form.runtime != e.quick {
		t.Fatal("the module waited for the compiler")
	}
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := vote(t.Context(), m); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
			}
		})
	}
	select {
	case <-m.Compiled():
		t.Fatal("compiled, though the compiler was busy")
	case <-time.After(50 * time.Millisecond):
	}
	free()
	<-m.Compiled()
	for range 20 {
		if err := vote(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	callers.Wait()
	if m.form.runtime != e.runtime {
		t.Error("the module is still interpreted")
	}
	if n := e.instances.Load(); n != 1 {
		t.Errorf("%d instances for one module", n)
	}
}

// TestClosedBeforeItIsCompiled closes a module while machine code is still
// coming: the code is given back when it comes.
func TestClosedBeforeItIsCompiled(t *testing.T) {
	e, free := busyEngine(t, true)
	m := load(t, e, tinyFile(tiny{}))
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	free()
	<-m.Compiled()
	if _, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("a closed module answers %v", err)
	}
}

// TestEngineClosesWhileCodeIsComing does not wait for the compiler.
func TestEngineClosesWhileCodeIsComing(t *testing.T) {
	e, free := busyEngine(t, true)
	defer free()
	m := load(t, e, tinyFile(tiny{}))
	begun := time.Now()
	if err := e.Close(within(t, waittest.Long)); err != nil {
		t.Error(err)
	}
	if waittest.Late(time.Since(begun), time.Second) {
		t.Errorf("it took %v", time.Since(begun))
	}
	<-m.Compiled()
	if n := e.instances.Load(); n != 0 {
		t.Errorf("%d instances left", n)
	}
}

// TestBrokenFileIsRefusedByTheInterpreterToo gives back what the compiler makes
// of a file that was refused meanwhile.
func TestBrokenFileIsRefusedByTheInterpreterToo(t *testing.T) {
	e, free := busyEngine(t, true)
	_, err := e.Load(t.Context(), tinyFile(tiny{describe: "no json"}))
	if abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("err = %v", err)
	}
	free()
}

// recursing is a guest whose vote calls itself so deep.
func recursing(frames int32) tiny {
	const load, sub, store = opI32Load, 0x6b, 0x36
	return tiny{
		vote: code(i32(atScratch), i32(frames), store, 2, 0, opCall, fnDeep, call(fnWrite, atReply, int32(len(tinyReply))), i32(0)),
		deep: code(i32(atScratch), load, 2, 0, opIf, void,
			i32(atScratch), i32(atScratch), load, 2, 0, i32(1), sub, store, 2, 0, opCall, fnDeep, opEnd),
	}
}

// TestInterpretedIsNotJudged: the interpreter has room for 2,000 frames and takes long. What
// a guest cannot do there it is asked for again when its machine code is there.
func TestInterpretedIsNotJudged(t *testing.T) {
	for _, frames := range []int32{3_000, 100_000} {
		e, free := busyEngine(t, true)
		m := load(t, e, tinyFile(recursing(frames)))
		answered := make(chan error)
		go func() { answered <- vote(t.Context(), m) }()
		select {
		case err := <-answered:
			t.Fatalf("%d frames, interpreted: %v", frames, err)
		case <-time.After(50 * time.Millisecond):
		}
		free()
		if err := <-answered; err != nil {
			t.Errorf("%d frames: %v", frames, err)
		}
		if err := vote(t.Context(), m); err != nil {
			t.Errorf("%d frames, once more: %v", frames, err)
		}
	}
}

// A caller that does not wait for the machine code is told that, which is no fault; others
// are served.
func TestInterpretedIsLate(t *testing.T) {
	e, free := busyEngine(t, true)
	defer free()
	m := load(t, e, tinyFile(tiny{vote: code(call(fnRead, atRequest), i32(atRequest+int32(len(`{"v":1,"op":"`))), opI32Load8U, 0, 0,
		i32('v'), opI32Eq, opIf, void, forever(), opEnd, call(fnWrite, atReply, int32(len(tinyReply))), i32(0))}))
	if err := vote(within(t, 30*time.Millisecond), m); err == nil || faultKind(err) != "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := m.Call(t.Context(), abi.Request{Op: abi.OpSpeak}); err != nil {
		t.Errorf("another op: %v", err)
	}
}

// Modules of equal files have one image.
func TestEqualFilesShareOneImage(t *testing.T) {
	e := newTestEngine(t, nil)
	a, b, other := load(t, e, guestFile(t, "aya")), load(t, e, guestFile(t, "kyoko")), load(t, e, tinyFile(tiny{}))
	if a.form != b.form || a.form == other.form || len(e.forms) != 2 {
		t.Errorf("%d images", len(e.forms))
	}
	for _, m := range []*Module{a, other} {
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mustDo(t, b, "count", "")
	if len(e.forms) != 1 {
		t.Errorf("%d images are left for one module", len(e.forms))
	}
	if err := b.Close(t.Context()); err != nil || len(e.forms) != 0 {
		t.Errorf("%v, %d images left", err, len(e.forms))
	}
}

// An instance that nobody asks anything gives its memory back, and the next call finds
// another.
func TestIdleInstanceIsDropped(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, guestFile(t, "aya"))
	mustDo(t, m, "count", "")
	e.rest(time.Now().Add(idleTime/2), sleepTime, idleTime, time.Minute)
	if m.guestMemory() == 0 {
		t.Fatal("it was dropped early")
	}
	m.turn <- struct{}{} // it is being asked
	e.rest(time.Now().Add(2*idleTime), sleepTime, idleTime, time.Minute)
	<-m.turn
	if m.guestMemory() == 0 {
		t.Fatal("it was dropped in the middle")
	}
	e.rest(time.Now().Add(2*idleTime), sleepTime, idleTime, time.Minute)
	if m.guestMemory() != 0 || e.instances.Load() != 0 {
		t.Errorf("%d bytes, %d instances", m.Memory(), e.instances.Load())
	}
	if got := mustDo(t, m, "count", ""); got != "1" {
		t.Errorf("count %s, want 1: it is another instance", got)
	}
}

// A file that is too much is refused before anything is done with it, or by the process
// that compiles it; the engine serves others meanwhile, and closes at once.
func TestBombsAreRefused(t *testing.T) {
	e, err := New(Config{CacheDir: t.TempDir(), Compiler: []string{compilertest.Program()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var bombs sync.WaitGroup
	for name, data := range wasmtest.Bombs() {
		bombs.Go(func() {
			m, err := e.Load(ctx, module.Source{ID: "bomb", Name: name, Data: data, Generation: 1})
			switch code := abi.CodeOf(err); {
			case err == nil:
				_ = m.Close(t.Context())
			case code != abi.CodeTooLarge && code != abi.CodeTimeout && code != abi.CodeInvalid && code != abi.CodeUnavailable:
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	m := load(t, e, guestFile(t, "aya"))
	mustDo(t, m, "count", "")
	cancel()
	begun := time.Now()
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if waittest.Late(time.Since(begun), 2*time.Second) {
		t.Errorf("closing took %v", time.Since(begun))
	}
	bombs.Wait()
}

// A load that ends while it waits for the interpreter is not compiled to its end.
func TestGivenUpWhileInterpreted(t *testing.T) {
	e, _ := busyEngine(t, true) // it compiles for ever
	ctx, cancel := context.WithCancel(t.Context())
	s := tinyFile(tiny{})
	var once sync.Once
	s.Progress = func(what string) {
		once.Do(func() { // its image is there
			e.preparing <- struct{}{} // another file is read for long
			time.AfterFunc(3*headStart, cancel)
		})
	}
	if _, err := e.Load(ctx, s); abi.CodeOf(err) != abi.CodeTimeout || !strings.Contains(err.Error(), "other files") {
		t.Fatalf("got %v", err)
	}
	<-e.preparing
	waittest.Until(t, "its compile is given up", func() bool {
		made, err := filepath.Glob(filepath.Join(e.store.Dir(), "new-*"))
		return err == nil && len(made) == 0
	})
}
