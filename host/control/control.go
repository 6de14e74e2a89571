// Package control is the daemon's own socket, in a folder that only its user may enter: whoever connects there may have it read
// its configuration anew, and ask how it is.
//
// It is no door of the rooms: nobody talks there, and it never asks who somebody is.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/companiond/companiond/abi"
)

// maxPath is how long the path of a socket may be everywhere.
const maxPath = 103

// Report is what became of a configuration that was read anew.
type Report struct {
	Live    []string `json:"live"`    // keys whose values are in force
	Restart []string `json:"restart"` // keys whose values will be after a restart
	// Warnings are what may be meant otherwise, such as a handler whose module has no file; a line each.
	Warnings []string `json:"warnings,omitempty"`
}

// Status is how the daemon is.
type Status struct {
	PID        int      `json:"pid"`
	Version    string   `json:"version"`
	Since      string   `json:"since"` // RFC 3339
	Listen     string   `json:"listen"`
	Rooms      int      `json:"rooms"` // awake
	Companions int      `json:"companions"`
	Handlers   int      `json:"handlers"`
	Engine     string   `json:"engine"`            // of WebAssembly: compiled or interpreted
	Restart    []string `json:"restart,omitempty"` // keys that wait for a restart
	Faults     []string `json:"faults,omitempty"`  // what is amiss, for people
}

// House is the daemon.
type House interface {
	Reload(context.Context) (Report, error)
	Status(context.Context) Status
}

// Path gives where the socket of a daemon is: in the folder that a service manager gives it for such, else beside its journal.
func Path(runtime, journal string) string {
	if runtime != "" {
		return filepath.Join(runtime, "control", "socket")
	}
	return filepath.Join(filepath.Dir(journal), "control", "socket")
}

// Listen opens the socket, where nobody else answers.
//
// # Errors
//
// CodeConflict where another daemon does;
// CodeTooLarge for a path that is too long for a socket; what the system says.
func Listen(path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, abi.Errorf(abi.CodeTooLarge, "the path of the control socket has %d bytes, at most %d are possible: %s", len(path), maxPath, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, abi.Errorf(abi.CodeConflict, "another daemon answers at %s; give this one a RUNTIME_DIRECTORY of its own", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of one that was killed
		return nil, fmt.Errorf("control socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

// Handler answers at the socket.
func Handler(h House) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		report, err := h.Reload(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity) // it is for whoever wrote the configuration
			return
		}
		send(w, report)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { send(w, h.Status(r.Context())) })
	return mux
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // whoever has gone does not want it
}

// ErrNobody says that no daemon listens at a socket.
var ErrNobody = errors.New("no companiond is running there")

// Ask has the daemon at a socket do something, and gives its answer.
//
// # Errors
//
// ErrNobody; what the daemon says.
func Ask[T any](ctx context.Context, socket, method, path string) (answer T, err error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, "http://companiond"+path, nil)
	if err != nil {
		return answer, err
	}
	resp, err := client.Do(req)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return answer, ErrNobody
	}
	if err != nil {
		return answer, fmt.Errorf("ask the daemon at %s: %w", socket, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return answer, fmt.Errorf("read what the daemon says: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return answer, errors.New(string(bytes.TrimSpace(body)))
	}
	return answer, json.Unmarshal(body, &answer)
}
