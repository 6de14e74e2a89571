package whole_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/folder/whole"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, p, text string) { t.Helper(); must(t, os.WriteFile(p, []byte(text), 0o600)) }

func TestRead(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "aya.js")
	if _, err := whole.Read(p, 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	write(t, p, "")
	if _, err := whole.Read(p, 10); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty: %v", err)
	}
	write(t, p, "0123456789")
	if data, err := whole.Read(p, 10); err != nil || string(data) != "0123456789" {
		t.Errorf("whole: %q, %v", data, err)
	}
	if _, err := whole.Read(p, 9); abi.CodeOf(err) != abi.CodeTooLarge || !strings.Contains(err.Error(), "10 bytes, at most 9") {
		t.Errorf("too large: %v", err)
	}
}

// Beside any writer, what is read is a whole version or nothing.
func TestReadBesideAWriter(t *testing.T) {
	const old = "0123456789"
	for name, disturb := range map[string]func(t *testing.T, p string){
		"longer":  func(t *testing.T, p string) { write(t, p, old+"x") },
		"shorter": func(t *testing.T, p string) { write(t, p, old[1:]) },
		"emptied": func(t *testing.T, p string) { must(t, os.Truncate(p, 0)) },
		"same length": func(t *testing.T, p string) {
			write(t, p, "9876543210")
			must(t, os.Chtimes(p, time.Now(), time.Now().Add(time.Second)))
		},
		"another file": func(t *testing.T, p string) {
			info, err := os.Stat(p)
			must(t, err)
			write(t, p+".tmp", "9876543210")
			must(t, os.Chtimes(p+".tmp", time.Now(), info.ModTime()))
			must(t, os.Rename(p+".tmp", p))
		},
		"removed": func(t *testing.T, p string) { must(t, os.Remove(p)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "aya.js")
			write(t, p, old)
			if data, err := whole.ReadDisturbed(p, func() { disturb(t, p) }); !errors.Is(err, whole.ErrMoving) {
				t.Errorf("reads %q, %v", data, err)
			}
			write(t, p, old)
			if data, err := whole.ReadDisturbed(p, func() {}); err != nil || string(data) != old {
				t.Errorf("undisturbed: %q, %v", data, err)
			}
		})
	}
}
