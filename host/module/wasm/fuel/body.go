package fuel

import "fmt"

// bodies copies the code section.
func (w *writer) bodies() {
	s := &scanner{spaces: w.spaces}
	var body []byte
	index := w.spaces.importedFunctions
	for n := w.count(); n > 0 && w.in.err == nil; n-- {
		s.in = w.in.sub(w.in.u32())
		s.function(w.spaces.types[w.spaces.functions[index]])
		if err := s.in.close(); err != nil {
			w.in.err = fmt.Errorf("function %d: %w", index, err)
			return
		}
		body = s.emit(body[:0])
		w.out = appendBytes(w.out, body)
		index++
	}
}

// scanner reads one function body after another and notes what to change.
type scanner struct {
	spaces *spaces
	in     *reader
	path   path
	edits  []edit // in order of their places

	runs   uint32 // of locals of one type
	decls  int    // place of the first run
	code   int    // place of the first instruction
	entry  uint32 // units burned at the entry
	locals uint32 // with parameters
	bulk   bool   // has bulk operations
}

// function reads a whole body.
func (s *scanner) function(t signature) {
	s.edits, s.bulk = s.edits[:0], false
	s.readLocals(t)
	s.path.start()
	for s.in.err == nil && s.path.depth() > 0 {
		s.instruction()
	}
}

func (s *scanner) readLocals(t signature) {
	in := s.in
	s.runs = in.count()
	s.decls = in.pos
	total := uint64(t.params)
	for k := s.runs; k > 0 && in.err == nil; k-- {
		at := in.pos
		total += uint64(in.u32())
		readValueType(in)
		if total > maxLocals {
			in.fail(at, ErrUnsupported, "over %d locals", maxLocals)
		}
	}
	s.locals, s.code = uint32(total), in.pos
	s.entry = 1 + s.locals/stretch
}

// instruction reads one instruction with what follows its opcode.
func (s *scanner) instruction() {
	at := s.in.pos
	if n := s.path.due(); n > 0 {
		s.edits = append(s.edits, edit{kind: addCheck, at: at, n: uint32(n)})
	}
	op := s.in.byte()
	s.path.add(1)
	if op == opMemoryGrow {
		s.path.add(memoryGrowUnits * stretch)
	}
	switch kind := operandOf(op); kind {
	case control:
		s.control(at, op)
	case unknown:
		s.in.fail(at, ErrUnsupported, "opcode %#x%s", op, proposal(op))
	default:
		s.operand(kind)
	}
}

// operand reads what follows an opcode of a plain instruction.
func (s *scanner) operand(kind operand) {
	switch kind {
	case local:
		s.in.index("local", s.locals)
	case global:
		s.in.index("global", s.spaces.globals)
	case table:
		s.in.u32()
	case memory, memLane:
		at := s.in.pos
		if align := s.in.u32(); align >= 32 {
			s.in.fail(at, ErrUnsupported, "alignment 2**%d, or a memory index", align)
		}
		s.in.u32()
		if kind == memLane {
			s.in.byte()
		}
	case lane:
		s.in.byte()
	case zeroByte:
		s.in.zero("memory index")
	case const32:
		s.in.signed(32)
	case const64:
		s.in.signed(64)
	case bytes4:
		s.in.take(4)
	case bytes8:
		s.in.take(8)
	case bytes16:
		s.in.take(16)
	}
}

func (s *scanner) control(at int, op byte) {
	switch op {
	case opBlock, opLoop, opIf:
		s.block(op)
	case opElse:
		if s.path.top() != opIf {
			s.in.fail(at, ErrMalformed, "else without if")
			return
		}
		s.path.turn()
	case opEnd:
		s.path.close()
	case opUnreachable, opReturn:
		s.path.stop()
	case opBr, opBrIf, opBrTable:
		s.branch(op)
	case opCall, opRefFunc:
		s.functionIndex(op)
	case opCallIndirect:
		t := s.in.index("type", uint32(len(s.spaces.types)))
		s.in.u32() // table
		if s.in.err == nil {
			s.call(s.spaces.types[t])
		}
	case opSelectTyped:
		if n := s.in.count(); n != 1 {
			s.in.fail(at, ErrUnsupported, "opcode %#x (select) of %d types", op, n)
		}
		readValueType(s.in)
	case opRefNull:
		readRefType(s.in)
	case opMisc:
		s.misc(at)
	case opVector:
		s.vector(at)
	}
}

