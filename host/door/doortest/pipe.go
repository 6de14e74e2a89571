package doortest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Pipe is a listener whose connections are made with Dial, in memory. Writes
// wait for reads, so the slightest slowness of a reader shows at once. All of
// it may run in a synctest bubble.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

var _ net.Listener = (*Pipe)(nil)

// NewPipe makes a listener.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects; network and address do not matter.
func (p *Pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Client gives an HTTP client that connects here, one request a connection.
func (p *Pipe) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: p.Dial, DisableKeepAlives: true}}
}

// Accept waits for a Dial.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr names the pipe.
func (p *Pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
