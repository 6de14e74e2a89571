package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// client is one connection. Serve's own goroutine follows the room and writes
// its frames; one reads, and answers; one pings; and the dialect has one beside
// them. Whichever fails first ends ctx with its reason.
type client struct {
	cfg    Config
	conn   *websocket.Conn
	caller identity.Caller
	log    *slog.Logger

	view    view
	leave   func()        // ends what view.enter began
	hushes  func()        // ends what a microphone was last told to hear; the reader's. Nil: nothing
	turns   chan view     // from the reader to the one beside it: what the client is to see instead
	writing chan struct{} // holds a token while a frame is written (fake time stands still before a mutex)

	seen   uint64    // seq of the newest entry written
	live   bool      // it has caught up once
	looked time.Time // when the room's head was last looked at
	mark   uint64    // the head when the client was found behind; 0: it was not
	marked time.Time // when that was
}

func (c *client) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	read := c.startReading(ctx, cancel)
	var pings sync.WaitGroup
	pings.Go(func() { c.ping(ctx, cancel) })
	// A frame that is being written when the end comes gets a second to finish.
	unhurry := context.AfterFunc(ctx, func() { _ = c.conn.NetConn().SetWriteDeadline(time.Now().Add(goodbye)) })
	err := c.show(ctx)
	unhurry() // when the end is ours, the goodbye has its own time
	cancel(err)
	c.leave()
	c.finish(context.Cause(ctx), read)
	if c.hushes != nil { // nobody tells any more when it ends
		c.hushes()
	}
	pings.Wait()
}

// show follows what the client is to see until ctx ends.
func (c *client) show(ctx context.Context) error {
	for {
		here, end := context.WithCancelCause(ctx)
		var next *view
		var beside sync.WaitGroup
		beside.Go(func() {
			if next = c.view.dialect.beside(here, c); next != nil {
				end(errTurned)
			}
		})
		err := c.view.talk.Follow(here, c.seen, func(batch []entry.Entry) error { return c.write(here, batch) })
		end(err)
		beside.Wait()
		if !errors.Is(context.Cause(here), errTurned) {
			return err
		}
		if err := c.turn(*next); err != nil {
			return err
		}
	}
}

// turn changes what the client sees, and tells it.
func (c *client) turn(v view) error {
	c.leave()
	c.leave = v.enter()
	if v.asked || v.talk.Name() != c.view.talk.Name() {
		c.seen = v.since
	}
	c.view = v
	c.live, c.looked, c.mark = false, time.Time{}, 0
	return c.send(v.hello)
}

// write sends a batch, one entry a frame. An error ends Follow.
func (c *client) write(ctx context.Context, batch []entry.Entry) error {
	for _, e := range batch {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		frame, err := c.view.dialect.frame(e)
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
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.cfg.WriteTimeout)) // gorilla never fails here
	if err := c.conn.WriteMessage(websocket.TextMessage, frame); err != nil {
		if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
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
	head := c.view.talk.Info().Head
	if head <= c.seen+c.cfg.MaxLag {
		c.live = true
	} else if c.live {
		c.mark, c.marked = head, now
	}
	return nil
}

// startReading takes what the client sends: pongs, a close frame, and messages,
// which are the dialect's. After ctx has ended it still reads, since closing a
// connection with unread bytes would reset it and lose the close frame. The
// channel closes when the client is gone.
func (c *client) startReading(ctx context.Context, cancel context.CancelCauseFunc) <-chan struct{} {
	c.conn.SetReadLimit(readLimit)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(c.cfg.PongWait)) }
	c.conn.SetPongHandler(alive)
	_ = alive("")
	done := make(chan struct{})
	d := c.view.dialect // this goroutine's: it knows first when that changes
	go func() {
		defer close(done)
		var p pace
		for {
			_, message, err := c.conn.ReadMessage()
			if err != nil {
				cancel(errGone)
				return
			}
			if p.wait(ctx); ctx.Err() != nil {
				continue
			}
			_ = alive("") // who was not read from could not send a pong
			next, err := d.take(ctx, c, message)
			switch {
			case err != nil:
				cancel(err)
			case next != nil:
				d = next.dialect
				select {
				case c.turns <- *next:
				case <-ctx.Done():
				}
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
	c.log.Log(context.Background(), level, "feed ended", "room", c.view.talk.Name(), "seen", c.seen, "code", code, "reason", why)
	wait := goodbye
	if code == CloseSlow {
		wait = c.cfg.WriteTimeout
	}
	deadline := time.Now().Add(wait)
	if code != 0 && c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), deadline) == nil {
		select {
		case <-read:
		case <-time.After(time.Until(deadline)):
		}
	}
	_ = c.conn.Close() // it is given up either way
	<-read
}

// refuse is a goodbye before the first entry.
func (c *client) refuse(why error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what it sends is not taken
	c.finish(why, c.startReading(ctx, func(error) {}))
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
		return CloseUnsupported, `the feed takes {"speaking":true,"from":"..."} and nothing else`
	case errors.Is(why, errGoingAway), errors.Is(why, context.Canceled), why == nil:
		return CloseGoingAway, "the daemon is stopping"
	case errors.Is(why, errFull):
		return CloseTryLater, "too many clients"
	case errors.As(why, &known) && known.Retry:
		return CloseTryLater, "the room cannot be read now"
	}
	return CloseInternal, "internal error"
}
