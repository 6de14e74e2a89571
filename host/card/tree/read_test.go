package tree

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A value knows the byte where it began, and how many it had.
func TestPlaces(t *testing.T) {
	const src = " {\"a\" : [1, \"あ\\n\" ,{ }],\n\t\"b\": null, \"c\":{\"d\":true}}\n"
	var why Faults
	n := Read([]byte(src), "", &why)
	if n == nil || len(why) > 0 {
		t.Fatal(why)
	}
	for _, c := range []struct {
		n    *Node
		text string
	}{
		{n, strings.TrimSpace(src)},
		{n.Get("a"), "[1, \"あ\\n\" ,{ }]"},
		{n.Get("a").Items[0], "1"}, {n.Get("a").Items[1], "\"あ\\n\""}, {n.Get("a").Items[2], "{ }"},
		{n.Get("b"), "null"}, {n.Get("c"), "{\"d\":true}"}, {n.Get("c").Get("d"), "true"},
	} {
		if got := src[c.n.At : c.n.At+c.n.Size]; got != c.text {
			t.Errorf("got %q, want %q", got, c.text)
		}
	}
	if at := n.Fields[1].At; !strings.HasPrefix(src[at:], `"b"`) {
		t.Errorf("the key b is at %q", src[at:])
	}
	if n.Get("x") != nil || n.Get("a").Get("x") != nil || (*Node)(nil).Get("x") != nil {
		t.Error("something is there that is not")
	}
}

func TestWhatIsNotRead(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for src, want := range map[string]string{
		``:                                     `0 v: is no JSON: it ends too early: there is nothing in it`,
		`{"a": 1`:                              `7 v: is no JSON: it ends too early: the { in column 1 is not closed`,
		`{"a": 1,}`:                            `7 v: is no JSON: there is a comma before }; take it out`,
		`{} {}`:                                `3 v: is no JSON: '{' after the end; the } in column 2 closes all that was open`,
		`[1, tru]`:                             `7 v: is no JSON: ']' in what begins like true; a text stands in "`,
		"{\"a\": \"\xff\"}":                    `7 v: is not UTF-8`,
		"\ufeff{}":                             `0 v: begins with a byte order mark; save it as UTF-8 without one`,
		`{"a": 1, "a": 2}`:                     `9 v.a: is there twice`,
		"{\"a\": 1,\n\"a\": 2}":                `9 v.a: is there twice, first in line 1`,
		`[{"x y": {"": 1, "":0}}]`:             `17 v[0]["x y"][""]: is there twice`,
		`{"\u0061": 1, "a": 2}`:                `14 v.a: is there twice`,
		`[1e999]`:                              `1 v[0]: "1e999" is out of the range of numbers`,
		deep(64):                               ``,
		deep(65):                               `64 v` + strings.Repeat("[0]", 64) + `: lies more than 64 levels deep`,
		`[1e308, -0, 1E-400]`:                  ``,
		`"` + strings.Repeat("x", 1<<16) + `"`: ``,
	} {
		var why Faults
		n := Read([]byte(src), "v", &why)
		got := ""
		if len(why) > 0 {
			got = told(why[:1])
		}
		if got != want || len(why) > 1 || n == nil && want == "" {
			t.Errorf("%.40q:\n got %s\nwant %s", src, got, want)
		}
	}
}

// told gives faults as lines.
func told(why Faults) string {
	var lines []string
	for _, f := range why {
		lines = append(lines, json.Number(itoa(f.At)).String()+" "+f.Path+": "+f.Text)
	}
	return strings.Join(lines, "\n")
}

func itoa(i int) string {
	b, _ := json.Marshal(i)
	return string(b)
}

// Read agrees with encoding/json about every value.
func TestReadsAsJSON(t *testing.T) {
	var gen func(depth int) *rapid.Generator[any]
	gen = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64().AsAny(),
		}
		if depth > 0 {
			plain = append(plain, rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return gen(depth - 1) }), 0, 3).AsAny(),
				rapid.MapOfN(rapid.String(), rapid.Deferred(func() *rapid.Generator[any] { return gen(depth - 1) }), 0, 3).AsAny())
		}
		return rapid.OneOf(plain...)
	}
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(gen(3).Draw(t, "value"))
		if err != nil {
			t.Skip(err)
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		var why Faults
		n := Read(data, "", &why)
		if n == nil || len(why) > 0 || !reflect.DeepEqual(n.Value(), want) {
			t.Fatalf("%s: %v %v", data, why, n)
		}
		if n.At != 0 || n.Size != len(data) {
			t.Fatalf("%s: at %d, %d bytes", data, n.At, n.Size)
		}
	})
}

func TestWords(t *testing.T) {
	for _, c := range [][2]string{
		{Member("", "a"), "a"}, {Member("a", "b-c_1"), "a.b-c_1"}, {Member("a", "b c"), `a["b c"]`}, {Member("", ""), `[""]`},
		{Member("a", "x.y"), `a["x.y"]`}, {Member("a", "かな"), "a.かな"}, {Item("a", 3), "a[3]"},
		{Show("a\nb"), `"a\nb"`}, {Show(strings.Repeat("あ", 61)), `"` + strings.Repeat("あ", 60) + `…"`},
		{Have(nil), "there are none"}, {Have([]string{"a", "b"}), "there are a, b"},
		{Listed(strings.Split(strings.Repeat("a,", 21)+"a", ",")), strings.Repeat("a, ", 20) + "…"},
		{Hint(""), ""}, {Hint("x"), `; did you mean "x"?`},
		{Array.Called(), "an array"}, {Null.Called(), "null"}, {Text.Called(), "a string"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
	var f Faults
	for i := range 500 {
		f.Add(i, "a", "b")
	}
	if len(f) != 101 || f[100].Text != "and there is more; mend these first" || f[100].Path != "" {
		t.Errorf("%d faults, at the end %+v", len(f), f[len(f)-1])
	}
	if err := f.Err("invalid", "v"); err.Error() != "invalid: "+strings.Repeat("a: b; ", MaxTold)+"and more" {
		t.Error(err)
	}
	if err := (Faults)(nil).Err("invalid", "v"); err != nil {
		t.Error(err)
	}
}
