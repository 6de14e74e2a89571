// Package sig is the types of functions of WebAssembly, as letters and as people read them.
//
// It looks into no file.
package sig

import (
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// Types gives value types that are written one letter each: i for i32, l for i64.
func Types(letters string) []api.ValueType {
	types := make([]api.ValueType, len(letters))
	for k, c := range letters {
		types[k] = api.ValueTypeI32
		if c == 'l' {
			types[k] = api.ValueTypeI64
		}
	}
	return types
}

// Text writes the types of a function as (i32, i32) -> (i32).
func Text(params, results []api.ValueType) string {
	names := func(types []api.ValueType) string {
		s := make([]string, len(types))
		for k, t := range types {
			s[k] = api.ValueTypeName(t)
		}
		return strings.Join(s, ", ")
	}
	return fmt.Sprintf("(%s) -> (%s)", names(params), names(results))
}

// Of writes the types of a function that a module has.
func Of(f api.FunctionDefinition) string { return Text(f.ParamTypes(), f.ResultTypes()) }
