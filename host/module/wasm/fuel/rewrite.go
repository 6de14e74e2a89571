package fuel

// rewrite gives the new body of the section id, or nil where the new module has
// none.
func (s *sections) rewrite(id byte, sp *spaces, slice int32) ([]byte, error) {
	r := s[id]
	if r == nil {
		switch id {
		case sectionType, sectionImport, sectionGlobal:
			r = &reader{data: []byte{0}} // as good as an empty one
		default:
			return nil, nil
		}
	}
	w := &writer{in: r, spaces: sp}
	switch id {
	case sectionType:
		w.types()
	case sectionImport:
		w.imports()
	case sectionGlobal:
		w.globals(slice)
	case sectionExport:
		w.exports()
	case sectionStart:
		w.function()
	case sectionElement:
		w.elements()
	case sectionCode:
		w.bodies()
	case sectionData:
		w.datas()
	case sectionDataCount:
		w.u32()
	default:
		w.rest() // indexSpaces read it to its end
	}
	return w.out, r.close()
}

// writer copies a section from in to out and changes it on the way. Its methods
// are named after what they copy.
type writer struct {
	in     *reader
	out    []byte
	spaces *spaces
}

// byte copies a byte and returns it.
func (w *writer) byte() byte {
	b := w.in.byte()
	w.out = append(w.out, b)
	return b
}

// u32 copies a number and returns it.
func (w *writer) u32() uint32 {
	v := w.in.u32()
	w.out = appendU32(w.out, v)
	return v
}

// count copies the length of a vector and returns it.
func (w *writer) count() uint32 {
	n := w.in.count()
	w.out = appendU32(w.out, n)
	return n
}

// raw copies what in has taken since start.
func (w *writer) raw(start int) {
	if w.in.err == nil {
		w.out = append(w.out, w.in.data[start:w.in.pos]...)
	}
}

// rest copies what is left.
func (w *writer) rest() { w.out = append(w.out, w.in.take(uint32(w.in.left()))...) }

// function copies the index of a function.
func (w *writer) function() {
	i := w.in.index("function", uint32(len(w.spaces.functions)))
	w.out = appendU32(w.out, w.spaces.shift(i))
}

// types adds the type of tick.
func (w *writer) types() {
	w.out = appendU32(w.out, w.in.count()+1)
	w.rest()
	w.out = append(w.out, 0x60, 0, 1, 0x7f)
}

// imports adds tick.
func (w *writer) imports() {
	w.out = appendU32(w.out, w.in.count()+1)
	w.rest()
	w.out = appendBytes(w.out, []byte(ImportModule))
	w.out = appendBytes(w.out, []byte(ImportField))
	w.out = append(w.out, 0)
	w.out = appendU32(w.out, uint32(len(w.spaces.types)))
}

// globals adds the fuel.
func (w *writer) globals(slice int32) {
	n := w.in.count()
	w.out = appendU32(w.out, n+1)
	for ; n > 0 && w.in.err == nil; n-- {
		start := w.in.pos
		readGlobalType(w.in)
		w.raw(start)
		w.constant()
	}
	w.out = append(w.out, 0x7f, 1, opI32Const)
	w.out = appendS32(w.out, slice)
	w.out = append(w.out, opEnd)
}

func (w *writer) exports() {
	for n := w.count(); n > 0 && w.in.err == nil; n-- {
		at := w.in.pos
		name := w.in.name()
		if string(name) == ImportModule {
			w.in.fail(at, ErrReserved, "export %q", name)
		}
		w.out = appendBytes(w.out, name)
		at = w.in.pos
		switch kind := w.byte(); kind {
		case 0:
			w.function()
		case 1, 2:
			w.u32()
		case 3:
			w.out = appendU32(w.out, w.in.index("global", w.spaces.globals))
		default:
			w.in.fail(at, ErrUnsupported, "export of kind %d", kind)
		}
	}
}

// elements copies the element segments. The low three bits of a segment's flags
// say: not active; a table index follows (or, when not active: declarative);
// expressions in place of function indexes.
func (w *writer) elements() {
	for n := w.count(); n > 0 && w.in.err == nil; n-- {
		at := w.in.pos
		flags := w.u32()
		if flags > 7 {
			w.in.fail(at, ErrUnsupported, "element segment with flags %#x", flags)
		}
		active, explicit, expressions := flags&1 == 0, flags&2 != 0, flags&4 != 0
		if active && explicit {
			w.u32() // table
		}
		if active {
			w.constant()
		}
		if !active || explicit {
			w.elementType(expressions)
		}
		for k := w.count(); k > 0 && w.in.err == nil; k-- {
			if expressions {
				w.constant()
			} else {
				w.function()
			}
		}
	}
}

func (w *writer) elementType(expressions bool) {
	start := w.in.pos
	if expressions {
		readRefType(w.in)
	} else {
		w.in.zero("element kind")
	}
	w.raw(start)
}

func (w *writer) datas() {
	for n := w.count(); n > 0 && w.in.err == nil; n-- {
		at := w.in.pos
		flags := w.u32()
		if flags > 2 {
			w.in.fail(at, ErrUnsupported, "data segment with flags %#x", flags)
		}
		if flags == 2 {
			w.u32() // memory
		}
		if flags != 1 {
			w.constant()
		}
		w.out = appendBytes(w.out, w.in.name())
	}
}

// constant copies a constant expression: one instruction and an end.
func (w *writer) constant() {
	start := w.in.pos
	switch op := w.in.byte(); op {
	case opI32Const:
		w.in.signed(32)
	case opI64Const:
		w.in.signed(64)
	case opF32Const:
		w.in.take(4)
	case opF64Const:
		w.in.take(8)
	case opGlobalGet:
		w.in.index("global", w.spaces.globals)
	case opRefNull:
		readRefType(w.in)
	case opRefFunc:
		w.out = append(w.out, op)
		w.function()
		start = w.in.pos
	case opVector:
		if at := w.in.pos; w.in.byte() != vecConst {
			w.in.fail(at, ErrUnsupported, "vector instruction in a constant")
		}
		w.in.take(16)
	default:
		w.in.fail(start, ErrUnsupported, "opcode %#x in a constant", op)
	}
	if at := w.in.pos; w.in.byte() != opEnd {
		w.in.fail(at, ErrUnsupported, "constant of more than one instruction")
	}
	w.raw(start)
}
