package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/companiond/companiond/host/room/retention"
)

// run runs the house in two rings: the doors stop first and say goodbye, then
// the rooms finish the lines that are being made, then everything else ends.
func (h *Host) run(ctx context.Context, listener net.Listener) error {
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	fell := make(chan error, 6) // what ended before it was asked to
	running := 0
	start := func(f func() error) {
		running++
		go func() { fell <- f() }()
	}
	start(func() error { return h.rooms.Run(inner) })
	start(func() error { return h.folder.Run(inner) })
	start(func() error { return h.perceptions.Run(inner) })
	start(func() error { return h.agents.Run(inner) })
	start(func() error { return retention.Run(inner, h.journal, h.cfg.Journal.BlankAfter, h.log) })
	start(func() error {
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	var err error
	if h.open(ctx, fell, &err) {
		select {
		case <-ctx.Done():
		case e := <-fell:
			running--
			err = e
		}
	} else if ctx.Err() == nil {
		running--
	}
	err = errors.Join(err, h.shut(stop))
	for ; running > 0; running-- {
		err = errors.Join(err, <-fell)
	}
	return err
}

// open waits until the folder has been looked through and tells the rooms, and agents, who
// is there. It answers false when ctx ended or something fell first.
func (h *Host) open(ctx context.Context, fell <-chan error, err *error) bool {
	select {
	case <-h.folder.Ready():
	case <-ctx.Done():
		return false
	case *err = <-fell:
		return false
	}
	h.tellCast(ctx)
	h.warnOfNames()
	h.warnOfFolder()
	for id, why := range h.waitingForModels() {
		h.log.Warn(id + " " + why)
	}
	h.log.Info("companiond is ready", "listen", "http://"+h.addr, "rooms", len(h.cfg.Rooms), "companions", len(h.folder.Companions()))
	close(h.ready)
	return true
}

// shut closes the doors, lets the rooms finish, and stops what runs inside.
func (h *Host) shut(stop context.CancelFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	h.log.Info("companiond is stopping")
	h.goHome()
	var drained sync.WaitGroup
	drained.Go(func() { h.rooms.Drain(ctx) }) // agents whose lines wait for a turn are told, or the server would wait for them
	feeds := errors.Join(h.feed.Close(ctx), h.agents.Close(ctx))
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
