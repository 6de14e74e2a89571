package fuel

import "fmt"

// Bounds on what a module has, beside the size of its file. Decoding a file and
// interpreting it takes memory for each of these, whatever the file weighs: about 60
// bytes for each local of each function, as much as for an instruction. A Go character
// of 4 MiB has 2,500 functions and 11,000 locals.
const (
	maxTypes          = 2_000
	maxTypeBytes      = 64 << 10 // of the type section; the runtime keeps every type it has ever seen
	maxImports        = 10_000
	maxImportBytes    = 256 << 10
	maxFunctions      = 50_000
	maxGlobals        = 100_000
	maxExports        = 20_000
	maxExportBytes    = 1 << 20
	maxElementBytes   = 256 << 10 // of the element section
	maxDataSegments   = 100_000
	maxAllLocals      = 1_000_000 // of all functions together
	maxFunctionLocals = 10_000
	maxFunctionBytes  = 2 << 20
)

func tooMuch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTooMuch, fmt.Sprintf(format, args...))
}

// counted are the sections whose number of entries has a bound, and the bytes of some.
var counted = map[int]struct {
	what  string
	most  uint32
	bytes int
}{
	sectionType:     {"types", maxTypes, maxTypeBytes},
	sectionImport:   {"imports", maxImports, maxImportBytes},
	sectionFunction: {"functions", maxFunctions, 0},
	sectionGlobal:   {"globals", maxGlobals, 0},
	sectionExport:   {"exports", maxExports, maxExportBytes},
	sectionData:     {"data segments", maxDataSegments, 0},
}

// weigh holds a module to the bounds and gives its weight, which is what interpreting
// it takes: bytes of code and locals. It leaves the sections as they are.
func weigh(s *sections) (weight int64, err error) {
	for id, section := range s {
		if section == nil {
			continue
		}
		r := *section
		if c, ok := counted[id]; ok {
			size := r.left()
			if n := r.u32(); r.err != nil {
				return 0, r.err
			} else if n > c.most {
				return 0, tooMuch("it has %d %s, at most %d are allowed", n, c.what, c.most)
			} else if c.bytes > 0 && size > c.bytes {
				return 0, tooMuch("its %s take %d bytes, at most %d are allowed", c.what, size, c.bytes)
			}
		}
		switch id {
		case sectionElement:
			if r.left() > maxElementBytes {
				return 0, tooMuch("its tables are filled by %d bytes, at most %d are allowed", r.left(), maxElementBytes)
			}
		case sectionCode:
			weight = int64(r.left())
			locals, err := countLocals(&r)
			if err != nil {
				return 0, err
			}
			weight += locals
		}
	}
	return weight, nil
}

// countLocals looks through the bodies of functions, at what stands before their code.
func countLocals(r *reader) (all int64, err error) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		body := r.sub(r.u32())
		if body.left() > maxFunctionBytes {
			return 0, tooMuch("a function has %d bytes, at most %d are allowed", body.left(), maxFunctionBytes)
		}
		var locals int64
		for groups := body.u32(); groups > 0 && body.err == nil; groups-- {
			locals += int64(body.u32())
			body.byte()
		}
		if body.err != nil {
			return 0, body.err
		}
		if locals > maxFunctionLocals {
			return 0, tooMuch("a function has %d locals, at most %d are allowed", locals, maxFunctionLocals)
		}
		if all += locals; all > maxAllLocals {
			return 0, tooMuch("its functions have more than %d locals together", maxAllLocals)
		}
	}
	return all, r.err
}
