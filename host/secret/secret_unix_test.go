//go:build unix

package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/secret"
	"github.com/companiond/companiond/host/waittest"
)

// TestRead: a secret is all that its file holds, in one line, and no error shows it. What is no regular file is not waited for.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"good": "hunter2\n", "empty": " \n", "two": "hunter2\nhunter3", "large": strings.Repeat("hunter2", 2000)} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		"good": "", "empty": "must hold the key and nothing else, in one line", "two": "must hold the key and nothing else, in one line",
		"large": "it has more than 8192 bytes", "none": "no such file", "pipe": "is no regular file", "": "is no regular file",
	} {
		var got string
		var err error
		read := make(chan struct{})
		go func() {
			defer close(read)
			got, err = secret.Read("handler.x.secrets.key", at(name), func(value string) (string, error) { return value, nil })
		}()
		select {
		case <-read:
		case <-time.After(waittest.Long):
			t.Fatalf("%s: it hangs", name)
		}
		if want == "" && (got != "hunter2" || err != nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), "handler.x.secrets.key: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter")) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
