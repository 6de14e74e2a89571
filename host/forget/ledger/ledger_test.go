package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func order(id, name string) Order {
	o := Order{ID: id, At: time.UnixMilli(1).UTC(), By: "person", As: "forgotten-" + id}
	o.Name(name)
	return o
}

func TestOrdersAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	l := open(t, path)
	for id, name := range map[string]string{"a": "mika"} {
		if err := l.Add(order(id, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Add(order("b", "花子")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		if err := l.So("b", map[string]int{"keys": n}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Done("a", map[string]int{"entries": 3}, time.Now()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(raw), "mika") || strings.Contains(string(raw), "花子") {
		t.Errorf("%v %v: %s", err, info.Mode(), raw)
	}
	for _, l := range []*Ledger{l, open(t, path)} {
		all, rest := l.Since(""), l.Since("a")
		if len(all) != 2 || len(rest) != 1 || rest[0].ID != "b" || string(all[0].Done) != `{"entries":3}` || all[0].So != nil || string(all[1].So) != `{"keys":2}` || all[1].Done != nil || len(l.Since("b")) != 0 || len(l.Since("x")) != 2 {
			t.Fatalf("%+v %+v", all, rest)
		}
		for _, name := range []string{"mika", "ＭＩＫＡ", "Mika"} {
			if !all[0].Is(name) || all[1].Is(name) {
				t.Errorf("%s is not known again", name)
			}
		}
		if all[0].Is("mikan") || all[0].Is("") || !all[1].Is("花子") {
			t.Error("another name is taken for it")
		}
	}
	if none := (Order{Facts: []string{"f"}}); none.Is("") || none.Is("mika") {
		t.Error("an order of facts has a name")
	}
}

// A crash leaves a whole line, or a half that is taken off.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	l := open(t, path)
	if err := l.Add(order("a", "mika")); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	if err := l.Add(order("b", "taro")); err != nil {
		t.Fatal(err)
	}
	both, _ := os.ReadFile(path)
	for n := len(whole); n < len(both); n++ {
		if err := os.WriteFile(path, both[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, path)
		if got := l.Since(""); len(got) != 1 {
			t.Fatalf("cut at %d: %d orders", n, len(got))
		}
	}
	if err := open(t, path).Add(order("c", "x")); err != nil || len(open(t, path).Since("a")) != 1 {
		t.Error("after that nothing can be added", err)
	}
}

func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	for text, want := range map[string]string{
		"{\n":                                 "erasures:1: is no line",
		"{\"v\":1}\n":                         "erasures:1: has no id",
		`{"v":2,"id":"a"}` + "\n":             "start the newer one",
		strings.Repeat("x", maxLine+1) + "\n": "too long",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestMerge puts what a backup's journal does not know behind what it knows.
func TestMerge(t *testing.T) {
	for _, c := range [][3]string{
		{"a\nb\n", "a\nb\nc\n", "a\nb\nc\n"}, // an older backup
		{"a\nb\n", "a\n", "a\nb\n"},          // a newer one
		{"x\n", "a\nb\n", "x\na\nb\n"},       // of another machine
		{"a\n", "a\nb\nhal", "a\nb\n"},
		{"", "a\n", "a\n"},
	} {
		if got := string(Merge([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("%q and %q are %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
