package fuel

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tables gives the entries of a module's table section as boundTables left them.
func tables(t *testing.T, file []byte) []byte {
	t.Helper()
	sections, err := split(file)
	if err != nil {
		t.Fatal(err)
	}
	return sections[sectionTable].data
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
		"strange limits":   {1, code(0x70, 7, 1), nil, "flags 0x7"},
		"truncated":        {1, code(0x70, 1, 3), nil, "still being written"},
		"over 32 bits":     {1, code(0x70, 0, 3, 0), nil, "after the end"},
	} {
		table := append([]byte{c.count}, c.entries...)
		file := code([]byte(Header), []byte{sectionTable}, leb(uint32(len(table))), table, 0, 3, []byte("\x02me"))
		got, err := BoundTables(file)
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
		if again, err := BoundTables(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: bounding again changes it: %v", name, err)
		}
	}
	twice := code([]byte(Header), section(4, code(0x70, 0, 1)), section(4, code(0x70, 0, 1)))
	if _, err := BoundTables(twice); err == nil {
		t.Error("two table sections went through")
	}
	none := []byte(Header)
	if got, err := BoundTables(none); err != nil || !bytes.Equal(got, none) {
		t.Errorf("no table: %v", err)
	}
}

func TestInspect(t *testing.T) {
	imports := [][]byte{
		code(text("a"), text("m"), 2, 1, 1, leb(500)), code(text("a"), text("t"), 1, 0x70, 1, 0, 9),
		code(text("a"), text("g"), 3, 0x7e, 1), code(text(""), text(""), 0, 0),
	}
	file := code([]byte(Header), section(sectionImport, imports...), section(sectionFunction, []byte{0}, []byte{0}, []byte{0}),
		section(sectionExport, code(text("memory"), 2, 0), code(text("companion_v1_call"), 0, 1)))
	o, err := Inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(o.Imports); n != 4 || len(o.Exports) != 2 {
		t.Errorf("%d imports, exports %v", n, o.Exports)
	}
	for k, want := range []Import{{"a", "m", KindMemory}, {"a", "t", KindTable}, {"a", "g", KindGlobal}, {"", "", KindFunction}} {
		if got := o.Imports[k]; got != want {
			t.Errorf("import %v, want %v", got, want)
		}
	}
	if o.Exports["memory"] != KindMemory || o.Exports["companion_v1_call"] != KindFunction {
		t.Errorf("exports %v", o.Exports)
	}
	for name, c := range map[string]struct {
		tail []byte
		says string
	}{
		"section longer than file":  {code(sectionImport, 200, 1), "still being written"},
		"many imports, no bytes":    {code(sectionImport, 2, leb(9999)), "still being written"},
		"more imports than allowed": {code(sectionImport, 5, leb(1<<32-1)), "4294967295 imports"},
		"name longer than section":  {code(sectionExport, 3, 1, leb(300)), "still being written"},
		"tag import":                {section(sectionImport, code(text("a"), text("b"), 4, 0, 0)), "import a.b of kind 4"},
		"endless number":            {code(sectionImport, 6, bytes.Repeat([]byte{0x80}, 6)), "over 32 bits"},
		"number over 32 bits":       {code(sectionFunction, 5, 0xff, 0xff, 0xff, 0xff, 0x7f), "over 32 bits"},
		"memory of 64 bits":         {section(sectionImport, code(text("a"), text("b"), 2, 4, 1)), "flags 0x4"},
	} {
		if _, err := Inspect(code([]byte(Header), c.tail)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.says)
		}
	}
}

func TestInspectNeverPanics(t *testing.T) {
	whole := code([]byte(Header), section(sectionImport, code(text("a"), text("t"), 1, 0x70, 1, 0, 9)), section(sectionTable, code(0x70, 0, 1)))
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole)
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			data[rapid.IntRange(8, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_, _ = Inspect(data)
		_, _ = BoundTables(data)
	})
}

// code joins bytes and byte slices.
func code(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

func leb(v uint32) []byte { return binary.AppendUvarint(nil, uint64(v)) }

func text(s string) []byte { return append(leb(uint32(len(s))), s...) }

func section(id byte, entries ...[]byte) []byte {
	body := leb(uint32(len(entries)))
	for _, e := range entries {
		body = append(body, e...)
	}
	return code([]byte{id}, leb(uint32(len(body))), body)
}
