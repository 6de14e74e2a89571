package notices

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/door/socket/plain"
)

// client is one connection.
type client struct {
	cfg            Config
	place          *places.Place
	log            *slog.Logger
	project, agent string // "" are all
	ready          chan struct{}

	// These are set when ready is closed.
	conn *websocket.Conn
	out  *plain.Conn
}

// follow sends what happens. Until the handshake is answered that waits, for the goroutine is the
// client's own.
func (c *client) follow(ctx context.Context, from Conversations) (err error) {
	defer guard.Catch(&err)
	return from.Follow(ctx, c.project, func(n conversations.Notice) error {
		if c.agent != "" && n.Member(c.agent) == nil {
			return nil
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		b, err := encode(n)
		if err != nil {
			return err
		}
		if c.out.Send(b, c.cfg.WriteTimeout) != nil {
			return errGone // with a part of a frame gone nothing more can be written
		}
		return nil
	})
}

// serve sends and reads until ctx ends.
func (c *client) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	close(c.ready)
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(cancel)
	}()
	var pings sync.WaitGroup
	pings.Go(func() {
		if c.out.Pings(ctx, c.cfg.Ping, c.cfg.WriteTimeout) {
			cancel(errGone)
		}
	})
	<-ctx.Done()
	c.finish(context.Cause(ctx), read)
	pings.Wait()
}

// read takes pongs and a close frame. Behind what it does not take it still reads, since closing a
// connection with unread bytes would reset it and lose the close frame.
func (c *client) read(cancel context.CancelCauseFunc) {
	c.conn.SetReadLimit(readLimit)
	alive := func(string) error {
		c.place.Touch()
		return c.conn.SetReadDeadline(time.Now().Add(c.cfg.PongWait))
	}
	c.conn.SetPongHandler(alive)
	_ = alive("")
	for {
		if _, _, err := c.conn.ReadMessage(); err != nil {
			cancel(errGone)
			return
		}
		cancel(errMessage)
	}
}

// finish says goodbye as far as the connection still allows, gives the client a moment to answer, and
// closes the connection.
func (c *client) finish(why error, read <-chan struct{}) {
	code, text := closing(why)
	level := slog.LevelDebug
	switch code {
	case CloseInternal:
		level = slog.LevelError
	case CloseSlow:
		level = slog.LevelWarn
	}
	c.log.Log(context.Background(), level, "notices of conversations ended", "project", c.project, "code", code, "reason", why)
	wait := goodbye
	if errors.Is(why, errOthers) {
		wait = shortly
	}
	var payload []byte
	if code != 0 {
		payload = websocket.FormatCloseMessage(code, text)
	}
	c.out.Leave(payload, wait, read)
}

// closing turns the reason why a client is left into a close code; 0 means that nobody is there to be
// told.
func closing(why error) (code int, text string) {
	switch {
	case errors.Is(why, errGone):
		return 0, ""
	case errors.Is(why, errMessage):
		return CloseUnsupported, "this feed takes nothing"
	case errors.Is(why, errGoingAway), errors.Is(why, context.Canceled), why == nil:
		return CloseGoingAway, "the daemon is stopping"
	case errors.Is(why, errOthers):
		return CloseTryLater, "there are too many clients, and others need the place; connect again"
	case abi.CodeOf(why) == abi.CodeExhausted:
		return CloseSlow, "too far behind; connect again and ask for /v1/conversations"
	}
	return CloseInternal, "internal error"
}
