package wasm

import (
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// busyCompiler gives an engine whose compiler has something else to do until
// free is called, so that the interpreter has to help out.
func busyCompiler(t *testing.T, e *Engine) (free func()) {
	t.Helper()
	if err := e.startQuick(); err != nil {
		t.Fatal(err)
	}
	e.compiling <- struct{}{}
	return func() { <-e.compiling }
}

// TestUnknownFileIsInterpretedUntilItIsCompiled calls a module all the while
// that its code changes from one form to the other, and looks for a call that
// noticed.
func TestUnknownFileIsInterpretedUntilItIsCompiled(t *testing.T) {
	e := newTestEngine(t, nil)
	free := busyCompiler(t, e)
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
	e := newTestEngine(t, nil)
	free := busyCompiler(t, e)
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

// TestEngineClosesWhileCodeIsComing waits for the compiler instead of pulling
// the engine away under it.
func TestEngineClosesWhileCodeIsComing(t *testing.T) {
	e, err := newEngine(Config{}, true)
	if err != nil {
		t.Fatal(err)
	}
	free := busyCompiler(t, e)
	m := load(t, e, tinyFile(tiny{}))
	closed := make(chan error)
	go func() { closed <- e.Close(t.Context()) }()
	select {
	case err := <-closed:
		t.Fatalf("closed while code was coming: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	free()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	<-m.Compiled()
	if n := e.instances.Load(); n != 0 {
		t.Errorf("%d instances left", n)
	}
}

// TestBrokenFileIsRefusedByTheInterpreterToo gives back what the compiler makes
// of a file that was refused meanwhile.
func TestBrokenFileIsRefusedByTheInterpreterToo(t *testing.T) {
	e := newTestEngine(t, nil)
	free := busyCompiler(t, e)
	_, err := e.Load(t.Context(), tinyFile(tiny{describe: "no json"}))
	if abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("err = %v", err)
	}
	free()
}
