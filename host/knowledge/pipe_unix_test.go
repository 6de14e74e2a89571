//go:build unix

package knowledge_test

import (
	"syscall"
	"testing"
)

// pipe makes a file that nobody could read to its end.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
