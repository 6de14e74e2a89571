package wasm

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/module"
)

// tables gives the entries of a module's table section as boundTables left them.
func tables(t *testing.T, file []byte) []byte {
	t.Helper()
	var section []byte
	if err := walk(file, func(id byte, body []byte) error {
		if id == sectionTable {
			section = body
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return section
}

func TestBoundTables(t *testing.T) {
	const all, half = maxTableEntries, maxTableEntries / 2
	for name, c := range map[string]struct {
		count         byte
		entries, want []byte
		says          string
	}{
		"no maximum":       {1, code(0x70, 0, 3), code(0x70, 1, 3, leb(all)), ""},
		"large maximum":    {1, code(0x6f, 1, 3, leb(1<<30)), code(0x6f, 1, 3, leb(all)), ""},
		"small maximum":    {1, code(0x70, 1, 3, 9), code(0x70, 1, 3, 9), ""},
		"two":              {2, code(0x70, 0, 3, 0x70, 1, 1, leb(half+1)), code(0x70, 1, 3, leb(half), 0x70, 1, 1, leb(half)), ""},
		"as large as may":  {1, code(0x70, 0, leb(all)), code(0x70, 1, leb(all), leb(all)), ""},
		"too large":        {1, code(0x70, 0, leb(all+1)), nil, "1048577 entries"},
		"too large of two": {2, code(0x70, 0, leb(half+1), 0x70, 0, 1), nil, "at most 524288"},
		"too many":         {17, bytes.Repeat(code(0x70, 0, 1), 17), nil, "17 tables"},
		"strange type":     {1, code(0x40, 0, 0x70, 0, 1), nil, "type 0x40"},
		"strange limits":   {1, code(0x70, 7, 1), nil, "kind 0x7"},
		"truncated":        {1, code(0x70, 1, 3), nil, "too early"},
		"too long":         {1, code(0x70, 0, 3, 0), nil, "longer"},
	} {
		table := append([]byte{c.count}, c.entries...)
		file := code([]byte(header), []byte{sectionTable}, leb(uint32(len(table))), table, 0, 3, []byte("\x02me"))
		got, err := boundTables(file)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v, want an error that says %q", name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := append([]byte{c.count}, c.want...); !bytes.Equal(tables(t, got), want) {
			t.Errorf("%s: got % x, want % x", name, tables(t, got), want)
		}
		if !bytes.HasSuffix(got, []byte("\x00\x03\x02me")) {
			t.Errorf("%s: what followed is lost", name)
		}
		if again, err := boundTables(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: bounding again changes it: %v", name, err)
		}
	}
	twice := code([]byte(header), section(4, code(0x70, 0, 1)), section(4, code(0x70, 0, 1)))
	if _, err := boundTables(twice); err == nil {
		t.Error("two table sections went through")
	}
	none := []byte(header)
	if got, err := boundTables(none); err != nil || !bytes.Equal(got, none) {
		t.Errorf("no table: %v", err)
	}
}

func TestInspect(t *testing.T) {
	file := tiny{
		imports: [][]byte{
			code(text("a"), text("m"), 2, 1, 1, leb(500)), code(text("a"), text("t"), 1, 0x70, 1, 0, 9),
			code(text("a"), text("g"), 3, 0x7e, 1), importOf("", "", typNone),
		},
	}.build()
	o, err := inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(o.imports); n != fnCall+4 || o.functions != 3 || len(o.exports) != 3 {
		t.Errorf("%d imports, %d functions, exports %v", n, o.functions, o.exports)
	}
	for k, want := range []importName{{"a", "m", kindMemory}, {"a", "t", kindTable}, {"a", "g", kindGlobal}, {"", "", kindFunction}} {
		if got := o.imports[fnCall+k]; got != want {
			t.Errorf("import %v, want %v", got, want)
		}
	}
	if o.exports["memory"] != kindMemory || o.exports["companion_v1_call"] != kindFunction {
		t.Errorf("exports %v", o.exports)
	}
	for name, c := range map[string]struct {
		tail []byte
		says string
	}{
		"section longer than file": {code(sectionImport, 200, 1), "too early"},
		"many imports, no bytes":   {code(sectionImport, 5, leb(1<<32-1)), "too early"},
		"name longer than section": {code(sectionExport, 3, 1, leb(300)), "too early"},
		"tag import":               {section(sectionImport, code(text("a"), text("b"), 4, 0, 0)), "unknown kind 0x4"},
		"endless number":           {code(sectionImport, 6, bytes.Repeat([]byte{0x80}, 6)), "too long"},
		"number over 32 bits":      {code(sectionFunction, 5, 0xff, 0xff, 0xff, 0xff, 0x7f), "too long"},
		"memory of 64 bits":        {section(sectionImport, code(text("a"), text("b"), 2, 4, 1)), "kind 0x4"},
	} {
		if _, err := inspect(code([]byte(header), c.tail)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.says)
		}
	}
}

func TestInspectNeverPanics(t *testing.T) {
	whole := tiny{table: code(0x70, 0, 1)}.build()
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole)
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			data[rapid.IntRange(8, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_, _ = inspect(data)
		_, _ = boundTables(data)
	})
}

func TestMemory(t *testing.T) {
	var reserved atomic.Int64
	m := &memory{limit: 4 * pageSize, reserved: &reserved}
	if m.Allocate(0, 1<<60) != m || reserved.Load() != 4*pageSize {
		t.Fatalf("reserved %d: %v", reserved.Load(), m.err)
	}
	first := m.Reallocate(pageSize)
	if len(first) != pageSize || cap(first) != pageSize || m.size.Load() != pageSize {
		t.Errorf("got %d of %d bytes", len(first), cap(first))
	}
	first[7] = 7
	grown := m.Reallocate(4 * pageSize)
	if len(grown) != 4*pageSize || &grown[0] != &first[0] || grown[7] != 7 || grown[4*pageSize-1] != 0 {
		t.Error("growing moved or changed the memory")
	}
	if m.Reallocate(4*pageSize+1) != nil || m.size.Load() != 4*pageSize {
		t.Error("grew over the limit")
	}
	m.Free()
	m.Free()
	if reserved.Load() != 0 || m.size.Load() != 0 || m.Reallocate(1) != nil {
		t.Error("not given back")
	}
	none := &memory{limit: pageSize, reserved: &reserved}
	none.Allocate(0, 0)
	if got := none.Reallocate(0); got == nil || len(got) != 0 {
		t.Error("a memory of no pages is an error")
	}
	none.Free()
	absurd := &memory{limit: 1 << 62, reserved: &reserved}
	absurd.Allocate(0, 1<<62)
	if absurd.err == nil || absurd.Reallocate(pageSize) != nil || reserved.Load() != 0 {
		t.Error("got memory that nobody has")
	}
	absurd.Free()
}

// A machine without memory costs the call, not the daemon.
func TestNoMemoryToBeHad(t *testing.T) {
	e := newTestEngine(t, nil)
	m := load(t, e, tinyFile(tiny{}))
	m.drop()
	e.cfg.MaxMemory = 0 // nothing can be reserved any more
	if err := vote(t.Context(), m); faultKind(err) != module.FaultTrap {
		t.Errorf("got %v, want a trap", err)
	}
	m.turn <- struct{}{} // wait for the attempt to replace the instance
	e.cfg.MaxMemory = defaultMaxMemory
	<-m.turn
	if err := vote(t.Context(), m); err != nil {
		t.Errorf("with memory again: %v", err)
	}
}
