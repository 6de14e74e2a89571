// Package scan reads what must be known of a WebAssembly file before it is
// worth compiling: what it imports and exports, how many functions it has. It
// also gives tables a maximum.
//
// It is lenient: it never checks what the compiler will, and never runs code.
package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds on a file beside its size. A Go guest has about 5,000 functions and
// one table of as many entries.
const (
	MaxFunctions    = 200_000
	maxTables       = 16
	maxTableEntries = 1 << 20 // in all tables of one instance; 8 bytes each in the host
)

// The sections and kinds of imports and exports this package looks at.
const (
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionExport   = 7

	KindFunction = 0
	KindTable    = 1
	KindMemory   = 2
	KindGlobal   = 3
)

// Header is the magic and version that open every core module.
const Header = "\x00asm\x01\x00\x00\x00"

// Module is what must be known of a module before it is worth compiling.
type Module struct {
	Imports   []Import
	Exports   map[string]byte // name to kind
	Functions uint32
}

// Import is one thing a module imports.
type Import struct {
	Module, Name string
	Kind         byte
}

// String gives module.name, as messages show it.
func (i Import) String() string { return i.Module + "." + i.Name }

var errTruncated = errors.New("the file ends too early; was it still being written?")

// reader reads the binary format. The first error stays.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail(errTruncated)
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// u32 reads an unsigned LEB128.
func (r *reader) u32() uint32 {
	v, n := binary.Uvarint(r.data[:min(len(r.data), 5)])
	if n <= 0 || v > 1<<32-1 {
		if n == 0 && len(r.data) < 5 {
			r.fail(errTruncated)
		} else {
			r.fail(errors.New("a number is too long"))
		}
		return 0
	}
	r.data = r.data[n:]
	return uint32(v)
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.fail(errTruncated)
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

// limits reads the minimum and maximum of a table or memory; has says whether
// there is a maximum.
func (r *reader) limits() (least, most uint32, has bool) {
	switch flags := r.byte(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		least = r.u32()
		return least, r.u32(), true
	default:
		r.fail(fmt.Errorf("limits of kind %#x are not supported", flags))
		return 0, 0, false
	}
}

// walk calls visit with every section of a module that has its Header.
func walk(module []byte, visit func(id byte, body []byte) error) error {
	r := &reader{data: module[len(Header):]}
	for len(r.data) > 0 {
		id := r.byte()
		body := r.bytes(r.u32())
		if r.err != nil {
			return r.err
		}
		if err := visit(id, body); err != nil {
			return err
		}
	}
	return nil
}

// Inspect reads what a module imports and exports. It is lenient: whatever it
// does not read the compiler checks.
func Inspect(module []byte) (Module, error) {
	m := Module{Exports: make(map[string]byte)}
	err := walk(module, func(id byte, body []byte) error {
		r := &reader{data: body}
		switch id {
		case sectionImport:
			m.readImports(r)
		case sectionFunction:
			m.Functions = r.u32()
		case sectionExport:
			for n := r.u32(); n > 0 && r.err == nil; n-- {
				name := r.name()
				m.Exports[name] = r.byte()
				r.u32()
			}
		}
		return r.err
	})
	return m, err
}

func (m *Module) readImports(r *reader) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		i := Import{Module: r.name(), Name: r.name(), Kind: r.byte()}
		switch i.Kind {
		case KindFunction:
			r.u32()
		case KindTable:
			r.byte()
			r.limits()
		case KindMemory:
			r.limits()
		case KindGlobal:
			r.byte()
			r.byte()
		default:
			r.fail(fmt.Errorf("import %s is of unknown kind %#x", i, i.Kind))
		}
		m.Imports = append(m.Imports, i)
	}
}

// BoundTables gives every table of a module a maximum, so that all of them
// together stay within maxTableEntries: without one, a single table.grow takes
// up to 32 GiB of the daemon's memory. The module is copied only if need be.
func BoundTables(module []byte) ([]byte, error) {
	var table []byte
	err := walk(module, func(id byte, body []byte) error {
		if id != sectionTable {
			return nil
		}
		if table != nil {
			return errors.New("there is more than one table section")
		}
		table = body
		return nil
	})
	if err != nil || table == nil {
		return module, err
	}
	bounded, err := boundTableSection(table)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(module)+len(bounded)), Header...)
	err = walk(module, func(id byte, body []byte) error {
		if id == sectionTable {
			body = bounded
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
		return nil
	})
	return out, err
}

func boundTableSection(body []byte) ([]byte, error) {
	r := &reader{data: body}
	count := r.u32()
	if count > maxTables {
		return nil, fmt.Errorf("it has %d tables, at most %d are allowed", count, maxTables)
	}
	out := binary.AppendUvarint(nil, uint64(count))
	share := uint32(maxTableEntries / max(count, 1))
	for range count {
		kind := r.byte()
		if kind != 0x70 && kind != 0x6f { // funcref, externref
			return nil, fmt.Errorf("a table of type %#x is not supported", kind)
		}
		least, most, has := r.limits()
		if least > share {
			return nil, fmt.Errorf("a table has %d entries, at most %d are allowed", least, share)
		}
		if !has || most > share {
			most = share
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(out, uint64(least))
		out = binary.AppendUvarint(out, uint64(most))
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(r.data) > 0 {
		return nil, errors.New("the table section is longer than its tables")
	}
	return out, nil
}
