package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/waittest"
)

// scratch is a directory for the test run: a cache of compiled code that all
// tests share, and what the Go guest is built in.
var scratch string

// busy is the first argument of a compiler that waits for a file, named by the second,
// before it goes on.
const busy = "busy"

func TestMain(m *testing.M) {
	args := os.Args[1:]
	if len(args) > 2 && args[0] == busy {
		for {
			if _, err := os.Stat(args[1]); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		args = args[2:]
	}
	if code, ok := compilertest.Main(args); ok {
		os.Exit(code)
	}
	var err error
	if scratch, err = os.MkdirTemp("", "companiond-wasm"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	rc := m.Run()
	if err := goleak.Find(); rc == 0 && err != nil {
		fmt.Println("goroutines left behind:", err)
		rc = 1
	}
	if rc != 0 {
		_ = os.RemoveAll(scratch)
		os.Exit(rc)
	}
}

// goGuest is testdata/guest, and echo the reference character in Go's SDK; each is built once.
var (
	goGuest = sync.OnceValues(func() ([]byte, error) { return goBuild("./testdata/guest") })
	echo    = sync.OnceValues(func() ([]byte, error) { return goBuild("../../../sdk/go/testdata/echo") })
)

func goBuild(dir string) ([]byte, error) {
	out := filepath.Join(scratch, filepath.Base(dir)+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, dir)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", dir, err, msg)
	}
	return os.ReadFile(out)
}

func guestFile(t testing.TB, id string) module.Source {
	t.Helper()
	data, err := goGuest()
	if err != nil {
		t.Fatal(err)
	}
	return module.Source{ID: id, Name: id + ".wasm", Data: data, Generation: 1}
}

func tinyFile(m tiny) module.Source {
	return module.Source{ID: "tiny", Name: "tiny.wasm", Data: m.build(), Generation: 1}
}

// newTestEngine makes an engine with the shared cache, and checks at the end
// that nothing it gave out is left.
func newTestEngine(t testing.TB, set func(*Config)) *Engine {
	t.Helper()
	cfg := Config{CacheDir: filepath.Join(scratch, "cache"), Compiler: []string{compilertest.Program()}}
	if set != nil {
		set(&cfg)
	}
	e, err := newEngine(cfg, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Errorf("close engine: %v", err)
		}
		if n := e.instances.Load(); n != 0 {
			t.Errorf("%d instances left after Close", n)
		}
		if n := e.reserved.Load(); n != 0 {
			t.Errorf("%d bytes of memory left after Close", n)
		}
	})
	return e
}

func load(t testing.TB, e *Engine, f module.Source) *Module {
	t.Helper()
	m, err := e.Load(context.Background(), f)
	if err != nil {
		t.Fatalf("load %s: %v", f.Path, err)
	}
	return m.(*Module)
}

// within is a ctx that ends after d.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// do asks the Go guest to do something.
func do(ctx context.Context, m *Module, what, arg string) (json.RawMessage, error) {
	data, _ := json.Marshal(map[string]string{"do": what, "arg": arg})
	return m.Call(ctx, abi.Request{Op: abi.OpVote, ID: "call-1", Room: "main", Data: data})
}

// mustDo is do with time enough, for what has to work.
func mustDo(t testing.TB, m *Module, what, arg string) string {
	t.Helper()
	data, err := do(within(t, waittest.Long), m, what, arg)
	if err != nil {
		t.Fatalf("%s %s: %v", what, arg, err)
	}
	return string(data)
}

// waitForCall waits until a call runs, or something else has the module's turn.
func waitForCall(t testing.TB, m *Module) {
	t.Helper()
	waittest.Until(t, "a call runs", func() bool { return len(m.turn) > 0 })
}

// waitForInstance waits until nothing has the module's turn: after a fault that is
// until there is an instance again.
func waitForInstance(m *Module) {
	m.turn <- struct{}{}
	<-m.turn
}

// vote asks for a vote that any test module answers.
func vote(ctx context.Context, m *Module) error {
	_, err := m.Call(ctx, abi.Request{Op: abi.OpVote, Data: json.RawMessage(`{"message":{"text":"hi"}}`)})
	return err
}

func faultKind(err error) module.FaultKind {
	var f *module.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// wantRefusal checks that err is an abi.Error that says every part.
func wantRefusal(t *testing.T, err error, code abi.Code, parts ...string) {
	t.Helper()
	var e *abi.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an abi.Error", err)
	}
	if e.Code != code {
		t.Errorf("code %q, want %q: %s", e.Code, code, e.Message)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("message %q does not say %q", e.Message, p)
		}
	}
}

// fakeHost answers kv ops from a map, and remembers who asked.
type fakeHost struct {
	mu      sync.Mutex
	kv      map[string]string
	callers []module.Caller
	hook    func(ctx context.Context, op string) (json.RawMessage, error) // for ops that begin with "test."
}

func (h *fakeHost) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if h.hook != nil && strings.HasPrefix(op, "test.") {
		return h.hook(ctx, op)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.callers = append(h.callers, c)
	var pair abi.KVPair
	if len(data) > 0 {
		if err := json.Unmarshal(data, &pair); err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "data: %v", err)
		}
	}
	switch op {
	case abi.HostKVSet:
		h.kv[c.Companion+"/"+pair.Key] = pair.Value
		return nil, nil
	case abi.HostKVGet:
		v, ok := h.kv[c.Companion+"/"+pair.Key]
		return json.Marshal(abi.KVValue{Found: ok, Value: v})
	case abi.HostNow:
		return nil, errors.New("secret: the host's own trouble")
	case abi.HostRandom:
		return json.RawMessage("no JSON"), nil
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "no host op %q", op)
}
