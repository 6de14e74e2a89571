package fuel_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/companiond/companiond/host/module/wasm/fuel"
)

var errStop = errors.New("stopped by tick")

// guest is an instance of a module, rewritten or not.
type guest struct {
	api.Module
	ticks int
	grant int32 // what tick returns
	limit int   // tick panics with errStop when it was called more often
}

func (g *guest) tick() int32 {
	g.ticks++
	if g.ticks > g.limit {
		panic(errStop)
	}
	return g.grant
}

// starter makes guests in one runtime.
type starter struct {
	runtime wazero.Runtime
	current *guest // whose tick is called; tests run one guest at a time
}

// newStarter makes a runtime with the host modules that test modules import.
func newStarter(t testing.TB, config wazero.RuntimeConfig) *starter {
	t.Helper()
	ctx := context.Background()
	s := &starter{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	t.Cleanup(func() { s.runtime.Close(ctx) })
	_, err := s.runtime.NewHostModuleBuilder(fuel.ImportModule).
		NewFunctionBuilder().WithFunc(func() int32 { return s.current.tick() }).Export(fuel.ImportField).
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.runtime.NewHostModuleBuilder("host").
		NewFunctionBuilder().WithFunc(func() int32 { return 7 }).Export("seven").
		NewFunctionBuilder().WithFunc(func(n int32) int32 { return 2 * n }).Export("double").
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wasi_snapshot_preview1.MustInstantiate(ctx, s.runtime)
	env := module{
		memories: onePage, tables: [][]byte{{funcref, 1, 1, 9}}, globals: [][]byte{global(i32, 0, konst(5))},
		exports: []export{{"memory", 2, 0}, {"table", 1, 0}, {"global", 3, 0}},
	}
	_, err = s.runtime.InstantiateWithConfig(ctx, env.assemble(), wazero.NewModuleConfig().WithName("env"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start makes an instance whose tick may be called limit times.
func (s *starter) start(wasm []byte, grant int32, limit int) (*guest, error) {
	g := &guest{grant: grant, limit: limit}
	s.current = g
	mod, err := s.runtime.InstantiateWithConfig(context.Background(), wasm,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	g.Module = mod
	return g, err
}

func (g *guest) run(args ...uint64) ([]uint64, error) {
	return g.ExportedFunction("run").Call(context.Background(), args...)
}

func rewrite(t testing.TB, wasm []byte, slice int32) []byte {
	t.Helper()
	out, err := fuel.Rewrite(wasm, slice)
	if err != nil {
		t.Fatalf("Rewrite: %v", err)
	}
	return out
}

var buildOnce = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fuel-guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, ".")
	cmd.Dir = filepath.Join("testdata", "guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.New(err.Error() + ": " + string(out))
	}
	return os.ReadFile(file)
})

// goGuest builds testdata/guest with the Go compiler that runs the test.
func goGuest(t testing.TB) []byte {
	t.Helper()
	wasm, err := buildOnce()
	if err != nil {
		t.Fatalf("build testdata/guest: %v", err)
	}
	return wasm
}

func TestGoGuestAnswersTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and interprets a Go guest")
	}
	original := goGuest(t)
	s := newStarter(t, wazero.NewRuntimeConfigInterpreter())
	want := callWork(t, s, original, 0)
	rewritten := rewrite(t, original, 1000)
	if got := callWork(t, s, rewritten, 1000); got != want {
		t.Errorf("work(500) = %d, want %d", got, want)
	}
	if s.current.ticks == 0 {
		t.Error("tick was never called")
	}
	s.current.limit = s.current.ticks + 20
	if _, err := s.current.ExportedFunction("forever").Call(context.Background()); !errors.Is(err, errStop) {
		t.Errorf("forever() = %v, want %v", err, errStop)
	}
	t.Logf("%d bytes, rewritten %d (%+.1f %%)", len(original), len(rewritten),
		100*float64(len(rewritten)-len(original))/float64(len(original)))
}

func callWork(t *testing.T, s *starter, wasm []byte, grant int32) int32 {
	t.Helper()
	g, err := s.start(wasm, grant, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.ExportedFunction("work").Call(context.Background(), 500)
	if err != nil {
		t.Fatal(err)
	}
	return api.DecodeI32(out[0])
}

func BenchmarkRewrite(b *testing.B) {
	original := goGuest(b)
	b.SetBytes(int64(len(original)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fuel.Rewrite(original, 100_000); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWork measures a compiled Go guest with and without fuel.
func BenchmarkWork(b *testing.B) {
	for name, wasm := range map[string][]byte{"plain": goGuest(b), "fuel": rewrite(b, goGuest(b), 100_000)} {
		b.Run(name, func(b *testing.B) {
			g, err := newStarter(b, wazero.NewRuntimeConfigCompiler()).start(wasm, 100_000, 1<<30)
			if err != nil {
				b.Fatal(err)
			}
			work := g.ExportedFunction("work")
			for b.Loop() {
				if _, err := work.Call(context.Background(), 500); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
