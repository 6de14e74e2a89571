package wasm

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, cfg := range map[string]Config{
		"memory limit of 1 bytes":  {MaxMemory: 1},
		"memory limit of 42949672": {MaxMemory: 1<<32 + 1},
		"negative fuel":            {FuelPerCall: -1},
		"negative call timeout":    {CallTimeout: -1},
		"negative log rate":        {LogBytesPerSecond: -1},
		`guard "off"`:              {Guard: "off"},
		`guard "none"`:             {Guard: guardNone},
		"others may write":         {CacheDir: shared},
		"make cache directory":     {CacheDir: filepath.Join(file, "cache")},
	} {
		if e, err := New(cfg); err == nil {
			t.Errorf("%+v: got an engine", cfg)
			_ = e.Close(t.Context())
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}

func TestCacheDirIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	e, err := New(Config{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("mode %o", mode)
	}
}

// What one engine compiled the next one finds in the cache: it writes nothing there,
// and has loaded a large module sooner.
func TestCacheMakesLoadFaster(t *testing.T) {
	file := tinyFile(tiny{deep: bytes.Repeat(code(i32(1), opDrop, i32(1), opMemoryGrow, 0, opDrop), 3_000)})
	dir := filepath.Join(t.TempDir(), "cache")
	var took [3]time.Duration
	var written [3]map[string]time.Time
	for k := range took {
		e := newTestEngine(t, func(c *Config) { c.CacheDir = dir })
		start := time.Now()
		m := load(t, e, file)
		took[k] = time.Since(start)
		if err := vote(t.Context(), m); err != nil {
			t.Error(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		written[k] = cached(t, dir)
	}
	t.Logf("load of %d KiB: cold %v, warm %v and %v: %.1f times faster",
		len(file.Data)>>10, took[0], took[1], took[2], float64(took[0])/float64(min(took[1], took[2])))
	if len(written[0]) == 0 || !maps.Equal(written[0], written[1]) || !maps.Equal(written[0], written[2]) {
		t.Errorf("the cache is written to by each engine: %v", written)
	}
}

// cached gives the files of a cache and when each was written.
func cached(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	files := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "records" { // those say when code was used
			return err
		}
		info, err := d.Info()
		if err == nil {
			files[path] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A file that a crash left half-written in the cache must not keep a good module out.
func TestBrokenCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	file := tinyFile(tiny{})
	for _, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return b[:10] },
		func(b []byte) []byte { b = b[:]; b[len(b)/2] ^= 1; return b },
		func(b []byte) []byte { return []byte("something else") },
	} {
		first := newTestEngine(t, func(c *Config) { c.CacheDir = dir })
		load(t, first, file)
		_ = first.Close(t.Context())
		damaged := 0
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			damaged++
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, damage(b), 0o600)
		})
		if err != nil || damaged == 0 {
			t.Fatalf("damaged %d files: %v", damaged, err)
		}
		second := newTestEngine(t, func(c *Config) { c.CacheDir = dir })
		if err := vote(t.Context(), load(t, second, file)); err != nil {
			t.Error(err)
		}
		_ = second.Close(t.Context())
	}
}

func TestInterpreter(t *testing.T) {
	e, err := newEngine(Config{CacheDir: t.TempDir()}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	m := load(t, e, tinyFile(tiny{}))
	if err := vote(t.Context(), m); err != nil {
		t.Error(err)
	}
	loop := load(t, e, tinyFile(tiny{vote: forever()}))
	if err := vote(within(t, 50*time.Millisecond), loop); faultKind(err) != "timeout" {
		t.Errorf("got %v, want a timeout", err)
	}
}
