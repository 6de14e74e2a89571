//go:build unix

package play

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/waittest"
)

// TestRun: a program is given the file, its first word of what is wrong is told, it ends when the line does, and no
// file is left.
func TestRun(t *testing.T) {
	waittest.WithoutRaces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("COMPANIOND_TOKEN", "cmp_secret")
	if env := handedOn(os.Environ()); slices.ContainsFunc(env, func(pair string) bool { return strings.Contains(pair, "cmp_secret") }) {
		t.Error("a player is given the token")
	}
	t.Setenv("PLAY_TEST", "plays")
	if err := run(t.Context(), []string{self, "-q"}, handedOn(os.Environ()), dir, []byte("RIFF")); err != nil {
		t.Error(err)
	}
	t.Setenv("PLAY_TEST", "fails")
	if err := run(t.Context(), []string{self}, handedOn(os.Environ()), dir, []byte("RIFF")); err == nil || err.Error() != filepath.Base(self)+": exit status 1: audio open error: no such device" {
		t.Error(err)
	}
	began := filepath.Join(t.TempDir(), "began")
	t.Setenv("PLAY_TEST", "hangs")
	t.Setenv("PLAY_BEGAN", began)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{self}, handedOn(os.Environ()), dir, []byte("RIFF")) }()
	pid := 0
	waittest.Until(t, "it plays", func() bool {
		b, _ := os.ReadFile(began)
		pid, _ = strconv.Atoi(string(b))
		return pid > 0
	})
	cancel()
	if err := <-done; err == nil {
		t.Error("one that was ended ended well")
	}
	waittest.Gone(t, pid)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v are left: %v", left, err)
	}
}
