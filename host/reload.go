package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/config/differ"
	"github.com/companiond/companiond/host/control"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module/wasm/compiler"
	"github.com/companiond/companiond/host/opening"
)

var errNoSource = errors.New("this daemon was started without a way to read its configuration anew")

// Reload reads the configuration and the tokens anew. What a running daemon takes is in force then: tokens at once, a room's
// settings as soon as nobody has the floor there, a handler's when what it is being asked has ended. Where anything is wrong,
// nothing has changed.
//
// # Errors
//
// What is wrong with the configuration, in words for whoever wrote it.
func (h *Host) Reload(ctx context.Context) (r control.Report, err error) {
	h.reloading.Lock()
	defer h.reloading.Unlock()
	done := h.service.Reload()
	defer func() {
		if h.ops.Reloaded(err); err != nil {
			h.log.Error("the configuration was not read anew; what was in force is", "err", err)
			done("reload failed: " + err.Error())
			return
		}
		h.log.Info("the configuration was read anew", "in_force", r.Live, "after_a_restart", r.Restart)
		done(h.state())
	}()
	if h.source == nil {
		return r, errNoSource
	}
	next, tokens, err := h.source()
	if err != nil {
		return r, err
	}
	if tokens.Len() == 0 && h.tokens.Len() > 0 { // a file that is half written, as a rule
		return r, errors.New("identity.tokens: there would be no token left; a restart takes them all away")
	}
	was := *h.inForce.Load()
	r = reported(h.cfg, was, next)
	rooms := opening.All(next.Rooms)
	for _, was := range was.Rooms { // one that went stays until the restart
		if !slices.ContainsFunc(next.Rooms, func(is config.Room) bool { return is.Name == was.Name }) {
			rooms = append(rooms, opening.Of(was))
			next.Rooms = append(next.Rooms, was)
		}
	}
	next.Modules = h.cfg.Modules // which waits for a restart
	if r.Warnings, err = h.tryModules(ctx, was, next); err != nil {
		return r, err
	}
	if err := h.plugins.Replace(check.Programs(next)); err != nil {
		return r, err
	}
	if err := h.rooms.Configure(ctx, rooms); err != nil {
		return r, errors.Join(err, h.plugins.Replace(check.Programs(was)))
	}
	h.models.Replace(next.Models, models.Bounds(next))
	h.tokens.Replace(tokens)
	if h.level != nil {
		h.level(next.Log.Level)
	}
	h.inForce.Store(&next)
	h.waits = r.Restart
	if ids := check.Modules(was, next); len(ids) > 0 {
		h.folder.Renew(ids...)
	}
	h.filter.Replace(next.Handlers)
	h.handlers.Replace(next.Handlers)
	h.tellCast(ctx) // who waits for a model may wait no longer
	return r, nil
}

// reported says which keys of a configuration are in force by a reload, and which wait for a restart: it is compared with the one that
// the daemon was started with, and with what was in force.
func reported(start, was, next config.Config) control.Report {
	r := control.Report{Live: []string{}, Restart: []string{}}
	for _, key := range differ.Keys(start, next) {
		if !differ.Live(key, next) {
			r.Restart = append(r.Restart, key)
		}
	}
	for _, key := range differ.Keys(was, next) {
		if differ.Live(key, next) {
			r.Live = append(r.Live, key)
		} else if !slices.Contains(r.Restart, key) { // a room that came with a reload, and goes
			r.Restart = append(r.Restart, key)
		}
	}
	return r
}

// tryModules loads what other handlers and tables of modules ask for, beside what serves.
func (h *Host) tryModules(ctx context.Context, was, next config.Config) (warnings []string, err error) {
	trial, err := h.openPlugins(next, "", nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trial.Close(context.WithoutCancel(ctx))) }()
	problems := check.Reload(ctx, was, next, append(slices.Clone(h.engines), trial), closedEngines(), h.folder.Module, h.handlers.Check)
	var wrong []error
	for _, p := range problems {
		if p.Severity == config.Error {
			wrong = append(wrong, errors.New(p.String()))
		} else {
			warnings = append(warnings, p.String())
		}
	}
	return warnings, errors.Join(wrong...)
}

// Status is how the daemon is.
func (h *Host) Status(context.Context) control.Status {
	h.reloading.Lock()
	waits := h.waits
	h.reloading.Unlock()
	s := control.Status{
		PID: os.Getpid(), Version: h.version.Version, Since: h.since.UTC().Format(time.RFC3339), Listen: "http://" + h.addr,
		Rooms: h.rooms.Count(), Companions: len(h.folder.Companions()), Handlers: len(h.inForce.Load().Handlers), Engine: howWasmRuns(), Restart: waits,
	}
	for _, c := range h.companions() {
		if c.Error != "" {
			s.Faults = append(s.Faults, c.ID+": "+c.Error)
		}
	}
	return s
}

// howWasmRuns says whether WebAssembly is compiled here.
func howWasmRuns() string {
	if compiler.Supported(runtime.GOOS, runtime.GOARCH) {
		return "compiled"
	}
	return "interpreted"
}

// openControl opens the daemon's own socket, nil where it cannot. Without one it runs all the same: SIGHUP does what is
// asked there most.
func (h *Host) openControl() (*http.Server, net.Listener) {
	own := &http.Server{Handler: control.Handler(h), ReadHeaderTimeout: drainTime}
	if h.control == "" {
		return own, nil
	}
	l, err := control.Listen(h.control)
	if err != nil {
		h.log.Warn("companiond reload and companiond status cannot reach this daemon", "err", err)
	}
	return own, l
}
