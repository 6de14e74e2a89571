package fuel

import (
	"bytes"
	"fmt"
	"math"
)

// Header is the magic number and the version of a core module.
const Header = "\x00asm\x01\x00\x00\x00"

// The ids of sections.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12

	sectionIDs = 13
)

// sectionOrder is the order in which a module has its sections.
var sectionOrder = [...]byte{
	sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
	sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
}

var sectionNames = [sectionIDs]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count",
}

// sections are the bodies of a module's sections by id; nil where it has none.
type sections [sectionIDs]*reader

// split finds the sections and leaves the custom ones out.
func split(module []byte) (*sections, error) {
	if !bytes.HasPrefix(module, []byte(Header)) {
		return nil, fmt.Errorf("no core module of version 1: %w", ErrMalformed)
	}
	var found sections
	r := &reader{data: module, pos: len(Header)}
	next := 0 // place in sectionOrder
	for r.left() > 0 {
		at := r.pos
		id := r.byte()
		body := r.sub(r.u32())
		body.section = at
		if id == sectionCustom {
			continue
		}
		place := bytes.IndexByte(sectionOrder[:], id)
		switch {
		case place < 0:
			r.fail(at, ErrUnsupported, "section id %d", id)
		case place < next:
			r.fail(at, ErrMalformed, "%s section twice or out of order", sectionNames[id])
		default:
			found[id], next = body, place+1
		}
	}
	return &found, r.err
}

// spaces are the index spaces of the original module.
type spaces struct {
	types     []signature
	functions []uint32 // type indexes, imported functions first

	importedFunctions uint32
	globals           uint32 // imported and own
	memories          uint32
}

// signature counts a function type's parameters and results.
type signature struct{ params, results uint32 }

// shift gives the index in the rewritten module of the function i: tick is the
// last import, so the module's own functions move up by one.
func (s *spaces) shift(i uint32) uint32 {
	if i >= s.importedFunctions {
		return i + 1
	}
	return i
}

// indexSpaces reads the sections that make functions, globals and types known.
// The readers stay as they are, for rewrite.
func (s *sections) indexSpaces() (*spaces, error) {
	var sp spaces
	for _, part := range []struct {
		id   byte
		read func(*reader)
	}{
		{sectionType, sp.readTypes},
		{sectionImport, sp.readImports},
		{sectionFunction, sp.readFunctions},
		{sectionTable, readTables},
		{sectionMemory, sp.readMemories},
		{sectionGlobal, func(r *reader) { sp.globals += r.count(); r.pos = len(r.data) }},
	} {
		if s[part.id] == nil {
			continue
		}
		r := *s[part.id]
		part.read(&r)
		if err := r.close(); err != nil {
			return nil, fmt.Errorf("%s section: %w", sectionNames[part.id], err)
		}
	}
	own, bodies := uint32(len(sp.functions))-sp.importedFunctions, uint32(0)
	if s[sectionCode] != nil {
		r := *s[sectionCode]
		bodies = r.count()
	}
	if own != bodies {
		return nil, fmt.Errorf("%d functions, %d bodies: %w", own, bodies, ErrMalformed)
	}
	return &sp, nil
}

func (s *spaces) readTypes(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		at := r.pos
		if form := r.byte(); form != 0x60 {
			r.fail(at, ErrUnsupported, "type of form %#x", form)
		}
		s.types = append(s.types, signature{params: readArity(r), results: readArity(r)})
	}
}

// readArity takes a vector of value types.
func readArity(r *reader) uint32 {
	at := r.pos
	n := r.count()
	if n > maxArity {
		r.fail(at, ErrUnsupported, "%d parameters or results, the most is %d", n, maxArity)
		return 0
	}
	for range n {
		readValueType(r)
	}
	return n
}

func (s *spaces) readImports(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		at := r.pos
		i, typ := readImport(r, uint32(len(s.types)))
		if i.Module == ImportModule {
			r.fail(at, ErrReserved, "import from module %q", i.Module)
		}
		switch i.Kind {
		case KindFunction:
			s.functions = append(s.functions, typ)
			s.importedFunctions++
		case KindMemory:
			s.addMemory(r, at)
		case KindGlobal:
			s.globals++
		}
	}
}

// readImport takes an import, with the type of a function, which is below types.
func readImport(r *reader, types uint32) (i Import, typ uint32) {
	i = Import{Module: string(r.name()), Name: string(r.name())}
	at := r.pos
	switch i.Kind = r.byte(); i.Kind {
	case KindFunction:
		typ = r.index("type", types)
	case KindTable:
		readTable(r)
	case KindMemory:
		readLimits(r)
	case KindGlobal:
		readGlobalType(r)
	default:
		r.fail(at, ErrUnsupported, "import %s of kind %d", i, i.Kind)
	}
	return i, typ
}

func (s *spaces) readFunctions(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		s.functions = append(s.functions, r.index("type", uint32(len(s.types))))
	}
}

func readTables(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		readTable(r)
	}
}

// readTable takes a table's type and limits, see readLimits.
func readTable(r *reader) (of byte, least, most uint32) {
	of = readRefType(r)
	least, most = readLimits(r)
	return of, least, most
}

func (s *spaces) readMemories(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		at := r.pos
		readLimits(r)
		s.addMemory(r, at)
	}
}

func (s *spaces) addMemory(r *reader, at int) {
	if s.memories++; s.memories > 1 {
		r.fail(at, ErrUnsupported, "a second memory")
	}
}

// readLimits takes the limits of a table or memory of 32-bit indexes that is
// not shared. Where there is no maximum, it is all that there could be.
func readLimits(r *reader) (least, most uint32) {
	at := r.pos
	flags := r.byte()
	if flags > 1 {
		r.fail(at, ErrUnsupported, "limits with flags %#x (shared or 64-bit)", flags)
		return 0, 0
	}
	least, most = r.u32(), math.MaxUint32
	if flags == 1 {
		most = r.u32()
	}
	return least, most
}

func readGlobalType(r *reader) {
	readValueType(r)
	at := r.pos
	if b := r.byte(); b > 1 {
		r.fail(at, ErrMalformed, "global of mutability %#x", b)
	}
}

func readRefType(r *reader) byte {
	at := r.pos
	t := r.byte()
	if t != 0x70 && t != 0x6f {
		r.fail(at, ErrUnsupported, "reference type %#x", t)
	}
	return t
}

func readValueType(r *reader) {
	at := r.pos
	if t := r.byte(); !isValueType(t) {
		r.fail(at, ErrUnsupported, "value type %#x", t)
	}
}

// isValueType tells i32, i64, f32, f64, v128, funcref and externref.
func isValueType(t byte) bool {
	return t >= 0x7b && t <= 0x7f || t == 0x70 || t == 0x6f
}
