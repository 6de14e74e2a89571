package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// wire is one connection to a server, for one request after the other. The
// standard transport hands each request from goroutine to goroutine, which costs
// more than a fast server's answer and would be measured with it. Answers must
// be read to their end before the next request.
type wire struct {
	dialer net.Dialer
	conn   net.Conn
	in     *bufio.Reader
	out    *bufio.Writer
	until  time.Time // the connection's deadline
	last   bool      // the server takes no more requests on it
}

// newClient makes a client with one connection. It asks no proxy, follows no
// redirect and connects to this machine only, whatever "localhost" stands for.
func newClient() *http.Client {
	w := &wire{dialer: net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("%s is not a loopback address", address)
		}
		return nil
	}}}
	return &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RoundTrip sends a request and reads the head of its answer.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.last {
		w.CloseIdleConnections()
	}
	if w.conn == nil {
		conn, err := w.dialer.DialContext(r.Context(), "tcp", r.URL.Host)
		if err != nil {
			return nil, err
		}
		w.conn, w.in, w.out, w.until, w.last = conn, bufio.NewReader(conn), bufio.NewWriter(conn), time.Time{}, false
	}
	if until, ok := r.Context().Deadline(); ok && !until.Equal(w.until) {
		w.until = until
		_ = w.conn.SetDeadline(until) // a connection that is gone says so at once
	}
	res, err := w.exchange(r)
	if err != nil {
		w.CloseIdleConnections()
		return nil, err
	}
	w.last = res.Close
	return res, nil
}

func (w *wire) exchange(r *http.Request) (*http.Response, error) {
	if err := r.Write(w.out); err != nil {
		return nil, err
	}
	if err := w.out.Flush(); err != nil {
		return nil, err
	}
	return http.ReadResponse(w.in, r)
}

// CloseIdleConnections closes the connection.
func (w *wire) CloseIdleConnections() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}
