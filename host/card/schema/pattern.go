package schema

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/companiond/companiond/host/card/tree"
)

// Bounds of a pattern. Its instructions are what it costs to match a letter.
const (
	maxPattern = 1000 // bytes
	maxProgram = 1000 // instructions
)

// pattern is a compiled pattern and how long it is then. The validator matches with
// it.
type pattern struct {
	*regexp.Regexp
	instructions int64
}

// cost gives what it costs to match some bytes.
func (p *pattern) cost(bytes int) int64 { return 32 + int64(bytes)*p.instructions/4 }

// pattern compiles a pattern of a file, the same one once; nil when it is refused.
func (file *Compiler) pattern(f *tree.Faults, source string, at int, path string) *pattern {
	if p := file.patterns[source]; p != nil || file.instructions > maxInstructions {
		return p // what there is too much of is told
	}
	if len(source) > maxPattern {
		f.Add(at, path, "the pattern has %d bytes, at most %d are supported", len(source), maxPattern)
		return nil
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		f.Add(at, path, "%s is not supported as a pattern: %s", tree.Show(source), strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		f.Add(at, path, "the pattern repeats too much")
		return nil
	}
	if file.instructions += len(program.Inst); file.instructions > maxInstructions {
		f.Add(at, path, "the patterns of this file are too many, or repeat too much")
		return nil
	}
	if file.patterns == nil {
		file.patterns = map[string]*pattern{}
	}
	file.patterns[source] = &pattern{regexp.MustCompile(source), int64(len(program.Inst))}
	return file.patterns[source]
}
