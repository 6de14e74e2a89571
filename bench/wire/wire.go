// Package wire is how the benches call an MCP server of this machine: requests over one
// connection, one after the other, as cheaply as can be, and the result in an answer. It
// connects to loopback addresses only, and measures nothing.
package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// MaxAnswer is the most that is read of an answer.
const MaxAnswer = 64 << 20

// patience is how long a connection may take: a server whose queue of them is full hears of one only
// when it is tried again, a second and three seconds later.
const patience = 20 * time.Second

// Conn is one connection to a server, for one request after the other. The
// standard client hands each request from goroutine to goroutine and makes maps of
// its headers, which costs more than a fast server's answer and would be measured
// with it. It connects to this machine only, whatever "localhost" stands for.
type Conn struct {
	Host  string     // and port
	mu    sync.Mutex // held while conn or ended changes, and to read them from elsewhere
	conn  net.Conn
	ended bool
	in    *bufio.Reader
	out   []byte
	until time.Time     // the connection's deadline
	last  bool          // the server takes no more requests on it
	keep  time.Duration // for how long it does where nothing comes; 0: nobody said
	used  time.Time     // when the last answer had come, where somebody said
}

// Reply is an answer to a request. Its body is good until the next request.
type Reply struct {
	Status  int
	Kind    string // Content-Type
	Session string // Mcp-Session-Id
	Body    []byte
}

// Head gives the beginning of a request as it goes over the wire, up to the length
// of its body.
func Head(method, host, path string, header http.Header) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	_ = header.Write(&b) // a builder takes everything
	b.WriteString("Content-Length: ")
	return []byte(b.String())
}

// Ask sends a request with a head of [Head] and reads its answer whole into body, which is
// emptied first. The deadline of ctx bounds it; where ctx ends before, see Interrupt.
func (c *Conn) Ask(ctx context.Context, head, send, body []byte) (Reply, error) {
	if c.last || c.keep > 0 && time.Since(c.used) > c.keep-time.Second {
		c.Close()
	}
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return Reply{}, err
		}
	}
	if until, ok := ctx.Deadline(); ok && !until.Equal(c.until) {
		c.until = until
		_ = c.conn.SetDeadline(until) // a connection that is gone says so at once
	}
	c.out = append(c.out[:0], head...)
	c.out = strconv.AppendInt(c.out, int64(len(send)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, send...)
	_, err := c.conn.Write(c.out)
	var r Reply
	if err == nil {
		r, err = c.read(body[:0])
	}
	if err != nil {
		c.Close()
	} else if c.keep > 0 {
		c.used = time.Now()
	}
	return r, err
}

func (c *Conn) dial(ctx context.Context) error {
	d := net.Dialer{Timeout: patience, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("%s is not a loopback address", address)
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, "tcp", c.Host)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		_ = conn.Close()
		return net.ErrClosed
	}
	c.conn, c.in, c.until, c.last, c.keep = conn, bufio.NewReader(conn), time.Time{}, false, 0
	return nil
}

// read reads an answer: of its header only what is needed here.
func (c *Conn) read(body []byte) (r Reply, err error) {
	line, err := c.line()
	if err != nil {
		return r, err
	}
	proto, rest, _ := strings.Cut(line, " ")
	status, _, _ := strings.Cut(rest, " ")
	if r.Status, err = strconv.Atoi(status); err != nil || !strings.HasPrefix(proto, "HTTP/1.") {
		return r, fmt.Errorf("no answer in HTTP: %.80q", line)
	}
	length := int64(-1)
	var chunked bool
	for {
		if line, err = c.line(); err != nil || line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil || length < 0 || length > MaxAnswer {
				return r, fmt.Errorf("Content-Length: %.40q", value)
			}
		case "Transfer-Encoding":
			chunked = strings.EqualFold(value, "chunked")
		case "Connection":
			c.last = strings.EqualFold(value, "close")
		case "Keep-Alive":
			if seconds, err := strconv.Atoi(strings.TrimPrefix(value, "timeout=")); err == nil {
				c.keep = time.Duration(seconds) * time.Second
			}
		case "Content-Type":
			r.Kind = value
		case "Mcp-Session-Id":
			r.Session = value
		}
	}
	if err != nil {
		return r, err
	}
	r.Body, err = c.rest(body, length, chunked, r.Status)
	return r, err
}

// rest reads the body of an answer.
func (c *Conn) rest(body []byte, length int64, chunked bool, status int) ([]byte, error) {
	switch {
	case chunked:
		in := io.LimitReader(httputil.NewChunkedReader(c.in), MaxAnswer)
		for {
			if len(body) == cap(body) {
				body = append(body, 0)[:len(body)]
			}
			n, err := in.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
			if err == io.EOF {
				_, err = c.line() // behind the last chunk
				return body, err
			}
			if err != nil {
				return body, err
			}
		}
	case length >= 0:
		if int(length) > cap(body) {
			body = make([]byte, length)
		}
		body = body[:length]
		_, err := io.ReadFull(c.in, body)
		return body, err
	case status == http.StatusNoContent || status == http.StatusNotModified:
		return body, nil
	}
	c.last = true
	rest, err := io.ReadAll(io.LimitReader(c.in, MaxAnswer))
	return append(body, rest...), err
}

// line reads a line without its end.
func (c *Conn) line() (string, error) {
	line, err := c.in.ReadSlice('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// Close ends the connection. The next request makes another.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// Interrupt ends the connection for good, also under a request, which fails. Unlike the
// other methods it may be called from any goroutine.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.conn != nil {
		_ = c.conn.Close()
	}
}
