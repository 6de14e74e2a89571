package compiler_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/codecache"
	"github.com/companiond/companiond/host/module/wasm/compiler"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/module/wasm/wasmtest"
	"github.com/companiond/companiond/host/waittest"
)

// dies is the first argument of a compiler that is killed at some moment within the
// second, a duration.
const dies = "dies"

// TestMain lets the test's own program be the compiler.
func TestMain(m *testing.M) {
	args := os.Args[1:]
	if len(args) > 1 && args[0] == dies {
		within, _ := time.ParseDuration(args[1])
		args = args[2:]
		go func() {
			time.Sleep(rand.N(within))
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
		}()
	}
	if code, ok := compilertest.Main(args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

var settings = compiler.Settings{Pages: 1024}

// lab is a queue with its store.
type lab struct {
	*compiler.Queue
	store *codecache.Store
}

func newLab(t *testing.T, command ...string) *lab {
	t.Helper()
	store, err := codecache.Open(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if len(command) == 0 || command[0] == dies {
		command = append([]string{compilertest.Program()}, command...)
	}
	l := &lab{compiler.NewQueue(store, settings, command, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))), store}
	t.Cleanup(l.Close)
	return l
}

func job(name string, image []byte) compiler.Job {
	return compiler.Job{Image: image, Key: codecache.KeyOf(image), Name: name}
}

// load takes an image's code as the daemon does.
func (l *lab) load(t *testing.T, image []byte) error {
	t.Helper()
	cache, err := wazero.NewCompilationCacheWithDir(l.store.Dir())
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), settings.Runtime().WithCompilationCache(cache))
	defer r.Close(context.Background())
	_, err = compiler.Load(r, image)
	return err
}

