package wasmtest

import (
	"errors"
	"testing"

	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// All files are what they are meant to be, within the bound of a file.
func TestBombs(t *testing.T) {
	for name, file := range Bombs() {
		m, err := fuel.Inspect(file)
		if err != nil && !errors.Is(err, fuel.ErrTooMuch) || err == nil && m.Exports["companion_v1_call"] != fuel.KindFunction {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes, %v", name, len(file), err)
		if len(file) > 16<<20 {
			t.Errorf("%s: %d bytes", name, len(file))
		}
	}
}
