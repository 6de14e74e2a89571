package control_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/control"
)

// house is a daemon with a mistake in its configuration.
type house struct{}

func (house) Reload(context.Context) (control.Report, error) {
	return control.Report{}, errors.New("c.toml:3:1: room.main.pace: \"soon\" is none")
}
func (house) Status(context.Context) control.Status { return control.Status{Listen: "http://here"} }

// One daemon answers at a socket: a second does not take it, one that was killed leaves it to the next, and nobody else enters.
func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "cd") // the path of a socket may be no longer than 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := control.Path("", filepath.Join(dir, "companiond.db"))
	if path != filepath.Join(dir, "control", "socket") || control.Path("/run/x", path) != filepath.Join("/run/x", "control", "socket") {
		t.Error(path)
	}
	if _, err := control.Ask[control.Status](t.Context(), path, http.MethodGet, "/status"); !errors.Is(err, control.ErrNobody) {
		t.Error(err)
	}
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: control.Handler(house{})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	if _, err := control.Listen(path); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("a second daemon: %v", err)
	}
	if s, err := control.Ask[control.Status](t.Context(), path, http.MethodGet, "/status"); err != nil || s.Listen != "http://here" {
		t.Error(s, err)
	}
	if _, err := control.Ask[control.Report](t.Context(), path, http.MethodPost, "/reload"); err == nil || err.Error() != "c.toml:3:1: room.main.pace: \"soon\" is none" {
		t.Error(err)
	}
	_ = server.Close()
	<-done
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as of one that was killed
		t.Fatal(err)
	}
	if l, err = control.Listen(path); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := control.Listen(filepath.Join(dir, strings.Repeat("x", 120))); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("a path that is too long: %v", err)
	}
}
