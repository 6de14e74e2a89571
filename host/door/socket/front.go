package socket

import (
	"context"
	"errors"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/actions"
	"github.com/companiond/companiond/host/door/socket/plain"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// front is the dialect of whatever plays, says or hears for one companion: a session, over
// some wire. Its frames go out in one order, whichever goroutine has them, and its messages are
// read while they do.
type front struct {
	*session.Session
	wire session.Codec

	turn    chan struct{}                        // holds a token while session and wire are used: a mutex whose waits tests in fake time can see
	out     [][]byte                             // frames that are to be sent, in order
	sending chan struct{}                        // holds a token while somebody sends them
	wake    chan struct{}                        // tells beside that the wire may be due at another time
	turnTo  func(companion string) (view, error) // shows another companion's; nil: the client cannot choose
	past    uint64                               // seq of the last entry that there was when the client came; 0: it was told it, or began behind it
}

func newFront(s *session.Session, wire session.Codec) *front {
	return &front{Session: s, wire: wire, turn: make(chan struct{}, 1), sending: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

func (f *front) lock()   { f.turn <- struct{}{} }
func (f *front) unlock() { <-f.turn }

// use has something done with session and wire, and sends the frames that come of it. The one who
// waits has sent them when use answers; for another it may be who sends already.
func (f *front) use(c *client, waits bool, do func(now time.Time) ([][]byte, error)) error {
	due, err := f.make(do)
	if due {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
	if err != nil {
		return err
	}
	if waits {
		f.sending <- struct{}{}
	} else {
		select {
		case f.sending <- struct{}{}:
		default:
			return nil
		}
	}
	return f.flush(c)
}

// make has something done with session and wire, and keeps the frames that come of it. due says
// whether the wire waits for anything.
func (f *front) make(do func(now time.Time) ([][]byte, error)) (due bool, err error) {
	f.lock()
	defer f.unlock() // also where a codec panics
	frames, err := do(time.Now())
	f.out = append(f.out, frames...)
	for in := f.wire.Own(); in != nil; in = f.wire.Own() {
		_, _ = f.Take(context.Background(), in) // the line may be forgotten by now; then nobody waits for it
	}
	return !f.wire.Due().IsZero(), err
}

// flush sends what is to be sent, as the one who sends.
func (f *front) flush(c *client) error {
	for {
		f.lock()
		frames := f.out
		f.out = nil
		if len(frames) == 0 {
			<-f.sending // before anybody can have more
			f.unlock()
			return nil
		}
		f.unlock()
		for _, frame := range frames {
			if err := c.send(frame); err != nil {
				<-f.sending
				return err
			}
		}
	}
}

// begin has the client be sent first what the wire begins with, however soon it says something: it comes before
// anything is read.
func (f *front) begin() { f.out = f.wire.Begin(time.Now()) }

// enter says in the room that a body is here; plays says whether it tells from now on when it
// has played a line, nil what it said before.
func (f *front) enter(plays *bool) (leave func()) {
	f.lock()
	defer f.unlock()
	if plays != nil {
		f.Plays = *plays
	}
	left := f.Enter()
	return func() {
		f.lock()
		defer f.unlock()
		left()
	}
}

// show implements alone.
func (f *front) show(c *client, e entry.Entry) error {
	return f.use(c, true, func(now time.Time) ([][]byte, error) {
		o, err := f.Event(e)
		if err != nil {
			return nil, err
		}
		var frames [][]byte
		if o != nil {
			frames = f.wire.Encode(o, now)
		}
		if f.past > 0 && e.Seq >= f.past {
			f.past = 0
			frames = append(frames, f.wire.Encode(session.Live{}, now)...)
		}
		return frames, nil
	})
}

// take implements dialect: the words of a client go to the room. Those that come to nothing
// are answered; what happens waits meanwhile, so that an answer stands before what comes of it.
func (f *front) take(ctx context.Context, c *client, message []byte) (next *view, err error) {
	if w, is := f.wire.(*actions.Wire); is && w.Shape != actions.Own {
		if call, ok := actions.ReadCall(message); ok {
			return c.answerCall(ctx, call)
		}
	}
	err = f.use(c, false, func(now time.Time) ([][]byte, error) {
		in, err := f.wire.Decode(message, now)
		hello, isHello := in.(session.Hello)
		switch other, isSwitch := in.(session.Switch); {
		case err != nil || in == nil || isHello:
		case isSwitch:
			next, err = f.chosen(other.Companion)
		default:
			in, err = f.Take(ctx, in)
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		var told *abi.Error
		if err != nil {
			told = c.told(err)
		} else if isHello && hello.Plays != f.Plays {
			next = &view{talk: f.Room, dialect: f, plays: &hello.Plays}
		}
		return f.wire.Answer(in, told, time.Now()), nil
	})
	return next, err
}

// chosen gives what the client sees that chooses another companion.
func (f *front) chosen(companion string) (*view, error) {
	v, err := f.turnTo(companion)
	if err != nil {
		return nil, err
	}
	v.dialect.(*front).Mic = f.Mic
	return &v, nil
}

// beside implements dialect: it sends what is due without anything happening.
func (f *front) beside(ctx context.Context, c *client) *view {
	timer := time.NewTimer(time.Nanosecond) // none runs out before it is waited for, see host/room/loop
	defer timer.Stop()
	for {
		select {
		case v := <-c.turns:
			return &v
		case <-ctx.Done():
			return nil
		case <-f.wake:
		case <-timer.C:
			if f.use(c, false, f.late) != nil {
				return nil // whoever follows the room finds out as well
			}
		}
		f.lock()
		at := f.wire.Due()
		f.unlock()
		if !at.IsZero() {
			timer.Reset(max(time.Nanosecond, time.Until(at)))
		}
	}
}

func (f *front) late(now time.Time) ([][]byte, error) {
	if at := f.wire.Due(); at.IsZero() || now.Before(at) {
		return nil, nil
	}
	return f.wire.Late(now), nil
}

// speaks passes on what a microphone says that is no body's; wrong says what is at fault with
// the message.
func (c *client) speaks(ctx context.Context, talk rooms.Room, s session.Speaking, wrong error) error {
	if wrong == nil {
		asking, cancel := context.WithTimeout(ctx, micPatience)
		defer cancel()
		wrong = c.mic.Hear(asking, talk, c.caller, s)
	}
	if wrong == nil || ctx.Err() != nil {
		return nil
	}
	return c.send(actions.Refusal("", c.told(wrong)))
}

// micPatience bounds how long a room may take that is told what a microphone hears.
const micPatience = 10 * time.Second

// told gives what a client is told of an error; the rest is for the log.
func (c *client) told(err error) *abi.Error {
	e := abi.AsError(err)
	if e.Code == abi.CodeInternal {
		c.log.Error("a client's message failed", "error", errors.Join(e, errors.Unwrap(e)))
	}
	return e
}

// sendAll writes messages, in order.
func (c *client) sendAll(frames [][]byte) error {
	for _, frame := range frames {
		if err := c.send(frame); err != nil {
			return err
		}
	}
	return nil
}

// send writes one message; nil is none.
func (c *client) send(message []byte) error {
	if message == nil {
		return nil
	}
	return c.sent(c.out.Send(plain.Text(message), c.cfg.WriteTimeout))
}