func TestCompile(t *testing.T) {
	l := newLab(t)
	image := wasmtest.File{}.Bytes()
	if err := l.load(t, image); !errors.Is(err, compiler.ErrNotCached) {
		t.Fatalf("nothing was compiled, and loading says %v", err)
	}
	var waits []string
	j := job("tiny.wasm", image)
	j.Progress = func(what string) { waits = append(waits, what) }
	if err := l.Compile(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if !has(l.store, j.Key) || l.load(t, image) != nil || !slices.Equal(waits, []string{"being compiled"}) {
		t.Errorf("it is there: %v, loads: %v, waits %q", has(l.store, j.Key), l.load(t, image), waits)
	}
	if left, _ := filepath.Glob(filepath.Join(l.store.Dir(), "new-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// A file that is no module is refused, by the compiler's words, and not tried again.
func TestRefused(t *testing.T) {
	l := newLab(t)
	bad := append(wasmtest.File{}.Bytes(), 10, 1, 0)
	first := l.Compile(t.Context(), job("bad.wasm", bad))
	if abi.CodeOf(first) != abi.CodeInvalid || !strings.Contains(first.Error(), "cannot be compiled") {
		t.Errorf("%v", first)
	}
	if again := l.Compile(t.Context(), job("bad.wasm", bad)); again != first {
		t.Errorf("it was tried again: %v", again)
	}
}

// Where there is no compiler, or no place for the code, the file is not to blame.
func TestTroubleIsNotTheFilesFault(t *testing.T) {
	l := newLab(t, filepath.Join(t.TempDir(), "nobody"))
	image := wasmtest.File{}.Bytes()
	if err := l.Compile(t.Context(), job("tiny.wasm", image)); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("no compiler: %v", err)
	}
	l = newLab(t)
	if err := os.RemoveAll(l.store.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.store.Dir(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Compile(t.Context(), job("tiny.wasm", image)); abi.CodeOf(err) == abi.CodeInvalid || err == nil {
		t.Errorf("no directory: %v", err)
	}
}

// Files that are too much end in their child, and others are served beside them.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes for minutes")
	}
	l := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for name, image := range wasmtest.Bombs() {
		all.Go(func() {
			err := l.Compile(ctx, job(name, image))
			if code := abi.CodeOf(err); err != nil && code != abi.CodeTooLarge && code != abi.CodeTimeout {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	begun := time.Now()
	good := wasmtest.File{Functions: slices.Repeat([]wasmtest.Function{{Locals: 3}}, 1000)}.Bytes()
	if err := l.Compile(t.Context(), job("good.wasm", good)); err != nil {
		t.Fatal(err)
	}
	t.Logf("the good file was served after %v", time.Since(begun))
	cancel()
	all.Wait()
}

// What nobody wants any more is not compiled to its end.
func TestLeave(t *testing.T) {
	l := newLab(t)
	image := wasmtest.Bombs()["nested blocks"]
	ctx, cancel := context.WithCancel(t.Context())
	j := job("nested.wasm", image)
	begun := make(chan struct{})
	var once sync.Once
	j.Progress = func(what string) {
		if what == "being compiled" {
			once.Do(func() { close(begun) })
		}
	}
	got := make(chan error)
	go func() { got <- l.Compile(ctx, j) }()
	<-begun
	var behind string
	small := job("small.wasm", wasmtest.File{Exports: 2}.Bytes())
	told := make(chan string, 10)
	small.Progress = func(what string) { told <- what }
	next := make(chan error)
	go func() { next <- l.Compile(t.Context(), small) }()
	if behind = <-told; behind != "waiting for nested.wasm to be compiled" {
		t.Errorf("it waits %q", behind)
	}
	cancel()
	if err := <-got; abi.CodeOf(err) != abi.CodeTimeout {
		t.Errorf("%v", err)
	}
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// Closing waits for no compiler.
func TestClose(t *testing.T) {
	l := newLab(t)
	var all sync.WaitGroup
	bombs := wasmtest.Bombs()
	for _, name := range []string{"nested blocks", "switches in switches"} {
		all.Go(func() {
			if err := l.Compile(t.Context(), job(name, bombs[name])); abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	waittest.Until(t, "one is compiled", func() bool {
		made, _ := filepath.Glob(filepath.Join(l.store.Dir(), "new-*"))
		return len(made) == 1
	})
	begun := time.Now()
	l.Close()
	all.Wait()
	if waittest.Late(time.Since(begun), 2*time.Second) {
		t.Errorf("it took %v", time.Since(begun))
	}
	if err := l.Compile(t.Context(), job("late.wasm", wasmtest.File{}.Bytes())); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// TestKilled kills the compiler at any moment: its code is there whole or not at all, and
// nothing else is left.
func TestKilled(t *testing.T) {
	file := func(n int) []byte {
		return wasmtest.File{Functions: slices.Repeat([]wasmtest.Function{{Locals: 3, Body: []byte{1, 1}}}, 2_000+n)}.Bytes()
	}
	begun := time.Now()
	if err := newLab(t).Compile(t.Context(), job("whole.wasm", file(0))); err != nil {
		t.Fatal(err)
	}
	l := newLab(t, dies, time.Since(begun).String())
	there := 0
	for n := range 100 {
		image := file(n)
		err := l.Compile(t.Context(), job("killed.wasm", image))
		if code := abi.CodeOf(err); err != nil && code != abi.CodeUnavailable {
			t.Fatalf("%d: %v", n, err)
		}
		loads := l.load(t, image)
		if has := has(l.store, codecache.KeyOf(image)); has != (err == nil) || has != (loads == nil) || !has && !errors.Is(loads, compiler.ErrNotCached) {
			t.Fatalf("%d: compile says %v, the cache has it %v, loading says %v", n, err, has, loads)
		}
		if err == nil {
			there++
		}
	}
	if left, _ := filepath.Glob(filepath.Join(l.store.Dir(), "new-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	t.Logf("%d of 100 got through, with three tries each", there)
}

// Many who want the same have it compiled once.
func TestOneForAll(t *testing.T) {
	l := newLab(t)
	image := wasmtest.File{Functions: slices.Repeat([]wasmtest.Function{{Locals: 9}}, 2000)}.Bytes()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := l.Compile(t.Context(), job("same.wasm", image)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// has says whether a store has code for a key.
func has(s *codecache.Store, k codecache.Key) bool {
	_, ok := s.Find(k)
	return ok
}
