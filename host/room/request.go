package room

import (
	"context"
	"errors"
	"time"

	"github.com/companiond/companiond/abi"
)

// event is something for the loop to do: to handle what a door asks, or what came of
// a call.
type event func()

// ack is somebody who waits for the entries so far to be durable.
type ack struct {
	id   string // of the message, to look it up when the outcome is unknown
	tell func(error)
}

// request is something that a door asks of the loop. What comes of it is told once.
type request[T any] struct{ done chan outcome[T] }

type outcome[T any] struct {
	val T
	err error
}

func (q request[T]) tell(v T, err error) { q.done <- outcome[T]{v, err} }

// late is what is told where the loop takes too long, unless there is more to say.
const late = "the room did not answer in time"

var errStopping = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping")

// ErrAsleep says that a room has fallen asleep: nothing of what was asked has
// happened, and another Run of it has to be begun.
var ErrAsleep = errors.New("room: asleep")

// ask has the loop handle something. A refusal is told at once, and anything else
// when the journal has what it led to: whoever is told that a vote counts looks at
// the room next. handle may give the id of the message that it made.
func ask[T any](ctx context.Context, r *Room, late string, handle func(*ack) (T, error)) (T, error) {
	return await(ctx, r, late, func(q request[T]) {
		r.used = time.Now()
		var v T
		err := DoorError(r.trouble)
		if err != nil {
			q.tell(v, err)
			return
		}
		var a ack
		if v, err = handle(&a); err == nil {
			err = DoorError(r.trouble)
		}
		if err != nil {
			q.tell(v, err)
			return
		}
		a.tell = func(err error) { q.tell(v, err) }
		r.acks = append(r.acks, a)
	})
}

// tell is ask for what has no answer but that it was done.
func tell(ctx context.Context, r *Room, handle func() error) error {
	_, err := ask(ctx, r, late, func(*ack) (struct{}, error) { return struct{}{}, handle() })
	return err
}

// await puts a request into the inbox and waits for what comes of it. A room that
// falls asleep thereafter, or stops, has answered first.
func await[T any](ctx context.Context, r *Room, late string, do func(request[T])) (v T, err error) {
	q := request[T]{make(chan outcome[T], 1)}
	if err := r.put(ctx, func() { do(q) }); err != nil {
		return v, err
	}
	select {
	case o := <-q.done:
		return o.val, o.err
	case <-r.gone:
		select {
		case o := <-q.done:
			return o.val, o.err
		default:
			return v, errStopping
		}
	case <-ctx.Done():
		return v, abi.Wrap(abi.CodeTimeout, ctx.Err(), late)
	}
}

// put puts an event into the inbox of a room that is awake.
func (r *Room) put(ctx context.Context, do event) error {
	r.awake.RLock()
	defer r.awake.RUnlock()
	if r.asleep {
		return ErrAsleep
	}
	select {
	case r.inbox <- do:
		return nil
	case <-r.gone:
		return errStopping
	case <-ctx.Done():
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), late)
	}
}

// post gives what came of a call to the loop. A daemon that is stopping waits for no
// answer.
func (r *Room) post(ctx context.Context, do event) {
	if ctx.Err() != nil {
		return
	}
	select {
	case r.inbox <- func() { r.used = time.Now(); do() }:
	case <-ctx.Done():
	}
}
