package loop

import (
	"context"
	"errors"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// Request is something that a door asks of the loop. Its outcome is told once.
type Request[T any] struct{ done chan outcome[T] }

type outcome[T any] struct {
	val T
	err error
}

// Tell tells what came of it, once.
func (q Request[T]) Tell(v T, err error) { q.done <- outcome[T]{v, err} }

// Late is what is told where the loop takes too long, unless there is more to say.
const Late = "the room did not answer in time"

// ErrAsleep says that a room has fallen asleep: nothing of what was asked has
// happened, and another Run of it has to be begun.
var ErrAsleep = errors.New("room: asleep")

// Ask has the loop handle something. A refusal is told at once, and anything else
// when the journal has what it led to: whoever is told that a vote counts looks at
// the room next.
func Ask[T any](ctx context.Context, l *Loop, late string, handle func() (T, error)) (T, error) {
	return Await(ctx, l, late, func(q Request[T]) {
		l.Use()
		Handle(l, q, handle)
	})
}

// Handle is what Ask does in the loop.
func Handle[T any](l *Loop, q Request[T], handle func() (T, error)) {
	var v T
	err := l.Trouble()
	if err == nil {
		if v, err = handle(); err == nil {
			err = l.Trouble()
		}
	}
	if err != nil {
		q.Tell(v, err)
		return
	}
	l.Ack(func(err error) { q.Tell(v, err) })
}

// Ack tells when the entries so far are durable, or why they are not.
func (l *Loop) Ack(tell func(error)) { l.acks = append(l.acks, tell) }

// Tell is Ask for what has no answer but that it was done.
func Tell(ctx context.Context, l *Loop, handle func() error) error {
	_, err := Ask(ctx, l, Late, func() (struct{}, error) { return struct{}{}, handle() })
	return err
}

// Await puts a request into the inbox and waits for what comes of it. A room that
// falls asleep thereafter, or stops, has answered first.
func Await[T any](ctx context.Context, l *Loop, late string, do func(Request[T])) (v T, err error) {
	q := Request[T]{make(chan outcome[T], 1)}
	if err := l.Put(ctx, func() { do(q) }); err != nil {
		return v, err
	}
	select {
	case o := <-q.done:
		return o.val, o.err
	case <-l.gone:
		select {
		case o := <-q.done:
			return o.val, o.err
		default:
			return v, rooms.ErrStopping
		}
	case <-ctx.Done():
		return v, abi.Wrap(abi.CodeTimeout, ctx.Err(), late)
	}
}

// Put puts an event into the inbox of a room that is awake.
func (l *Loop) Put(ctx context.Context, do func()) error {
	l.awake.RLock()
	defer l.awake.RUnlock()
	if l.asleep {
		return ErrAsleep
	}
	select {
	case l.inbox <- do:
		return nil
	case <-l.gone:
		return rooms.ErrStopping
	case <-ctx.Done():
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), Late)
	}
}

// Post gives what came of a call to the loop. A daemon that is stopping waits for no
// answer.
func (l *Loop) Post(ctx context.Context, do func()) {
	if ctx.Err() != nil {
		return
	}
	select {
	case l.inbox <- func() { l.Use(); do() }:
	case <-ctx.Done():
	}
}
