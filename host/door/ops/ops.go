// Package ops is the door of whoever watches over the daemon: whether it answers (/healthz), whether it can do its work and if
// not why (/readyz), figures for Prometheus (/metrics), and profiles (/debug/pprof).
//
// It has a listener of its own, which only this machine can reach, and asks nobody who it is. Nobody talks there, no page of a
// browser from elsewhere gets an answer, and nothing that was said, and no name of a person, is in what it tells.
package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/companiond/companiond/host/door/listen"
	"github.com/companiond/companiond/host/module"
)

// Config is what the door stands on. All functions are called by whoever asks at the door, beside each other, and must be set.
type Config struct {
	Build  Build
	Engine string // how WebAssembly runs: compiled or interpreted
	// Configured says whether a room stands in the configuration. No other room has figures of its own.
	Configured func(room string) bool
	// Rooms gives how many requests wait in each room that is awake.
	Rooms func() map[string]int
	// Modules gives how each module is, and Loaded is closed when all that were there at the start were loaded or refused.
	Modules func() []module.Status
	Loaded  func() <-chan struct{}
	Named   func() []string // modules that the configuration names; nil: none
	// Doors gives how many are connected.
	Doors func() map[string]int
	// Health is nil while the journal takes writes.
	Health func() error
	// Answers waits until each room that is awake answers, and names one that does not before ctx ends.
	Answers func(ctx context.Context) error
	// Stopping says whether the daemon is about to end.
	Stopping func() bool
	Log      *slog.Logger
}

// Build says which daemon it is.
type Build struct{ Version, Revision, Go string }

// Door is the door. A nil Door takes figures and does nothing with them.
type Door struct {
	cfg      Config
	server   *http.Server
	listener net.Listener // nil before Open
	*figures
}

// New makes a door. Nobody is answered before Open and Serve.
func New(c Config) *Door {
	d := &Door{cfg: c, figures: newFigures(c)}
	d.server = &http.Server{ // a profile takes as long as whoever wants it says
		Handler: d.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 120 * time.Second, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	return d
}

// Open listens at an address. A nil Door opens nothing.
//
// # Errors
//
// Those of [listen.At], for the key door.ops.
func (d *Door) Open(address string) (err error) {
	if d == nil {
		return nil
	}
	if d.listener, err = listen.At("door.ops", address); err == nil {
		d.cfg.Log.Info("whoever watches over the daemon may ask", "listen", "http://"+d.listener.Addr().String())
	}
	return err
}

// Serve answers at an open door until Close.
func (d *Door) Serve() error {
	if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("door.ops: %w", err)
	}
	return nil
}

// Close closes the door, also one that was never open, or is closed.
func (d *Door) Close() error {
	if d == nil || d.listener == nil {
		return nil
	}
	err := d.server.Close()
	if l := d.listener.Close(); !errors.Is(l, net.ErrClosed) { // nobody served there
		err = errors.Join(err, l)
	}
	return err
}

// index is what the door shows at its root.
const index = "/healthz\n/readyz\n/readyz?verbose\n/metrics\n/debug/pprof/\n"

// Handler answers at the door.
func (d *Door) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, index) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", d.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.registry, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelError)}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := refusal(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// refusal says why a request is not answered, "" for one that is: pages of browsers come to this machine by names that others
// chose, or from pages of others.
func refusal(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if !strings.EqualFold(host, "localhost") && (err != nil || !at.IsLoopback()) {
		return "ask for localhost or 127.0.0.1: this door is for this machine alone"
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	if (site == "" || site == "none" || site == "same-origin") && (origin == "" || origin == "http://"+r.Host) {
		return ""
	}
	return "no page from elsewhere is answered here"
}