// block opens a block, loop or if; a loop's header gets its check.
func (s *scanner) block(op byte) {
	t := s.blockType()
	s.path.add(int(t.params + t.results))
	if op != opLoop {
		s.path.open(op, int(t.results))
		return
	}
	s.edits = append(s.edits, edit{kind: addCheck, at: s.in.pos, n: 1 + t.params/stretch})
	s.path.checked()
	s.path.open(op, int(t.params))
}

// blockType takes a block's type: nothing, one value type, or a type index.
func (s *scanner) blockType() signature {
	at := s.in.pos
	v := s.in.signed(33)
	switch short := s.in.pos == at+1 && s.in.err == nil; {
	case short && s.in.data[at] == emptyBlock:
		return signature{}
	case short && isValueType(s.in.data[at]):
		return signature{results: 1}
	case v < 0:
		s.in.fail(at, ErrUnsupported, "block of type %d", v)
	case v >= int64(len(s.spaces.types)):
		s.in.fail(at, ErrMalformed, "type index %d of %d", v, len(s.spaces.types))
	case s.in.err == nil:
		return s.spaces.types[v]
	}
	return signature{}
}

func (s *scanner) branch(op byte) {
	labels := uint32(1)
	if op == opBrTable {
		labels += s.in.count()
	}
	for ; labels > 0 && s.in.err == nil; labels-- {
		i := s.in.index("label", s.path.depth())
		if s.in.err == nil {
			s.path.branch(i)
		}
	}
	if op != opBrIf {
		s.path.stop()
	}
}

// functionIndex reads the index of a call or ref.func, which is to be shifted.
func (s *scanner) functionIndex(op byte) {
	at := s.in.pos
	i := s.in.index("function", uint32(len(s.spaces.functions)))
	if s.in.err != nil {
		return
	}
	s.edits = append(s.edits, edit{kind: setIndex, at: at, end: s.in.pos, n: s.spaces.shift(i)})
	if op == opCall {
		s.call(s.spaces.types[s.spaces.functions[i]])
	}
}

// call charges the values that a call moves.
func (s *scanner) call(t signature) { s.path.add(int(t.params + t.results)) }

// misc reads the rest of an instruction that starts with opMisc. The standard
// allows longer forms of the second opcode; no tool writes them, and readers
// differ about them.
func (s *scanner) misc(at int) {
	switch op := s.in.byte(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // conversions that saturate
	case miscTableGrow:
		s.path.add(tableGrowUnits * stretch)
		s.in.u32()
	case miscDataDrop, miscElemDrop, miscTableSize:
		s.in.u32()
	case miscMemoryInit:
		s.charge(at)
		s.in.u32()
		s.in.zero("memory index")
	case miscMemoryCopy:
		s.charge(at)
		s.in.zero("memory index")
		s.in.zero("memory index")
	case miscMemoryFill:
		s.charge(at)
		s.in.zero("memory index")
	case miscTableInit, miscTableCopy:
		s.charge(at)
		s.in.u32()
		s.in.u32()
	case miscTableFill:
		s.charge(at)
		s.in.u32()
	default:
		s.in.fail(at, ErrUnsupported, "opcode %#x %#x", opMisc, op)
	}
}

// charge notes that the instruction at that place is a bulk operation, whose
// last operand is its length.
func (s *scanner) charge(at int) {
	s.edits = append(s.edits, edit{kind: addCharge, at: at})
	s.bulk = true
	s.path.checked()
}

// vector reads the rest of an instruction that starts with opVector. Only the
// shortest form of the second opcode is taken: wazero reads no other one.
func (s *scanner) vector(at int) {
	op := uint32(s.in.byte())
	if op >= 0x80 {
		high := uint32(s.in.byte())
		if high == 0 || high >= 0x80 {
			s.in.fail(at, ErrUnsupported, "opcode %#x in a long form", opVector)
			return
		}
		op = op&0x7f | high<<7
	}
	kind := vectorOperandOf(op)
	if kind == unknown {
		s.in.fail(at, ErrUnsupported, "opcode %#x %#x", opVector, op)
		return
	}
	s.operand(kind)
}
