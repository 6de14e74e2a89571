package fuel

import (
	"errors"
	"fmt"
	"math"
)

// Bounds on tables. A Go guest has one of about 5,000 entries.
const (
	maxTables       = 16
	maxTableEntries = 1 << 20 // in all tables of one instance; 8 bytes each in the host
)

// The kinds of imports and exports.
const (
	KindFunction = 0
	KindTable    = 1
	KindMemory   = 2
	KindGlobal   = 3
)

// Module is what must be known of a module before it is worth compiling.
type Module struct {
	Imports []Import
	Exports map[string]byte // name to kind
	Pages   uint32          // of memory of its own that it asks for at its start, in 64 KiB
	// Weight is what interpreting it takes, in bytes of code with a local counted as one.
	Weight int64
}

// Import is one thing a module imports.
type Import struct {
	Module, Name string
	Kind         byte
}

// String gives module.name, as messages show it.
func (i Import) String() string { return i.Module + "." + i.Name }

// ErrTooMuch is the error of a module that breaks a bound.
var ErrTooMuch = errors.New("the module is too much")

// Inspect reads what a module imports and exports, and holds it to bounds. Whatever it
// does not read, the compiler checks. Its errors are those of Rewrite, and ErrTooMuch
// with the bound that is broken.
func Inspect(module []byte) (Module, error) {
	m := Module{Exports: make(map[string]byte)}
	sections, err := split(module)
	if err != nil {
		return m, err
	}
	if m.Weight, err = weigh(sections); err != nil {
		return m, err
	}
	if r := sections[sectionImport]; r != nil {
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			i, _ := readImport(r, math.MaxUint32)
			m.Imports = append(m.Imports, i)
		}
		err = r.err
	}
	if r := sections[sectionExport]; r != nil && err == nil {
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			name := r.name()
			m.Exports[string(name)] = r.byte()
			r.u32()
		}
		err = r.err
	}
	if r := sections[sectionMemory]; r != nil && err == nil {
		if n := r.u32(); n > 0 && r.err == nil {
			m.Pages, _ = readLimits(r)
		}
		err = r.err
	}
	return m, err
}

// BoundTables gives every table of a module a maximum, so that all of them
// together stay within maxTableEntries: without one, a single table.grow takes
// up to 32 GiB of the daemon's memory. The module is copied only if need be.
func BoundTables(module []byte) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	r := sections[sectionTable]
	if r == nil {
		return module, nil
	}
	count := r.u32()
	if count > maxTables {
		return nil, fmt.Errorf("it has %d tables, at most %d are allowed", count, maxTables)
	}
	bounded := appendU32(nil, count)
	share := uint32(maxTableEntries / max(count, 1))
	for range count {
		of, least, most := readTable(r)
		if least > share {
			return nil, fmt.Errorf("a table has %d entries, at most %d are allowed", least, share)
		}
		bounded = append(bounded, of, 1)
		bounded = appendU32(bounded, least)
		bounded = appendU32(bounded, min(most, share))
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return withSection(module, r, sectionTable, bounded), nil
}

// withSection copies a module with other contents of the section that r read.
func withSection(module []byte, r *reader, id byte, contents []byte) []byte {
	out := append(make([]byte, 0, len(module)+len(contents)-len(r.data)+5), module[:r.section]...)
	out = appendBytes(append(out, id), contents)
	return append(out, module[r.base+len(r.data):]...)
}
