package fuel_test

import (
	"context"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"
)

// program draws small modules whose runs end: calls go to functions with a
// lower index only and loops count down.
type program struct {
	t      *rapid.T
	self   uint32 // index of the function being drawn
	labels []bool // open labels, innermost last: may a branch go there
	loops  int    // open loops of this function
	budget *int   // instructions that may still be drawn
}

// Locals of each drawn function: two parameters, two i32 to write, an i64, and
// the counters of up to two nested loops.
const (
	writable = 4
	wide     = 4
	counters = 5
)

var drawnLocals = join(local(2, i32), local(1, i64), local(2, i32))

func drawModule(t *rapid.T) module {
	m := module{
		types:    [][]byte{typ([]byte{i32, i32}, []byte{i32}), noneToI32},
		imports:  [][]byte{importFunc("host", "seven", 1)},
		tables:   [][]byte{{funcref, 0, 8}},
		memories: [][]byte{{0, 2}},
		globals:  [][]byte{global(i32, 1, konst(11)), global(i32, 1, konst(-1))},
		exports:  []export{{"memory", 2, 0}, {"g0", 3, 0}, {"g1", 3, 1}},
		elements: [][]byte{join([]byte{0}, konst(0), []byte{opEnd}, vector([][]byte{u32(1), u32(2), u32(3)}))},
		datas: [][]byte{
			join([]byte{1}, name("a passive segment of some length")),
			join([]byte{0}, konst(64), []byte{opEnd}, name("active")),
		},
		dataCount: true,
	}
	for i := range uint32(3) {
		budget := 120
		p := &program{t: t, self: i + 1, budget: &budget}
		m.functions = append(m.functions, function{
			runs: 3, locals: drawnLocals, code: join(p.statements(3), p.value(3)),
		})
	}
	m.functions[2].export = "run"
	return m
}

func (p *program) n(below int) int { return rapid.IntRange(0, below-1).Draw(p.t, "n") }

func (p *program) constant() []byte {
	return konst(rapid.OneOf(rapid.Int32Range(-3, 70), rapid.Int32()).Draw(p.t, "const"))
}

// small is an i32 from 0 to 4095, as an address or a length.
func (p *program) small() []byte { return join(p.value(1), konst(4095), []byte{0x71}) }

// value draws code that leaves an i32.
func (p *program) value(depth int) []byte {
	if *p.budget--; depth == 0 || *p.budget < 0 {
		return [][]byte{p.constant(), op(opLocalGet, uint32(p.n(writable))), op(opGlobalGet, uint32(p.n(2)))}[p.n(3)]
	}
	v := func() []byte { return p.value(depth - 1) }
	switch p.n(12) {
	case 0:
		return p.constant()
	case 1:
		return op(opLocalGet, uint32(p.n(writable)))
	case 2: // comparisons
		return join(v(), v(), []byte{byte(0x46 + p.n(10))})
	case 3, 4: // arithmetic; divisions may trap
		return join(v(), v(), []byte{byte(0x6a + p.n(15))})
	case 5:
		return p.inLabel(false, func() []byte {
			return join(v(), []byte{opIf, i32}, v(), []byte{opElse}, v(), []byte{opEnd})
		})
	case 6:
		return p.inLabel(false, func() []byte {
			return join([]byte{opBlock, i32}, v(), v(), op(opBrIf, 0), []byte{opEnd})
		})
	case 7:
		return p.call(v)
	case 8:
		return join(p.small(), op(0x2d, 0, uint32(p.n(100))))
	case 9: // i64
		return join(v(), []byte{0xac}, op(opLocalTee, wide), op(opLocalGet, wide), []byte{byte(0x7c + p.n(3))}, []byte{0xa7})
	case 10: // i32x4 of a constant and a splat
		lanes := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(p.t, "lanes")
		return join(v(), vec(17), vec(12, lanes...), vec(0xae), vec(27, byte(p.n(4))))
	}
	return join(v(), v(), v(), []byte{0x1b}) // select
}

func (p *program) call(v func() []byte) []byte {
	i := uint32(p.n(int(p.self)))
	switch {
	case i == 0:
		return op(opCall, 0)
	case p.n(2) == 0:
		return join(v(), v(), op(opCall, i))
	}
	return join(v(), v(), konst(int32(i-1)), op(0x11, 0, 0))
}

// inLabel draws what stands inside one more label.
func (p *program) inLabel(target bool, draw func() []byte) []byte {
	p.labels = append(p.labels, target)
	defer func() { p.labels = p.labels[:len(p.labels)-1] }()
	return draw()
}

