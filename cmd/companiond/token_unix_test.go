//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The file stays whose it is, where it is and as private as it is: the daemon
// that reads it may be another user than who adds to it.
func TestTokensFileStaysWhatItIs(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "tokens"), filepath.Join(dir, "link")
	const before = "# mine, without an end of line"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	root := os.Getuid() == 0
	if root {
		if err := os.Chown(file, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errs := verbHere(t, nil, "token", "mika", "-file", link); code != exitOK {
		t.Fatal(errs)
	}
	src, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(src), before+"\nmika agent read,talk sha256:") {
		t.Errorf("%q, %v", src, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); root && (!ok || st.Uid != 65534) {
		t.Errorf("the file belongs to %+v now", st)
	}
	if i, err := os.Lstat(link); err != nil || i.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}
