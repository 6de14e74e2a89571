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
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/identity"
)

// client is one connection. Serve's own goroutine follows the room, and writes
// what the room's could not without waiting; one reads, and answers; one pings; and
// the dialect has one beside them. Whichever fails first ends ctx with its reason.
type client struct {
	cfg    Config
	rooms  *fanout.Hub
	conn   *websocket.Conn // shakes hands and reads
	out    *plain.Conn     // the same connection, to write to
	caller identity.Caller
	place  *places.Place
	log    *slog.Logger

	view   view
	leave  func()    // ends what view.enter began
	hushes func()    // ends what a microphone was last told to hear; the reader's. Nil: nothing
	turns  chan view // from the reader to the one beside it: what the client is to see instead

	// While the client follows its room these are the room's, too: one of the two at a time.
	seen   uint64    // seq of the newest entry written
	live   bool      // it has caught up once
	looked time.Time // when the room's head was last looked at
	mark   uint64    // the head when the client was found behind; 0: it was not
	marked time.Time // when that was
}

func (c *client) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	read := c.startReading(ctx, cancel)
	var pings sync.WaitGroup
	pings.Go(func() {
		if c.out.Pings(ctx, c.cfg.Ping, c.cfg.WriteTimeout) {
			cancel(errGone)
		}
	})
	// A frame that is being written when the end comes gets a second to finish.
	unhurry := context.AfterFunc(ctx, func() { c.out.Limit(time.Now().Add(goodbye)) })
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
			var err error
			if next, err = c.beside(here); err != nil {
				end(err)
			} else if next != nil {
				end(errTurned)
			}
		})
		end(c.rooms.Follow(here, c.view.talk, c.seen, c))
		beside.Wait()
		if why := context.Cause(here); !errors.Is(why, errTurned) {
			return why
		}
		if err := c.turn(*next); err != nil {
			return err
		}
	}
}

// beside is the dialect's, in a goroutine of its own.
func (c *client) beside(ctx context.Context) (next *view, err error) {
	defer guard.Catch(&err)
	return c.view.dialect.beside(ctx, c), nil
}

// take is the dialect's, in the goroutine of what the client sends.
func (c *client) take(ctx context.Context, d dialect, message []byte) (next *view, err error) {
	defer guard.Catch(&err)
	return d.take(ctx, c, message)
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

// Push implements fanout.Client: the frames of a batch go out at once, in one
// piece, or as far as the connection takes them.
func (c *client) Push(b fanout.Batch) (taken int, all bool) {
	c.live, c.mark = true, 0
	d, ok := c.view.dialect.(common)
	if !ok {
		return 0, false
	}
	frames := b.Frames(d.coding())
	taken, all = len(frames.Ends), frames.Err == nil
	if len(frames.Bytes) > 0 {
		var gone bool
		taken, gone = c.out.Try(frames.Bytes, frames.Ends)
		all = all && gone
	}
	if taken == 0 {
		return 0, all
	}
	c.seen = b.Entries[taken-1].Seq
	if n := frames.Newest(taken); n >= 0 {
		d.told(b.Entries[n])
	}
	return taken, all
}

// Settle implements fanout.Client.
func (c *client) Settle() error { return c.sent(c.out.Flush(c.cfg.WriteTimeout)) }

// Write implements fanout.Client: one entry a frame, each as soon as the client has
// taken the one before.
func (c *client) Write(ctx context.Context, batch fanout.Batch) error {
	for i, e := range batch.Entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		frame, err := c.frame(batch, i)
		if err != nil {
			return fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		if frame != nil {
			if err := c.sent(c.out.Send(frame, c.cfg.WriteTimeout)); err != nil {
				return err
			}
			if d, ok := c.view.dialect.(common); ok {
				d.told(e)
			}
		}
		c.seen = e.Seq
		if err := c.checkLag(time.Now(), batch.Head); err != nil {
			return err
		}
	}
	return nil
}

// frame gives the frame for an entry of a batch, nil for none.
func (c *client) frame(batch fanout.Batch, i int) ([]byte, error) {
	if d, ok := c.view.dialect.(common); ok {
		return batch.Frame(d.coding(), i)
	}
	message, err := c.view.dialect.(alone).frame(batch.Entries[i])
	if message == nil || err != nil {
		return nil, err
	}
	return plain.Text(message), nil
}

// send writes one message; nil is none.
func (c *client) send(message []byte) error {
	if message == nil {
		return nil
	}
	return c.sent(c.out.Send(plain.Text(message), c.cfg.WriteTimeout))
}

// sent says what a failed write tells of the client.
func (c *client) sent(err error) error {
	if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		return fmt.Errorf("%w: a frame was not taken within %v", errSlow, c.cfg.WriteTimeout)
	} else if err != nil {
		return errGone
	}
	return nil
}

// checkLag finds a client that gets entries too late: the newest entry at one
// moment is still not written LagTimeout later. It looks at most once a second,
// and not before the client has caught up.
func (c *client) checkLag(now time.Time, room func() uint64) error {
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
	head := room()
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
	alive := func(string) error {
		c.place.Touch()
		return c.conn.SetReadDeadline(time.Now().Add(c.cfg.PongWait))
	}
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
			next, err := c.take(ctx, d, message)
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
	switch {
	case code == CloseSlow:
		wait = c.cfg.WriteTimeout
	case errors.Is(why, errOthers):
		wait = shortly
	}
	var payload []byte
	if code != 0 {
		payload = websocket.FormatCloseMessage(code, text)
	}
	c.out.Leave(payload, wait, read)
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
	case errors.Is(why, errOthers):
		return CloseTryLater, "there are too many clients, and others need the place; connect again with since"
	case errors.As(why, &known) && known.Retry:
		return CloseTryLater, "the room cannot be read now"
	}
	return CloseInternal, "internal error"
}