func (p *program) statements(depth int) []byte {
	var code []byte
	for range p.n(4) {
		code = append(code, p.statement(depth)...)
	}
	return code
}

func (p *program) statement(depth int) []byte {
	if *p.budget--; depth == 0 || *p.budget < 0 {
		return []byte{0x01}
	}
	switch p.n(10) {
	case 0:
		return join(p.value(depth), op(opLocalSet, uint32(p.n(writable))))
	case 1:
		return join(p.value(depth), op(opGlobalSet, uint32(p.n(2))))
	case 2:
		return join(p.small(), p.value(1), op(0x3a, 0, 0))
	case 3:
		return join(p.small(), p.value(1), p.small(), misc(11, 0))
	case 4:
		return join(p.small(), p.small(), p.small(), misc(10, 0, 0))
	case 5:
		return join(p.small(), konst(int32(p.n(8))), konst(int32(p.n(28))), misc(8, 0, 0))
	case 6:
		return p.inLabel(true, func() []byte {
			return join([]byte{opBlock, void}, p.statements(depth-1), p.branch(), p.statements(depth-1), []byte{opEnd})
		})
	case 7:
		cond := p.value(1)
		return p.inLabel(true, func() []byte {
			return join(cond, []byte{opIf, void}, p.statements(depth-1), []byte{opElse}, p.statements(depth-1), p.branch(), []byte{opEnd})
		})
	case 8:
		return p.loop(depth)
	}
	return join(p.value(depth), []byte{opDrop})
}

func (p *program) loop(depth int) []byte {
	if p.loops == 2 {
		return nil
	}
	counter := uint32(counters + p.loops)
	p.loops++
	defer func() { p.loops-- }()
	return p.inLabel(false, func() []byte {
		return countTo(int32(1+p.n(3)), counter, p.statements(depth-1))
	})
}

// branch draws a branch to a label that takes no values, of any of the kinds.
func (p *program) branch() []byte {
	var targets []uint32
	for i := range p.labels {
		if p.labels[len(p.labels)-1-i] {
			targets = append(targets, uint32(i))
		}
	}
	if len(targets) == 0 {
		return nil
	}
	target := func() uint32 { return targets[p.n(len(targets))] }
	switch p.n(4) {
	case 0:
		return op(opBr, target())
	case 1:
		return join(p.value(1), op(opBrIf, target()))
	case 2:
		return join(p.value(1), op(opBrTable, 2, target(), target(), target()))
	}
	return nil
}

// outcome is what a guest can be seen to have done.
type outcome struct {
	result  uint64
	trap    string
	globals [2]uint64
	memory  uint64
}

func observe(t *rapid.T, s *starter, wasm []byte, args []uint64) (outcome, *guest) {
	g, err := s.start(wasm, 50, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	var o outcome
	out, err := g.run(args...)
	if err != nil {
		o.trap, _, _ = strings.Cut(err.Error(), "\n")
	} else {
		o.result = out[0]
	}
	o.globals = [2]uint64{g.ExportedGlobal("g0").Get(), g.ExportedGlobal("g1").Get()}
	mem, _ := g.Memory().Read(0, g.Memory().Size())
	h := fnv.New64a()
	h.Write(mem)
	o.memory = h.Sum64()
	return o, g
}

// TestProgramsDoTheSame compares drawn programs before and after.
func TestProgramsDoTheSame(t *testing.T) {
	s := newStarter(t, wazero.NewRuntimeConfigInterpreter())
	traps, ends := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		original := drawModule(t).assemble()
		args := []uint64{uint64(rapid.Uint32().Draw(t, "a")), uint64(rapid.Uint32Range(0, 9).Draw(t, "b"))}
		rewritten := rewriteDrawn(t, original)
		want, _ := observe(t, s, original, args)
		got, first := observe(t, s, rewritten, args)
		if got != want {
			t.Fatalf("got %+v, want %+v\n%x", got, want, original)
		}
		if _, second := observe(t, s, rewritten, args); first.ticks != second.ticks {
			t.Fatalf("%d ticks, then %d", first.ticks, second.ticks)
		}
		if want.trap == "" {
			ends++
		} else {
			traps++
		}
	})
	t.Logf("%d programs ended, %d trapped", ends, traps)
}

func rewriteDrawn(t *rapid.T, original []byte) []byte {
	rewritten, err := rewriteAny(original)
	if err != nil {
		t.Fatalf("Rewrite: %v\n%x", err, original)
	}
	return rewritten
}
