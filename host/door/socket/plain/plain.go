// Package plain writes to the client of a WebSocket: whole frames, one behind the
// other, whoever writes. Where the connection allows it, frames can be tried, which
// never waits.
//
// A frame of which a part has gone is ended before anything else is written, so that
// those of two writers never run into each other, and nothing is written behind a
// goodbye. The package reads nothing, knows no handshake and starts no goroutine.
package plain

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// The first byte of frames as a server writes them: whole messages, not masked.
const (
	text    = 0x81
	goodbye = 0x88
	ping    = 0x89
)

// ErrGone is why nothing can be written any more behind a goodbye.
var ErrGone = errors.New("goodbye was said")

// Text gives the frame of a message.
func Text(message []byte) []byte { return AppendText(nil, message) }

// AppendText adds the frame of a message to frames.
func AppendText(frames, message []byte) []byte {
	switch n := len(message); {
	case n < 126:
		frames = append(frames, text, byte(n))
	case n < 1<<16:
		frames = binary.BigEndian.AppendUint16(append(frames, text, 126), uint16(n))
	default:
		frames = binary.BigEndian.AppendUint64(append(frames, text, 127), uint64(n))
	}
	return append(frames, message...)
}

// Conn is a connection to which frames are written. As a net.Conn it is for the
// library that shakes hands, reads, and answers pings: each Write there is one frame.
type Conn struct {
	net.Conn
	try func(p []byte) (int, error) // writes what goes at once; nil where that cannot be
	own time.Time                   // the library's deadline; it writes one frame at a time

	turn chan struct{} // holds a token while somebody writes (fake time stands still before a mutex)
	rest []byte        // of the frame of which a part has gone
	err  error         // why nothing can be written any more

	mu    sync.Mutex // guards the connection's deadline
	limit time.Time  // no deadline is later; zero: none
}

// New makes a Conn of a connection that is written to by nobody else.
func New(conn net.Conn) *Conn {
	return &Conn{Conn: conn, try: trier(conn), turn: make(chan struct{}, 1)}
}

// Hijack wraps what answers a handshake, so that the connection that is taken over
// is a [Conn]. The Conn is in *c then.
func Hijack(w http.ResponseWriter, c **Conn) http.ResponseWriter { return hijacked{w, c} }

type hijacked struct {
	http.ResponseWriter
	conn **Conn
}

// Hijack implements http.Hijacker.
func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	*h.conn = New(conn)
	return *h.conn, buffered, nil
}

// Try writes frames that lie one behind the other, the i-th up to ends[i], without
// waiting. It gives how many have gone: if not all, or the last only in part, the
// client is behind, and [Conn.Flush] ends what was begun.
func (c *Conn) Try(frames []byte, ends []int) (gone int, all bool) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	default:
		return 0, false
	}
	if c.try == nil || c.err != nil || c.rest != nil {
		return 0, false
	}
	n, err := c.try(frames)
	if err != nil {
		c.err = err
		return 0, false
	}
	if n == len(frames) {
		return len(ends), true
	}
	var begun int // where the first frame starts that has not gone as a whole
	for ; ends[gone] <= n; gone++ {
		begun = ends[gone]
	}
	if begun < n {
		c.rest = frames[n:ends[gone]]
		gone++
	}
	return gone, false
}

// Send writes a frame, for which the client has so long once it is its turn.
func (c *Conn) Send(frame []byte, patience time.Duration) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return c.write(frame, func() time.Time { return time.Now().Add(patience) })
}

// Flush ends a frame of which a part has gone.
func (c *Conn) Flush(patience time.Duration) error { return c.Send(nil, patience) }

// Ping sends a ping.
func (c *Conn) Ping(patience time.Duration) error { return c.Send([]byte{ping, 0}, patience) }

// Pings sends a ping every so often until ctx ends, or one is not taken: then the client is gone. A
// ping waits for the frame that is on its way, then has a frame's time itself; one broken off would
// break the connection.
func (c *Conn) Pings(ctx context.Context, every, patience time.Duration) (gone bool) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
			if c.Ping(patience) != nil {
				return true
			}
		}
	}
}

// Leave says goodbye as far as the connection still allows, gives the client a moment to answer,
// and closes the connection. Without a payload nobody is there to be told. It returns when what
// reads the connection has ended, which closes read.
func (c *Conn) Leave(payload []byte, wait time.Duration, read <-chan struct{}) {
	deadline := time.Now().Add(wait)
	if payload != nil && c.Goodbye(payload, deadline) == nil {
		select {
		case <-read:
		case <-time.After(time.Until(deadline)):
		}
	}
	_ = c.Close() // it is given up either way
	<-read
}

// Goodbye says goodbye, with the payload of a close frame, and is the last that is
// written. It waits for whoever writes, until the deadline at most.
func (c *Conn) Goodbye(payload []byte, deadline time.Time) error {
	c.Limit(deadline)
	wait := time.NewTimer(time.Until(deadline))
	defer wait.Stop()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-wait.C:
		return ErrGone
	}
	err := c.write(append([]byte{goodbye, byte(len(payload))}, payload...), func() time.Time { return deadline })
	if err == nil {
		c.err = ErrGone
	}
	return err
}

// Limit bounds every write from now on, and that which is on its way.
func (c *Conn) Limit(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = deadline
	_ = c.Conn.SetWriteDeadline(deadline) // an error shows at the next write
}

// SetWriteDeadline is the library's, for its next Write.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.own = t
	return nil
}

// Write is the library's: the answer to a handshake, or a frame that answers what was read.
// Behind a goodbye it comes to nothing, which is no reason to end reading.
func (c *Conn) Write(p []byte) (int, error) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	err := c.write(p, func() time.Time { return c.own })
	switch {
	case errors.Is(err, ErrGone):
		return len(p), nil
	case err != nil:
		return 0, err
	case p[0] == goodbye:
		c.err = ErrGone
	}
	return len(p), nil
}

// write writes a frame behind the rest of the one before; each has its time. A write that fails
// is the last, for nobody knows how much of it has gone.
func (c *Conn) write(frame []byte, until func() time.Time) error {
	for _, p := range [][]byte{c.rest, frame} {
		if c.err != nil {
			return c.err
		}
		if len(p) == 0 {
			continue
		}
		c.deadline(until())
		_, c.err = c.Conn.Write(p)
	}
	if c.err == nil {
		c.rest = nil
		c.deadline(time.Time{}) // one that has passed would fail what is tried
	}
	return c.err
}

// deadline sets the connection's, within the limit.
func (c *Conn) deadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.limit.IsZero() && (t.IsZero() || t.After(c.limit)) {
		t = c.limit
	}
	_ = c.Conn.SetWriteDeadline(t) // an error shows at the next write
}
