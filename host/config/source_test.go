package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadTree marks the place of every name with < and of every value with >
// in the text itself.
func TestReadTree(t *testing.T) {
	for _, marked := range []string{
		"<a=>1",
		"\n  <a\t =\t >1 # b = 2\n<b = >'''\nc = 1'''\n",
		"[<a]\n<b = >1\n<c = >\"#\"\n",
		" [ <a . <b ]\n<c = >[1, [2], {d = 3}]\n",
		"<a.<b.<c = >1\n",
		"<'a.b' . <\"c\\\"d\" = >1\n",
		"<a = >{<b = >1, <c.<d = >{<e=>[{f = 1}]}, <g = >{}}\n",
		"<a = >{\n  # {\n  <b = >1,\n}\n",
		"[<a.<\"b]\"]\n[<c]\n<é = >'é'\n",
		"[[<a]]\nx = 1\n",
		"<a = >1\r\n<b = >2\r\n",
		"<a = >\"\"\"\"\"x\"\"\"\"\" # ]\n<b = >''''x''''\n<c = >1979-05-27 07:32:00\n",
	} {
		marked = strings.NewReplacer("<é", "<\"é\"").Replace(marked)
		src := strings.NewReplacer("<", "", ">", "").Replace(marked)
		root, bad := readTree(src)
		if bad != nil {
			t.Errorf("%s\n%s", src, bad.message)
			continue
		}
		marks := make(map[int]string)
		markTree(src, root, marks)
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

// markTree notes where each node claims to stand.
func markTree(src string, n *node, marks map[int]string) {
	for _, child := range n.table {
		marks[child.name] = "<"
		if child.at != child.name {
			marks[child.at] = ">"
		}
		markTree(src, child, marks)
	}
}

func TestScanItems(t *testing.T) {
	for src, want := range map[string][]string{
		"[]":                             nil,
		"[ ]":                            nil,
		"[1]":                            {"1"},
		"[1,2 , 3,]":                     {"1", "2 ", "3,"},
		"[\n# 'a', ]\n'b', # ]\n\"c\" ]": {"'b'", "\"c\""},
		"[ [1, 2], [[3]], {a = [4], b = '}'}, 5]": {"[1, 2]", "[[3]]", "{a = [4], b = '}'}", "5]"},
		"['\\', '''a''b''', '''''c''''', '']":     {"'\\'", "'''a''b'''", "'''''c'''''", "''"},
		"[\"\\\"]\", \"\"\"\\\"\"\"]\"\"\"]":      {"\"\\\"]\"", "\"\"\"\\\"\"\"]\"\"\""},
		"[true,false,-1.5e3,1979-05-27]":          {"true", "false", "-1.5e3", "1979-05-27]"},
		// Text that is no TOML: it need not be right, but it must end.
		"[":     nil,
		"":      nil,
		"[=\"":  {"\""},
		"[{":    {"{"},
		"['":    {"'"},
		"[\"\\": {"\"\\"},
		"['''":  {"'''"},
		"[}":    {"}"},
		"x]":    nil,
	} {
		got := scanItems(src, 0)
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.HasPrefix(src[got[i]:], want[i])
		}
		if !ok {
			t.Errorf("%q: got %v, want %q", src, got, want)
		}
	}
}

func TestScanName(t *testing.T) {
	for src, want := range map[string]string{
		"a": "[0] 1", "a=": "[0] 1", " a . b =": "[1 5] 6", "a.'b.c'.\"d.\\\"e\"]": "[0 2 8] 15", "": "[0] 0", "a.": "[0 2] 2", "'": "[0] 1", "a\nb": "[0] 1",
	} {
		parts, end := scanName(src, 0)
		if got := fmt.Sprint(parts, end); got != want {
			t.Errorf("%q: got %s, want %s", src, got, want)
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
