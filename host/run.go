package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/companiond/companiond/host/forget/told"
	"github.com/companiond/companiond/host/room/retention"
)

// run runs the house in two rings: the doors stop first and say goodbye, then
// the rooms finish the lines that are being made, then everything else ends.
func (h *Host) run(ctx context.Context, listeners ...net.Listener) error {
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	fell := make(chan error, 19) // what ended before it was asked to
	running := 0
	start := func(f func() error) {
		running++
		go func() { fell <- f() }()
	}
	if err := h.memory.Load(ctx); err != nil && ctx.Err() == nil { // before a room wakes: what waits is then gone through later
		h.log.Warn("which talks companions have not gone through yet cannot be read", "err", err)
	}
	if err := h.models.Restore(ctx); err != nil && ctx.Err() == nil {
		h.log.Warn("what models cost today before the start cannot be read: its bounds begin anew", "err", err)
	}
	heard, gone := context.WithCancel(context.WithoutCancel(ctx))
	start(func() error { return h.memory.Run(heard) })
	start(func() error { return h.models.Run(heard) })
	start(func() error {
		defer gone() // the rooms have told it everything
		return h.rooms.Run(inner)
	})
	if h.projects != nil {
		start(func() error { return h.projects.sessions.Run(inner) })
		start(func() error { return h.projects.talks.Run(inner) })
		start(func() error { return h.projects.summoner.Run(inner) })
		if err := h.projects.load(ctx); err != nil && ctx.Err() == nil { // what could not be read is not there
			h.log.Warn("the conversations of agents could not be read", "err", err)
		}
	}
	start(func() error { return h.folder.Run(inner) })
	acting, rest := context.WithCancel(inner)
	rested := make(chan struct{})
	start(func() error { defer close(rested); return h.handlers.Run(acting) })
	start(func() error { return h.compress.Run(inner) })
	start(func() error { return h.perceptions.Run(inner) })
	start(func() error { return h.search.Run(inner) })
	start(func() error {
		return h.forgets.Run(inner, h.rooms, told.Modules{Folder: h.folder, NewID: newID, Log: h.log})
	})
	start(func() error { return h.agents.Run(inner) })
	start(func() error { return h.service.Watch(inner, h.rooms.Answers) })
	start(func() error { return retention.Run(inner, h.journal, h.cfg.Journal.BlankAfter, h.log) })
	serve := func(s *http.Server, l net.Listener) {
		start(func() error {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	for _, l := range listeners {
		serve(h.server, l)
	}
	own, l := h.openControl()
	if l != nil {
		serve(own, l)
	}
	if h.ops != nil {
		start(h.ops.Serve)
	}
	var err error
	for ready, going := h.folder.Ready(), true; going; {
		select {
		case <-ready:
			ready = nil // it is told once
			h.open(ctx)
		case <-ctx.Done():
			going = false
		case err = <-fell:
			running--
			going = false
		}
	}
	rest() // handlers end what they carry out while the rooms can still be told
	<-rested
	err = errors.Join(err, h.shut(stop), own.Close(), h.ops.Close())
	for ; running > 0; running-- {
		err = errors.Join(err, <-fell)
	}
	return err
}

// open tells the rooms, and agents, who is there, now that the folder has been looked
// through, and the log what is amiss.
func (h *Host) open(ctx context.Context) {
	h.tellCast(ctx)
	h.warnOfNames()
	for _, p := range append(CheckFolder(h.cfg), CheckFiles(h.cfg)...) { // rooms wait for companions that nobody made, and pages do without
		h.log.Warn(p.String())
	}
	for id, why := range h.waitingForModels() {
		h.log.Warn(id + " " + why)
	}
	if h.hose != nil {
		h.log.Info("the Firehose of aikyo's clients is open", "listen", "ws://"+h.hose.Addr().String(), "room", h.rooms.Usual())
	}
	h.log.Info("companiond is ready", "listen", "http://"+h.addr, "rooms", len(h.cfg.Rooms), "companions", len(h.folder.Companions()))
	h.service.Ready(h.state())
	close(h.ready)
}

// state is how the daemon is, in a line for people.
func (h *Host) state() string {
	return fmt.Sprintf("http://%s, %d companions, %d rooms, WebAssembly is %s", h.addr, len(h.folder.Companions()), len(h.cfg.Rooms), howWasmRuns())
}

// shut closes the doors, lets the rooms finish, and stops what runs inside.
func (h *Host) shut(stop context.CancelFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	h.log.Info("companiond is stopping")
	h.service.Stopping()
	h.goHome()
	h.rooms.Hush() // before bodies are sent away
	var drained sync.WaitGroup
	drained.Go(func() { h.rooms.Drain(ctx) }) // agents whose lines wait for a turn are told, or the server would wait for them
	feeds := errors.Join(h.feed.Close(ctx), h.projects.close(ctx), h.agents.Close(ctx))
	err := h.server.Shutdown(ctx)
	drained.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		// Somebody holds a connection without asking anything, as browsers do
		// in advance. All requests have been answered by now.
		err = h.server.Close()
	}
	h.rooms.Drain(ctx)
	stop()
	return errors.Join(feeds, err)
}
