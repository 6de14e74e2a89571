package fuel_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/waittest"
)

func TestRewrittenModulesCompile(t *testing.T) {
	s := newStarter(t, wazero.NewRuntimeConfigInterpreter())
	compile := func(wasm []byte) error {
		c, err := s.runtime.CompileModule(context.Background(), wasm)
		if err == nil {
			c.Close(context.Background())
		}
		return err
	}
	for name, m := range handmade() {
		t.Run(name, func(t *testing.T) {
			original := m.assemble()
			if err := compile(original); err != nil {
				t.Fatalf("original: %v", err)
			}
			before := bytes.Clone(original)
			if err := compile(rewrite(t, original, 10)); err != nil {
				t.Errorf("rewritten: %v", err)
			}
			if !bytes.Equal(before, original) {
				t.Error("Rewrite changed its input")
			}
		})
	}
}

// Indexes are shifted in calls, tables, ref.func, constants and exports: the functions
// that are called stay the same. The numbers are worked out by hand and
// wasm-interp of wabt agrees.
func TestHandmadeModulesAnswer(t *testing.T) {
	const trap = -1
	for _, c := range []struct {
		name string
		m    module
		want []int32 // of run(0), run(1), ...
	}{
		{"all forms of element segments", elementForms(), []int32{100, 7, 200, 100, 200, trap, 100, trap, 100, 200, 200, 7, trap}},
		{"all kinds of imports", importsOfAllKinds(), []int32{2*7 + 5}},
		{"all kinds of globals", globalsOfAllKinds(), []int32{-5}},
		{"bulk operations on memory", bulkMemory(), []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'c', 't'}},
		{"bulk operations on tables", bulkTables(), []int32{20 + 10 + 12 + 0}},
		{"vectors", vectors(), []int32{5 + 0x01020100 + 0}},
		{"recursion", fib(), []int32{0, 1, 1, 2, 3, 5, 8, 13}},
		{"branches", control(), []int32{10, 15 + 1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStarter(t, wazero.NewRuntimeConfig())
			original := c.m.assemble()
			for n, want := range c.want {
				before, after := answer(t, s, original, n), answer(t, s, rewrite(t, original, 3), n)
				if before != want || after != want {
					t.Errorf("run(%d) = %d, rewritten %d, want %d", n, before, after, want)
				}
			}
		})
	}
}

// answer gives what run(n) returns, or -1 when it traps.
func answer(t *testing.T, s *starter, wasm []byte, n int) int32 {
	t.Helper()
	g, err := s.start(wasm, 3, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	params := g.ExportedFunction("run").Definition().ParamTypes()
	out, err := g.run([]uint64{uint64(n)}[:len(params)]...)
	if err != nil {
		return -1
	}
	return api.DecodeI32(out[0])
}

func TestExportsOfImportsStay(t *testing.T) {
	s := newStarter(t, wazero.NewRuntimeConfig())
	g, err := s.start(rewrite(t, elementForms().assemble(), 3), 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := g.ExportedFunction("seven").Call(context.Background()); err != nil || out[0] != 7 {
		t.Errorf("seven() = %v, %v", out, err)
	}
	for name := range g.ExportedFunctionDefinitions() {
		if name != "run" && name != "seven" {
			t.Errorf("export %q was added", name)
		}
	}
}

func TestWabtAgrees(t *testing.T) {
	validate, err := exec.LookPath("wasm-validate")
	if err != nil {
		t.Skip("wasm-validate not found: install wabt")
	}
	all := map[string][]byte{}
	for name, m := range handmade() {
		all[name] = m.assemble()
	}
	if !testing.Short() {
		all["go"] = goGuest(t)
	}
	for name, original := range all {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "module.wasm")
			if err := os.WriteFile(file, rewrite(t, original, 100_000), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(validate, file).CombinedOutput(); err != nil {
				t.Errorf("wasm-validate: %v\n%s", err, out)
			}
		})
	}
}

// stopping makes a starter and a context that end a loop, though no recursion,
// also when fuel does not.
func stopping(t *testing.T) (*starter, context.Context) {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	t.Cleanup(cancel)
	return newStarter(t, wazero.NewRuntimeConfig().WithCloseOnContextDone(true)), ctx
}

func TestTickStopsTheGuest(t *testing.T) {
	for _, c := range []struct {
		name string
		m    module
		args []uint64
	}{
		{"infinite loop", loopForever(), nil},
		{"loop of memory.fill", fillForever(), nil},
		{"recursion without a loop", fib(), []uint64{30}},
		{"endless recursion", fib(), []uint64{1000}},
	} {
		ok := t.Run(c.name, func(t *testing.T) {
			s, ctx := stopping(t)
			g, err := s.start(rewrite(t, c.m.assemble(), 1000), 1000, 50)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = g.ExportedFunction("run").Call(ctx, c.args...); !errors.Is(err, errStop) {
				t.Errorf("run = %v, want %v", err, errStop)
			}
		})
		if !ok {
			t.Fatal("the next ones might never end")
		}
	}
}

