package converse

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// standing is how far a session is: what its agent was answered and has not acknowledged yet,
// and which requests it was shown. Where it is forgotten too early, all of that comes
// again.
type standing struct {
	ended context.Context // with the session
	end   context.CancelCauseFunc

	// turn is held by the call that uses seen: its place is free or taken.
	turn chan struct{}
	seen conversations.Seen

	mu    sync.Mutex // held while what was given is acknowledged: a call that comes with it begins after that
	given []string   // cursors, oldest first
	poll  context.CancelCauseFunc

	// The mutex of the desk guards these.
	calls int       // that run
	until time.Time // it is not forgotten before, if it has no calls
}

const (
	// mostGiven bounds what is remembered of answers; what is not comes again.
	mostGiven = 16
	// fewest standings are kept whatever they are.
	fewest = 64
	// grace is how much longer than its session a standing stays: a call puts off the session's end.
	grace = conversations.MaxWait + time.Minute
)

// Why a call that waits ends before its time.
var (
	errOvertaken = errors.New("a newer call of the session waits")
	errStopping  = errors.New("the daemon is stopping")
	errLoggedOut = errors.New("the session was ended")
)

// visit is one call of a session.
type visit struct {
	conversations.Member
	at     *standing
	cursor string // of the answer, "" for one that needs none
}

// visit makes a call of a session. What was given to the session before the call began, the
// call acknowledges; with an acknowledge that alone, for a careful client may have lost an
// answer. The answer's own cursor is remembered if somebody still wants the answer.
func (d *Desk) visit(ctx context.Context, token string, acknowledge *string, do func(*visit) (any, error)) (any, error) {
	return d.call(ctx, token, func(v *visit) (any, error) {
		if err := d.acknowledge(ctx, v, acknowledge); err != nil {
			return nil, err
		}
		return do(v)
	})
}

// beside is visit for a call that says something: that the answers before were received is
// written down together with it, and what is not is acknowledged by the call after it.
func (d *Desk) beside(ctx context.Context, token string, do func(*visit) (any, error)) (any, error) {
	return d.call(ctx, token, func(v *visit) (any, error) {
		var acknowledged sync.WaitGroup
		acknowledged.Go(func() { _ = d.acknowledge(ctx, v, nil) })
		defer acknowledged.Wait()
		return do(v)
	})
}

// call makes a call of a session that is there.
func (d *Desk) call(ctx context.Context, token string, do func(*visit) (any, error)) (any, error) {
	if token == "" {
		return nil, conversation.Refuse(conversation.NoSession, "session_token: is missing")
	}
	s, release, err := d.Sessions.Hold(token)
	if err != nil {
		d.forget(token)
		return nil, err
	}
	defer release()
	v := &visit{Member: conversations.Member{Project: s.Project, Agent: s.Agent}, at: d.enter(token, s.Expires)}
	defer d.leave(v.at)
	answer, err := do(v)
	if err == nil && v.cursor != "" && ctx.Err() == nil {
		v.at.gave(v.cursor)
	}
	return answer, err
}

// hash is what is kept of a token.
type hash [sha256.Size]byte

func hashOf(token string) hash { return sha256.Sum256([]byte(token)) }

// enter finds the standing of a session, or begins one.
func (d *Desk) enter(token string, expires time.Time) *standing {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := hashOf(token)
	at := d.all[key]
	if at == nil {
		d.sweep()
		at = &standing{turn: make(chan struct{}, 1)}
		at.ended, at.end = context.WithCancelCause(context.Background())
		d.all[key] = at
	}
	at.calls++
	at.until = expires.Add(grace)
	return at
}

func (d *Desk) leave(at *standing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at.calls--
}

// sweep forgets sessions that have expired, whenever there are twice as many as were left
// the time before. The mutex is held.
func (d *Desk) sweep() {
	if len(d.all) < d.due {
		return
	}
	now := time.Now()
	for key, at := range d.all {
		if at.calls == 0 && now.After(at.until) {
			at.end(errLoggedOut)
			delete(d.all, key)
		}
	}
	d.due = max(fewest, 2*len(d.all))
}

// forget ends what a session has here.
func (d *Desk) forget(token string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := hashOf(token)
	if at := d.all[key]; at != nil {
		at.end(errLoggedOut)
		delete(d.all, key)
	}
}

// acknowledge tells the conversations what the session has received. A cursor that was
// given here and is refused is of a conversation that is no more.
func (d *Desk) acknowledge(ctx context.Context, v *visit, explicit *string) error {
	at := v.at
	at.mu.Lock()
	defer at.mu.Unlock()
	if explicit != nil {
		if *explicit == "" {
			return nil
		}
		err := d.Conversations.Acknowledge(ctx, v.Member, *explicit)
		if err == nil {
			at.given = slices.DeleteFunc(at.given, func(c string) bool { return c == *explicit })
		}
		return err
	}
	for len(at.given) > 0 {
		var fault *conversation.Fault
		if err := d.Conversations.Acknowledge(ctx, v.Member, at.given[0]); err != nil && !errors.As(err, &fault) {
			return err
		}
		at.given = at.given[1:]
	}
	return nil
}

// gave remembers that an answer went out.
func (at *standing) gave(cursor string) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if slices.Contains(at.given, cursor) {
		return
	}
	if at.given = append(at.given, cursor); len(at.given) > mostGiven {
		at.given = at.given[1:]
	}
}

// wait has the session's one place to wait in, until leave is called; a call that has it is
// answered for this one, which came later: its client may have given it up.
func (at *standing) wait(ctx context.Context, cancel context.CancelCauseFunc) (leave func(), err error) {
	at.mu.Lock()
	if at.poll != nil {
		at.poll(errOvertaken)
	}
	at.poll = cancel
	at.mu.Unlock()
	select {
	case at.turn <- struct{}{}:
		return func() { <-at.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
