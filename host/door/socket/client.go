package socket

import (
	"cmp"
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
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/door/socket/unread"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
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
	leave  func()             // ends what view.enter began
	mic    session.Microphone // the reader's
	large  chan struct{}      // the house's: holds a token for each large message that is read
	hurry  time.Time          // until when the large one must be in that is read; the reader's
	turns  chan view          // from the reader to the one beside it: what the client is to see instead
	turned chan struct{}      // back to the reader, when it does: what it says next is said as that

	// While the client follows its room these are the room's, too: one of the two at a time.
	seen   uint64    // seq of the newest entry written
	live   bool      // it has caught up once
	looked time.Time // when the room's head was last looked at
	mark   uint64    // the head when the client was found behind; 0: it was not
	marked time.Time // when that was
}

func (c *client) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	if f, is := c.view.dialect.(*front); is {
		f.begin()
	}
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
	c.mic.Hush()
	pings.Wait()
}

// show follows what the client is to see until ctx ends.
func (c *client) show(ctx context.Context) error {
	if f, is := c.view.dialect.(*front); is {
		if err := f.use(c, true, func(time.Time) ([][]byte, error) { return nil, nil }); err != nil {
			return err
		}
	}
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
		select {
		case c.turned <- struct{}{}:
		case <-ctx.Done():
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
	switch {
	case v.asked || v.talk.Name() != c.view.talk.Name():
		c.seen = v.since
	case !c.view.shows(v): // what came since the client asked for this was taken for what it saw before
		c.seen = min(c.seen, v.since)
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
		if err := c.write(batch, i); err != nil {
			return err
		}
		c.seen = e.Seq
		if err := c.checkLag(time.Now(), batch.Head); err != nil {
			return err
		}
	}
	return nil
}

// write sends the frames for an entry of a batch.
func (c *client) write(batch fanout.Batch, i int) error {
	e := batch.Entries[i]
	d, ok := c.view.dialect.(common)
	if !ok {
		return encoding(e, c.view.dialect.(alone).show(c, e))
	}
	frame, err := batch.Frame(d.coding(), i)
	if frame == nil || err != nil {
		return encoding(e, err)
	}
	if err := c.sent(c.out.Send(frame, c.cfg.WriteTimeout)); err != nil {
		return err
	}
	d.told(e)
	return nil
}

// encoding says of which entry no frame could be made.
func encoding(e entry.Entry, err error) error {
	if err == nil || errors.Is(err, errSlow) || errors.Is(err, errGone) {
		return err
	}
	return fmt.Errorf("encode entry %d: %w", e.Seq, err)
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
	c.conn.SetReadLimit(cmp.Or(c.view.limit, readLimit))
	alive := func(string) error {
		c.place.Touch()
		if !c.hurry.IsZero() {
			return nil
		}
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
			message, done, err := c.read(ctx)
			if err != nil {
				cancel(errGone)
				return
			}
			if p.wait(ctx); ctx.Err() != nil {
				done()
				continue
			}
			_ = alive("") // who was not read from could not send a pong
			next, err := c.take(ctx, d, message)
			done()
			switch {
			case err != nil:
				cancel(err)
			case next != nil:
				d = next.dialect
				select {
				case c.turns <- *next:
				case <-ctx.Done():
				}
				select {
				case <-c.turned:
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
	case CloseInternal, CloseUnreadable:
		level = slog.LevelError
		c.cfg.Dropped("internal")
	case CloseSlow:
		level = slog.LevelWarn
		c.cfg.Dropped("slow")
	}
	if errors.Is(why, errOthers) {
		c.cfg.Dropped("place")
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
	var bad unread.Spoiled
	switch {
	case errors.As(why, &bad):
		return CloseUnreadable, bad.Error()
	case errors.Is(why, journal.ErrCorrupt):
		return CloseUnreadable, "the journal is damaged; companiond replay says from where on, and only a backup mends it"
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
