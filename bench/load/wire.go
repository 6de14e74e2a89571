package main

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
	"syscall"
	"time"
)

// wire is one connection to a server, for one request after the other. The
// standard client hands each request from goroutine to goroutine and makes maps of
// its headers, which costs more than a fast server's answer and would be measured
// with it. It connects to this machine only, whatever "localhost" stands for.
type wire struct {
	host  string
	conn  net.Conn
	in    *bufio.Reader
	out   []byte
	until time.Time // the connection's deadline
	last  bool      // the server takes no more requests on it
}

// reply is an answer to a request. Its body is good until the next request.
type reply struct {
	status  int
	kind    string // Content-Type
	session string // Mcp-Session-Id
	body    []byte
}

// head gives the beginning of a request as it goes over the wire, up to the length
// of its body.
func head(method, host, path string, header http.Header) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	_ = header.Write(&b) // a builder takes everything
	b.WriteString("Content-Length: ")
	return []byte(b.String())
}

// ask sends a request and reads its answer whole into body, which is emptied first.
func (w *wire) ask(ctx context.Context, head, send, body []byte) (reply, error) {
	if w.last {
		w.close()
	}
	if w.conn == nil {
		if err := w.dial(ctx); err != nil {
			return reply{}, err
		}
	}
	if until, ok := ctx.Deadline(); ok && !until.Equal(w.until) {
		w.until = until
		_ = w.conn.SetDeadline(until) // a connection that is gone says so at once
	}
	w.out = append(w.out[:0], head...)
	w.out = strconv.AppendInt(w.out, int64(len(send)), 10)
	w.out = append(w.out, "\r\n\r\n"...)
	w.out = append(w.out, send...)
	_, err := w.conn.Write(w.out)
	var r reply
	if err == nil {
		r, err = w.read(body[:0])
	}
	if err != nil {
		w.close()
	}
	return r, err
}

func (w *wire) dial(ctx context.Context) error {
	d := net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("%s is not a loopback address", address)
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, "tcp", w.host)
	if err != nil {
		return err
	}
	w.conn, w.in, w.until, w.last = conn, bufio.NewReader(conn), time.Time{}, false
	return nil
}

// read reads an answer: of its header only what is needed here.
func (w *wire) read(body []byte) (r reply, err error) {
	line, err := w.line()
	if err != nil {
		return r, err
	}
	proto, rest, _ := strings.Cut(line, " ")
	status, _, _ := strings.Cut(rest, " ")
	if r.status, err = strconv.Atoi(status); err != nil || !strings.HasPrefix(proto, "HTTP/1.") {
		return r, fmt.Errorf("no answer in HTTP: %.80q", line)
	}
	length := int64(-1)
	var chunked bool
	for {
		if line, err = w.line(); err != nil || line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil || length < 0 || length > maxAnswer {
				return r, fmt.Errorf("Content-Length: %.40q", value)
			}
		case "Transfer-Encoding":
			chunked = strings.EqualFold(value, "chunked")
		case "Connection":
			w.last = strings.EqualFold(value, "close")
		case "Content-Type":
			r.kind = value
		case "Mcp-Session-Id":
			r.session = value
		}
	}
	if err != nil {
		return r, err
	}
	r.body, err = w.rest(body, length, chunked, r.status)
	return r, err
}

// rest reads the body of an answer.
func (w *wire) rest(body []byte, length int64, chunked bool, status int) ([]byte, error) {
	switch {
	case chunked:
		in := io.LimitReader(httputil.NewChunkedReader(w.in), maxAnswer)
		for {
			if len(body) == cap(body) {
				body = append(body, 0)[:len(body)]
			}
			n, err := in.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
			if err == io.EOF {
				_, err = w.line() // behind the last chunk
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
		_, err := io.ReadFull(w.in, body)
		return body, err
	case status == http.StatusNoContent || status == http.StatusNotModified:
		return body, nil
	}
	w.last = true
	rest, err := io.ReadAll(io.LimitReader(w.in, maxAnswer))
	return append(body, rest...), err
}

// line reads a line without its end.
func (w *wire) line() (string, error) {
	line, err := w.in.ReadSlice('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}