func TestTickStopsTheStartFunction(t *testing.T) {
	s, ctx := stopping(t)
	s.current = &guest{grant: 10, limit: 5}
	_, err := s.runtime.InstantiateWithConfig(ctx, rewrite(t, startForever().assemble(), 10), wazero.NewModuleConfig())
	if !errors.Is(err, errStop) {
		t.Errorf("instantiate = %v, want %v", err, errStop)
	}
}

// units finds what a call of run burns: the smallest slice with no tick.
func units(t *testing.T, m module, args ...uint64) int32 {
	t.Helper()
	s := newStarter(t, wazero.NewRuntimeConfigInterpreter())
	original := m.assemble()
	low, high := int32(0), int32(1<<23)
	for low < high {
		mid := low + (high-low)/2
		g, err := s.start(rewrite(t, original, mid), 1<<30, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.run(args...); err != nil {
			t.Fatal(err)
		}
		if g.ticks == 0 {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func loopOf(code []byte) module {
	return module{
		types: [][]byte{noneToNone}, memories: [][]byte{{0, 4}}, tables: [][]byte{join([]byte{funcref, 0}, u32(9000))},
		functions: []function{{export: "run", runs: 1, locals: local(1, i32), code: countTo(10, 0, code)}},
	}
}

// stretch is the package's constant of that name.
const stretch = 128

func TestUnits(t *testing.T) {
	fill := func(n int32) []byte { return join(konst(0), konst(1), konst(n), misc(11, 0)) }
	for _, c := range []struct {
		name string
		m    module
		args []uint64
		want int32
	}{
		{"a loop's header ten times", loopOf(nil), nil, 1 + 10},
		{"nested loops", loopOf(join([]byte{opLoop, void, opLoop, void, opEnd, opEnd})), nil, 1 + 30},
		{"each call of fib(10)", fib(), []uint64{10}, 177},
		{"a fill of nothing", loopOf(fill(0)), nil, 1 + 10*2},
		{"a fill of 1023 bytes", loopOf(fill(1023)), nil, 1 + 10*(1+1+31)},
		{"a fill of 200 KiB", loopOf(fill(200 << 10)), nil, 1 + 10*(1+1+6400)},
		{"a copy of 100 KiB", loopOf(join(konst(0), konst(1), konst(100<<10), misc(10, 0, 0))), nil, 1 + 10*(1+1+3200)},
		{"a fill of 9000 entries", loopOf(join(konst(0), []byte{0xd0, funcref}, konst(9000), misc(17, 0))), nil, 1 + 10*(1+1+281)},
		{"a copy of 9000 entries", loopOf(join(konst(0), konst(0), konst(9000), misc(14, 0, 0))), nil, 1 + 10*(1+1+281)},
		{"a memory that does not grow", loopOf(join(konst(-1), op(0x40, 0), []byte{opDrop})), nil, 1 + 10*(1+10)},
		{"a table that does not grow", loopOf(join([]byte{0xd0, funcref}, konst(-1), misc(15, 0), []byte{opDrop})), nil, 1 + 10*(1+100)},
		{"6000 instructions", longCode(2000), nil, 1 + 6000/stretch},
		{"branches over the ends of stretches", skippingCode(200), nil, 1 + 200*120/stretch},
		{"an else on the way", straight(10, nops(100), konst(0), []byte{opIf, void, opUnreachable, opElse}, nops(20), []byte{opEnd}), nil, 1 + 10*123/stretch},
		{"a then on the way", straight(10, nops(100), konst(1), []byte{opIf, void}, nops(20), []byte{opElse, opUnreachable, opEnd}), nil, 1 + 10*123/stretch},
		{"an if without else", straight(10, nops(100), konst(0), []byte{opIf, void, opUnreachable, opEnd}), nil, 1 + 10*102/stretch},
		{"a loop left before its end", straight(10, []byte{opBlock, void, opLoop, void}, nops(stretch-4), konst(1), op(opBrIf, 1), op(opBr, 0), []byte{opEnd, opEnd}), nil, 1 + 10},
		{"values of a call", wideStraight(0, nil), nil, wideUnits(0)},
		{"values of blocks", wideStraight(20, []byte{opBlock, 2, opEnd}), nil, wideUnits(20 * (1 + 1800 + 1))},
		{"values of branches", wideStraight(20, []byte{opBlock, 2, opBr, 0, opEnd}), nil, wideUnits(20 * (1 + 1800 + 1 + 900))},
		{"1000 locals", module{
			types:     [][]byte{noneToNone},
			functions: []function{{export: "run", runs: 1, locals: local(1000, i64)}},
		}, nil, 1 + 1000/stretch},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := units(t, c.m, c.args...); got != c.want {
				t.Errorf("%d units, want %d", got, c.want)
			}
		})
	}
}

func nops(n int) []byte { return repeat(n, []byte{0x01}) }

// straight has the code n times and no more.
func straight(n int, code ...[]byte) module {
	return module{
		types:     [][]byte{noneToNone},
		functions: []function{{export: "run", code: repeat(n, join(code...))}},
	}
}

// wideStraight has code n times between a call that returns 900 values and 900
// drops; type 2 is that of a block with 900 parameters and results.
func wideStraight(n int, code []byte) module {
	m := wideValues()
	m.functions[0].code = join(op(opCall, 1), repeat(n, code), repeat(900, []byte{opDrop}))
	return m
}

// wideUnits is the price of wideStraight when its code costs that much.
func wideUnits(cost int32) int32 {
	const callee = 1 + 900/stretch
	return 1 + (1+900+cost+900)/stretch + callee
}

// Were the fuel only lowered by bulk operations, enough of them in a row would
// wrap it around and give the guest two thousand million units.
func TestEveryBulkOperationChecks(t *testing.T) {
	fills := repeat(600, join(konst(0), konst(0), konst(0), misc(11, 0)))
	g, err := newStarter(t, wazero.NewRuntimeConfig()).start(rewrite(t, loopOf(fills).assemble(), 0), 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.run(); err != nil {
		t.Fatal(err)
	}
	if want := 1 + 10 + 10*600; g.ticks != want {
		t.Errorf("%d ticks without any fuel, want %d", g.ticks, want)
	}
}

// A fill over the end of memory traps, but its length is charged before.
func TestChargeComesFirst(t *testing.T) {
	m := module{
		types: [][]byte{noneToNone}, memories: onePage,
		functions: []function{{export: "run", code: join(konst(0), konst(0), konst(-1), misc(11, 0))}},
	}
	const price = 1 + 1 + (1<<32-1)>>5 // entry, at least one, length
	for slice, ticks := range map[int32]int{price: 0, price - 1: 1} {
		g, err := newStarter(t, wazero.NewRuntimeConfig()).start(rewrite(t, m.assemble(), slice), 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = g.run(); err == nil || g.ticks != ticks {
			t.Errorf("4 GiB with %d units: %d ticks, %v; want %d and a trap", slice, g.ticks, err, ticks)
		}
	}
}

// A charge of many slices is paid with as many ticks, or filling memory would cost a
// guest no more than a slice each time.
func TestLargeChargesArePaid(t *testing.T) {
	m := module{
		types: [][]byte{noneToNone}, memories: [][]byte{{0, 16}},
		functions: []function{{export: "run", code: join(konst(0), konst(0), konst(1<<20), misc(11, 0))}},
	}
	const slice, price = 99, 1 + 1 + 1<<20>>5
	g, err := newStarter(t, wazero.NewRuntimeConfig()).start(rewrite(t, m.assemble(), slice), slice, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.run(); err != nil {
		t.Fatal(err)
	}
	if want := price / (slice + 1); g.ticks != want { // of what is left after the first slice, rounded up
		t.Errorf("%d ticks of %d units for %d, want %d", g.ticks, slice, price, want)
	}
}

func TestSameCallBurnsTheSame(t *testing.T) {
	s := newStarter(t, wazero.NewRuntimeConfig())
	wasm := rewrite(t, fib().assemble(), 0)
	var ticks [3]int
	for i := range ticks {
		g, err := s.start(wasm, 16, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.run(20); err != nil {
			t.Fatal(err)
		}
		ticks[i] = g.ticks
	}
	if ticks[0] == 0 || ticks[0] != ticks[1] || ticks[1] != ticks[2] {
		t.Errorf("ticks of three instances: %v", ticks)
	}
}

func TestSameBytesOut(t *testing.T) {
	for name, m := range handmade() {
		if original := m.assemble(); !bytes.Equal(rewrite(t, original, 5), rewrite(t, original, 5)) {
			t.Errorf("%s: two rewrites differ", name)
		}
	}
}

func TestRewriteIsFastOnHugeCounts(t *testing.T) {
	began := time.Now()
	for id := byte(1); id <= 12; id++ {
		for _, body := range [][]byte{
			{0xff, 0xff, 0xff, 0xff, 0x0f},
			{1, 0xff, 0xff, 0xff, 0xff, 0x0f},
			{1, 0x60, 0xff, 0xff, 0xff, 0xff, 0x0f},
			{1, 9, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, i32, 0, opEnd},
			{1, 9, 0, opBrTable, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, opEnd},
		} {
			fuel.Rewrite(join([]byte(header), section(id, body)), 1)
		}
	}
	if d := time.Since(began); waittest.Late(d, 2*time.Second) {
		t.Errorf("took %v", d)
	}
}

// A long function called in a loop must not make a slice last.
func TestLongFunctionInALoop(t *testing.T) {
	m := longCode(20_000)
	m.functions = append(m.functions, function{
		runs: 1, locals: local(1, i32), export: "outer", code: countTo(100, 0, op(opCall, 0)),
	})
	g, err := newStarter(t, wazero.NewRuntimeConfigInterpreter()).start(rewrite(t, m.assemble(), 1000), 1000, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.ExportedFunction("outer").Call(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := 100 * 60_000 / stretch / 1001; g.ticks < want {
		t.Errorf("%d ticks of 1000 units in %d instructions, want %d", g.ticks, 100*60_000, want)
	}
}
