package codecache_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/module/wasm/codecache"
)

const wazeroDir = "wazero-v1-test"

func open(t *testing.T, dir string, max int64) *codecache.Store {
	t.Helper()
	s, err := codecache.Open(dir, max)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put has a store take over an entry for an image; both have the same bytes.
func put(t *testing.T, s *codecache.Store, image string) codecache.Key {
	t.Helper()
	k := codecache.KeyOf([]byte(image))
	dir, err := s.Private()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, wazeroDir, k.String()), image)
	if err := s.Adopt(k, dir); err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files gives the names of all files below a directory.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all = append(all, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestKeeps(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1000)
	k := put(t, s, "code")
	if !has(s, k) || has(s, codecache.KeyOf([]byte("other"))) {
		t.Errorf("it has %v", has(s, k))
	}
	if again := open(t, dir, 1000); !has(again, k) {
		t.Error("it is not there after a start")
	}
	s.Drop(k)
	if has(s, k) || len(files(t, dir)) != 0 {
		t.Errorf("dropped, and there is %q", files(t, dir))
	}
}

// An entry that is not what was made is not used: whatever became of it.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"another byte": func(f string) error { return os.WriteFile(f, []byte("cOde"), 0o600) },
		"cut off":      func(f string) error { return os.Truncate(f, 2) },
		"longer":       func(f string) error { return os.WriteFile(f, []byte("codecode"), 0o600) },
		"gone":         os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, 1000)
			k := put(t, s, "code")
			if err := damage(filepath.Join(dir, wazeroDir, k.String())); err != nil {
				t.Fatal(err)
			}
			if has(s, k) || len(files(t, dir)) != 0 {
				t.Errorf("it has %v, and there is %q", has(s, k), files(t, dir))
			}
			if put(t, s, "code"); !has(s, k) {
				t.Error("it cannot be made again")
			}
		})
	}
}

// A record that names a file elsewhere is none.
func TestRecordOfAnother(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "cache"), 1000)
	k := put(t, s, "code")
	write(t, filepath.Join(dir, "mine"), "code")
	record := filepath.Join(dir, "cache", "records", k.String())
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../mine", "records/x", "/etc/passwd"} {
		write(t, record, strings.Replace(string(text), wazeroDir+"/"+k.String(), file, 1))
		if has(s, k) {
			t.Errorf("%s is taken for code", file)
		}
		s.Drop(k)
		open(t, filepath.Join(dir, "cache"), 1000)
	}
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Error(err)
	}
}

// What a killed process left is gone at the next start, and what it finished is not.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1000)
	k := put(t, s, "code")
	half, err := s.Private()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(half, wazeroDir, "xyz.tmp"), "half")
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(half, old, old); err != nil {
		t.Fatal(err)
	}
	fresh, err := s.Private() // of a process that lives
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command(os.Args[0], "-test.run", "^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, fmt.Sprintf("new-%d-123", dead.Process.Pid), wazeroDir, "xyz.tmp"), "half")
	write(t, filepath.Join(dir, wazeroDir, "without a record"), "code")
	write(t, filepath.Join(dir, wazeroDir, "abc.123.tmp"), "half")
	write(t, filepath.Join(dir, "wazero-v0", "old"), "code")
	write(t, filepath.Join(dir, "records", "nonsense"), "{")
	s = open(t, dir, 1000)
	if !has(s, k) || len(files(t, dir)) != 2 {
		t.Errorf("there is %q", files(t, dir))
	}
	if tops, err := os.ReadDir(dir); err != nil || len(tops) != 3 || tops[0].Name() != filepath.Base(fresh) {
		t.Errorf("%v, %v", tops, err)
	}
}

// Whoever deletes the directory under the daemon only has to wait for what is compiled anew.
func TestDeletedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir, 1000)
	k := put(t, s, "code")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if has(s, k) {
		t.Error("it has what is gone")
	}
	if again := put(t, s, "code"); again != k || !has(s, k) {
		t.Error("it does not take code any more")
	}
}

// A child that left nothing, or too much, made nothing.
func TestAdoptsOneEntry(t *testing.T) {
	for n, want := range []string{"0 files", "", "2 files"} {
		dir := t.TempDir()
		s := open(t, dir, 1000)
		made, err := s.Private()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			write(t, filepath.Join(made, wazeroDir, string(rune('a'+i))), "code")
		}
		k := codecache.KeyOf([]byte("x"))
		err = s.Adopt(k, made)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || has(s, k) != (want == "") {
			t.Errorf("%d: %v", n, err)
		}
		if _, err := os.Stat(made); err == nil {
			t.Errorf("%d: the directory stays", n)
		}
	}
}

// The directory stays within its bound, and loses what was not used for longest; what has
// just been made is there even where it is larger.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10)
	old := time.Now().Add(-time.Hour)
	var keys []codecache.Key
	for i, image := range []string{"aaaa", "bbbb"} {
		keys = append(keys, put(t, s, image))
		at := old.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, "records", keys[i].String()), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if !has(s, keys[0]) { // now b is the oldest
		t.Fatal("it is not there")
	}
	c := put(t, s, "cccc")
	if !has(s, keys[0]) || has(s, keys[1]) || !has(s, c) {
		t.Errorf("a %v, b %v, c %v", has(s, keys[0]), has(s, keys[1]), has(s, c))
	}
	large := put(t, s, "larger than the bound")
	if !has(s, large) || has(s, c) {
		t.Errorf("the large one %v, the others %v", has(s, large), has(s, c))
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := codecache.Open(dir, 1000); err == nil || !strings.Contains(err.Error(), "chmod 0700") {
		t.Errorf("%v", err)
	}
}

func TestTemporary(t *testing.T) {
	s := open(t, "", 1000)
	put(t, s, "code")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir()); err == nil {
		t.Error("the directory stays")
	}
}

// has says whether a store has code for a key.
func has(s *codecache.Store, k codecache.Key) bool {
	_, ok := s.Find(k)
	return ok
}
