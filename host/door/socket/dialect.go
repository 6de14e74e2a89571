package socket

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/companiond/companiond/host/door/socket/actions"
	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/door/socket/unread"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// dialect is what goes over a connection: which frames, and what becomes of what
// the client sends. Each is [alone] or [common] besides.
type dialect interface {
	// take gets a message of the client, one at a time. It may answer with
	// c.send, or give what the client is to see from now on. An error ends the
	// connection.
	take(ctx context.Context, c *client, message []byte) (*view, error)
	// beside runs beside the client until ctx ends or, where take may give a
	// view, one comes in c.turns, and gives that.
	beside(ctx context.Context, c *client) *view
}

// alone is a dialect whose frames are made for one client.
type alone interface {
	// show sends the frames for an entry.
	show(c *client, e entry.Entry) error
}

// common is a dialect in which a room looks alike to many clients.
type common interface {
	coding() fanout.Coding
	// told notes the newest entry that the client got a frame of.
	told(e entry.Entry)
}

// view is what a client sees: a room, through a dialect.
type view struct {
	talk    rooms.Room
	dialect dialect
	since   uint64 // seq of the entry it starts after
	asked   bool   // the client named since itself; else it goes on where it is, if it is in that room already
	hello   []byte // the first frame; nil for none
	limit   int64  // of a message of the client's; 0: readLimit
	free    func() // gives back what it alone may have, when the client has gone; nil: nothing
	plays   *bool  // the front that is seen already tells from now on when it has played a line, or no more
}

// enter says in the room that a body is here, or that somebody takes notices, where the
// client is one, until leave is called; leave may be called again.
func (v view) enter() (leave func()) {
	switch d := v.dialect.(type) {
	case *front:
		return sync.OnceFunc(d.enter(v.plays))
	case *game:
		return d.enter()
	case *relay:
		return sync.OnceFunc(d.listens())
	}
	return func() {}
}

// shows says whether the client has seen what it is to see: the same companion's actions.
func (v view) shows(next view) bool {
	f, is := v.dialect.(*front)
	g, goes := next.dialect.(*front)
	return is && goes && f.Companion == g.Companion
}

// entries is the dialect of the feed: entries as they are.
type entries struct{}

func (entries) coding() fanout.Coding { return entries{} }

// Message implements fanout.Coding.
func (entries) Message(e entry.Entry) ([]byte, error) {
	message, err := json.Marshal(e)
	if err != nil {
		return nil, unread.Spoiled(e.Seq) // whoever asks again meets it again
	}
	return message, nil
}

func (entries) told(entry.Entry) {}

func (entries) take(ctx context.Context, c *client, message []byte) (*view, error) {
	if word, ok, err := actions.ReadSpeaking(message); ok {
		return nil, c.speaks(ctx, c.view.talk, word, err)
	}
	return nil, errMessage
}

func (entries) beside(context.Context, *client) *view { return nil }

// maxMessages is how many messages of one client are read in a second. The rest
// wait in its own connection.
const maxMessages = 64

// pace counts the messages of a client. The zero value is ready.
type pace struct {
	began time.Time
	n     int
}

// wait returns when one more may be taken, or ctx ends.
func (p *pace) wait(ctx context.Context) {
	now := time.Now()
	over := p.began.Add(time.Second)
	if !now.Before(over) {
		p.began, p.n = now, 0
	}
	if p.n++; p.n <= maxMessages {
		return
	}
	select {
	case <-time.After(over.Sub(now)):
	case <-ctx.Done():
	}
	p.began, p.n = time.Now(), 1
}
