package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/room"
)

// client is one connection. Three goroutines serve it: serve's own follows the
// room and is the only one to write frames, one reads, one pings. Whichever
// fails first ends ctx with its reason.
type client struct {
	cfg  Config
	conn *websocket.Conn
	talk room.Talk
	log  *slog.Logger
	seen uint64 // seq of the newest entry written

	dialect dialect
	writing sync.Mutex // frames; the relay's second goroutine writes, too

	live   bool      // it has caught up once
	looked time.Time // when the room's head was last looked at
	mark   uint64    // the head when the client was found behind; 0: it was not
	marked time.Time // when that was
}

func (c *client) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	read := c.startReading(cancel)
	var pings sync.WaitGroup
	pings.Go(func() { c.ping(ctx, cancel) })
	pings.Go(func() { c.dialect.beside(ctx, c) })
	// A frame that is being written when the end comes gets a second to finish.
	unhurry := context.AfterFunc(ctx, func() { _ = c.conn.NetConn().SetWriteDeadline(time.Now().Add(goodbye)) })
	err := c.talk.Follow(ctx, c.seen, func(batch []abi.Entry) error { return c.write(ctx, batch) })
	unhurry() // when the end is ours, the goodbye has its own time
	cancel(err)
	c.finish(context.Cause(ctx), read)
	pings.Wait()
}

// write sends a batch, one entry a frame. An error ends Follow.
func (c *client) write(ctx context.Context, batch []abi.Entry) error {
	for _, e := range batch {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		frame, err := c.dialect.frame(e)
		if err != nil {
			return fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		if err := c.send(frame); err != nil {
			return err
		}
		c.seen = e.Seq
		if err := c.checkLag(time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// send writes one frame; nil is none.
func (c *client) send(frame []byte) error {
	if frame == nil {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.cfg.WriteTimeout)) // gorilla never fails here
	if err := c.conn.WriteMessage(websocket.TextMessage, frame); err != nil {
		if stuck(err) {
			return fmt.Errorf("%w: a frame was not taken within %v", errSlow, c.cfg.WriteTimeout)
		}
		return errGone
	}
	return nil
}

// checkLag finds a client that gets entries too late: the newest entry at one
// moment is still not written LagTimeout later. It looks at most once a second,
// and not before the client has caught up.
func (c *client) checkLag(now time.Time) error {
	if c.mark != 0 && c.seen < c.mark {
		if late := now.Sub(c.marked); late >= c.cfg.LagTimeout {
			return fmt.Errorf("%w: entry %d not yet sent after %v", errSlow, c.mark, late)
		}
		return nil
	}
	c.mark = 0
	if now.Sub(c.looked) < time.Second {
		return nil
	}
	c.looked = now
	head := c.talk.Info().Head
	if head <= c.seen+c.cfg.MaxLag {
		c.live = true
	} else if c.live {
		c.mark, c.marked = head, now
	}
	return nil
}

// startReading takes what the client sends: pongs, a close frame. A message is a
// reason to end; what follows is still read, since closing a connection with
// unread bytes would reset it and lose the close frame. The channel closes when
// the client is gone.
func (c *client) startReading(cancel context.CancelCauseFunc) <-chan struct{} {
	c.conn.SetReadLimit(readLimit)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(c.cfg.PongWait)) }
	c.conn.SetPongHandler(alive)
	_ = alive("")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, _, err := c.conn.NextReader(); err != nil {
				cancel(errGone)
				return
			}
			if !c.dialect.takesMessages() {
				cancel(errMessage)
			}
		}
	}()
	return done
}

func (c *client) ping(ctx context.Context, cancel context.CancelCauseFunc) {
	t := time.NewTicker(c.cfg.Ping)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			// The ping waits for the frame that is on its way, then has a
			// frame's time itself. A ping broken off would break the connection.
			if err := c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(2*c.cfg.WriteTimeout)); err != nil {
				cancel(errGone)
				return
			}
		}
	}
}

// finish says goodbye as far as the connection still allows, gives the client a
// moment to answer, and closes the connection.
func (c *client) finish(why error, read <-chan struct{}) {
	code, text := closing(why)
	level := slog.LevelDebug
	switch code {
	case CloseInternal:
		level = slog.LevelError
	case CloseSlow:
		level = slog.LevelWarn
	}
	c.log.Log(context.Background(), level, "feed ended", "seen", c.seen, "code", code, "reason", why)
	wait := goodbye
	if code == CloseSlow {
		wait = c.cfg.WriteTimeout
	}
	deadline := time.Now().Add(wait)
	if code != 0 && c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), deadline) == nil {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		select {
		case <-read:
		case <-t.C:
		}
	}
	_ = c.conn.Close() // it is given up either way
	<-read
}

// refuse is a goodbye before the first entry.
func (c *client) refuse(why error) {
	c.finish(why, c.startReading(func(error) {}))
}

// closing turns the reason a feed ended into a close code; 0 means that nobody
// is there to be told.
func closing(why error) (code int, text string) {
	var known *abi.Error
	switch {
	case errors.Is(why, errGone):
		return 0, ""
	case errors.Is(why, errSlow):
		return CloseSlow, "too far behind; connect again with since"
	case errors.Is(why, errMessage):
		return CloseUnsupported, "the feed takes no messages"
	case errors.Is(why, errGoingAway), errors.Is(why, context.Canceled), why == nil:
		return CloseGoingAway, "the daemon is stopping"
	case errors.Is(why, errFull):
		return CloseTryLater, "too many clients"
	case errors.As(why, &known) && known.Retry:
		return CloseTryLater, "the room cannot be read now"
	}
	return CloseInternal, "internal error"
}
