//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
)

// TestAConfigurationThatIsNoFile is refused at once, with what it is; nobody waits for whoever might write into a pipe.
func TestAConfigurationThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "companiond.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "is a pipe or a device, and no file", dir: "is a directory, and no file"} {
		var out bytes.Buffer
		code := make(chan int, 1)
		go func() { code <- (&term{out: &out, err: &out}).do(t.Context(), []string{"check", "-config", path}) }()
		select {
		case got := <-code:
			if got != exitConfig || !strings.Contains(out.String(), "read configuration: "+path+" "+want) {
				t.Errorf("%d: %s", got, &out)
			}
		case <-time.After(waittest.Long):
			t.Fatalf("check hangs over %s", path)
		}
	}
}

// TestAConfigurationFromAnotherProgram is read, as a shell hands it on.
func TestAConfigurationFromAnotherProgram(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		_, _ = w.WriteString("[door]\nlisten = \"127.0.0.1:4711\"\n")
	}()
	cfg, problems, err := new(term).load(filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))))
	if err != nil || len(problems) > 0 || cfg.Door.Listen != "127.0.0.1:4711" {
		t.Errorf("%v %v %q", err, problems, cfg.Door.Listen)
	}
}
