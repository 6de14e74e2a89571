package fuel_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module/wasm/fuel"
	"github.com/companiond/companiond/host/module/wasm/wasmtest"
)

// Each bound is refused in words that name it, and what is just within it is not.
func TestBounds(t *testing.T) {
	functions := func(n int, locals uint32, body int) wasmtest.File {
		return wasmtest.File{Functions: slices.Repeat([]wasmtest.Function{{Locals: locals, Body: slices.Repeat([]byte{1}, body)}}, n)}
	}
	for _, c := range []struct {
		within, beyond wasmtest.File
		says           string
	}{
		{wasmtest.File{Types: 1_997}, wasmtest.File{Types: 1_998}, "it has 2001 types, at most 2000"},
		{functions(49_999, 0, 0), functions(50_000, 0, 0), "it has 50001 functions, at most 50000"},
		{wasmtest.File{Globals: 100_000}, wasmtest.File{Globals: 100_001}, "it has 100001 globals"},
		{wasmtest.File{Exports: 19_998}, wasmtest.File{Exports: 19_999}, "it has 20001 exports"},
		{wasmtest.File{Data: make([][]byte, 99_999)}, wasmtest.File{Data: make([][]byte, 100_000)}, "it has 100001 data segments"},
		{functions(1, 10_000, 0), functions(1, 10_001, 0), "a function has 10001 locals, at most 10000"},
		{functions(100, 10_000, 0), functions(101, 10_000, 0), "more than 1000000 locals together"},
		{functions(1, 0, 2<<20-2), functions(1, 0, 2<<20-1), "a function has 2097153 bytes, at most 2097152"},
		{wasmtest.File{Elements: [][]byte{make([]byte, 256<<10-1)}}, wasmtest.File{Elements: [][]byte{make([]byte, 256<<10)}}, "its tables are filled by 262145 bytes"},
	} {
		if _, err := fuel.Inspect(c.within.Bytes()); err != nil {
			t.Errorf("within the bound: %v", err)
		}
		if _, err := fuel.Inspect(c.beyond.Bytes()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// So is a section of few entries that are long.
func TestBoundsOfBytes(t *testing.T) {
	for id, c := range map[byte]struct {
		most int
		says string
	}{1: {64 << 10, "its types take 65537 bytes, at most 65536"}, 2: {256 << 10, "its imports take"}, 7: {1 << 20, "its exports take"}} {
		section := func(size int) []byte {
			return join([]byte(header), []byte{id}, binary.AppendUvarint(nil, uint64(size)), []byte{1}, make([]byte, size-1))
		}
		if _, err := fuel.Inspect(section(c.most)); errors.Is(err, fuel.ErrTooMuch) {
			t.Errorf("within the bound: %v", err)
		}
		if _, err := fuel.Inspect(section(c.most + 1)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// What is interpreted is weighed.
func TestWeight(t *testing.T) {
	w, err := fuel.Inspect(wasmtest.File{Functions: slices.Repeat([]wasmtest.Function{{Locals: 7, Body: []byte{1, 1, 1}}}, 10)}.Bytes())
	if err != nil || w.Weight < 130 || w.Weight > 200 {
		t.Errorf("%d, %v", w.Weight, err)
	}
}

// ABI.md gives makers each bound with its number.
func TestBoundsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../../abi/ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	for what, bound := range fuel.Bounds() {
		if row := fmt.Sprintf("| %s | %s |", what, bound); !strings.Contains(string(doc), row) {
			t.Errorf("ABI.md does not say %q", row)
		}
	}
}
