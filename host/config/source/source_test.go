package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// TestPlacesInText marks the place of every name with <, of every value with > and of
// every item of a list with | in the text itself.
func TestPlacesInText(t *testing.T) {
	for _, marked := range []string{
		"<a=>1",
		"\n  <a\t =\t >1 # b = 2\n<b = >'''\nc = 1'''\n",
		"[<a]\n<b = >1\n<c = >\"#\"\n",
		" [ <a . <b ]\n<c = >[|1, |[2], |{<d = >3}]\n",
		"<a.<b.<c = >1\n",
		"<'a.b' . <\"c\\\"d\" = >1\n",
		"<a = >{<b = >1, <c.<d = >{<e=>[|{<f = >1}]}, <g = >{}}\n",
		"<a = >{\n  # {\n  <b = >1,\n}\n",
		"[<a.<\"b]\"]\n[<c]\n<\"é\" = >'é'\n",
		"[[<a]]\n<x = >1\n", "[a.<b]\n[<a]\n", "[[a]]\n[[<a]]\n",
		"<a = >1\r\n<b = >2\r\n",
		"<a = >\"\"\"\"\"x\"\"\"\"\" # ]\n<b = >''''x''''\n<c = >1979-05-27 07:32:00\n<d = >[|1979-05-27 07:32:00,|07:32:00]",
		"<a = >[|1,|2 , |3,]\n<b = >[\n# 'a', ]\n|'b', # ]\n|\"c\" ]\n<c = >[ ]",
		"<a = >[ |[1, 2], |[[3]], |{<x = >[|4], <b = >'}'}, |5]",
		"<a = >[|'\\', |'''a''b''', |'''''c''''', |'', |'x']",
		"<a = >[|\"\\\"]\", |\"\"\"\\\"\"\"]\"\"\"]",
		"<a = >[|true,|false,|-1.5e3,|1979-05-27]\n<\"\" = >\"\"\n<x.<'' = >\"\"\"\"\"\"",
	} {
		src := strings.NewReplacer("<", "", ">", "", "|", "").Replace(marked)
		var values map[string]any
		md, err := toml.Decode(src, &values)
		if err != nil {
			t.Errorf("%s\n%v", src, err)
			continue
		}
		marks := make(map[int]string)
		for _, p := range places(src, md.Keys()) {
			for i, at := range slices.Backward(p) { // a header's value is its name
				marks[at] = []string{"<", ">", "|"}[min(i, 2)]
			}
		}
		var b strings.Builder
		for i := range len(src) + 1 {
			b.WriteString(marks[i])
			if i < len(src) {
				b.WriteByte(src[i])
			}
		}
		if got := b.String(); got != marked {
			t.Errorf("got  %q\nwant %q", got, marked)
		}
	}
}

func TestPosition(t *testing.T) {
	const src = "aé\nあい\r\n\n"
	want := []string{"1:1", "1:2", "1:2", "1:3", "2:1", "2:1", "2:1", "2:2", "2:2", "2:2", "2:3", "2:4", "3:1"}
	for i, w := range want {
		line, col := position(src, i)
		if got := fmt.Sprintf("%d:%d", line, col); got != w {
			t.Errorf("byte %d: got %s, want %s", i, got, w)
		}
	}
	for offset, want := range map[int]string{-5: "1:1", 0: "1:1", len(src): "4:1", 999: "4:1"} {
		line, col := position(src, offset)
		if got := fmt.Sprintf("%d:%d", line, col); got != want {
			t.Errorf("byte %d: got %s, want %s", offset, got, want)
		}
	}
}

// TestRead: where a text stops being TOML, and where the keys of one that is are.
func TestRead(t *testing.T) {
	for src, want := range map[string]string{
		"[a\n":           "1:3",
		"a = 1\na = 2":   "2:1",
		"\ufeffb = \n":   "1:5",
		"\xff\xfea":      "1:1",
		"\n" + deep('.'): "2:1",
		"\n" + deep('{'): "2:1",
	} {
		f, flaw := Read([]byte(src))
		if f != nil || flaw == nil || fmt.Sprintf("%d:%d", flaw.Line, flaw.Col) != want || flaw.Message == "" {
			t.Errorf("%.20q: %+v, want it at %s", src, flaw, want)
		}
	}
	f, flaw := Read([]byte("\ufeff# あ\n[a.b]\nc = ['x', 'あ', 'y']\n"))
	if flaw != nil || f.Root["a"] == nil {
		t.Fatal(flaw)
	}
	for which, want := range map[int]string{Name: "3:1", Value: "3:5", Value + 1: "3:6", Value + 3: "3:16"} {
		if line, col := f.At("a.b.c", which); fmt.Sprintf("%d:%d", line, col) != want {
			t.Errorf("%d is at %d:%d, want %s", which, line, col, want)
		}
	}
	for _, f := range []*File{f, nil} {
		if line, col := f.At("a.x", Name); line != 0 || col != 0 {
			t.Errorf("a key that is not there is at %d:%d", line, col)
		}
	}
}

// deep is a line with more names or tables within each other than are read.
func deep(of byte) string { return strings.Repeat(string(of), maxDepth+1) }
