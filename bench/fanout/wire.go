package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A text is mark, the message's number, a blank, and as many letters as are wanted.
const (
	mark    = "fanout "
	minSize = len(mark) + 20
)

// text gives the text of a message.
func text(n int64, size int) string {
	t := mark + strconv.FormatInt(n, 10) + " "
	return t + strings.Repeat("x", max(0, size-len(t)))
}

// numberOf finds the number of the message that a frame has.
func numberOf(frame []byte) (n int64, ok bool) {
	i := bytes.Index(frame, []byte(mark))
	if i < 0 {
		return 0, false
	}
	for _, c := range frame[i+len(mark):] {
		if c < '0' || c > '9' {
			break
		}
		n, ok = 10*n+int64(c-'0'), true
	}
	return n, ok
}

// post says one message after another, each when the one before has come to all.
func post(ctx context.Context, s settings, m *meter, until time.Time) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for time.Now().Before(until) {
		n, msg := m.begin()
		body := strings.Replace(s.body, "@", text(n, s.size), 1)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+s.post, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		_ = res.Body.Close()
		if err != nil {
			return fmt.Errorf("post: %w", err)
		}
		if res.StatusCode >= 300 {
			return fmt.Errorf("post: %s: %.200s", res.Status, answer)
		}
		select {
		case <-msg.all:
			m.done(n, msg)
		case <-m.gone:
			return nil // who ended it has said why
		case <-ctx.Done():
			return fmt.Errorf("message %d came to %d of %d clients in time", n, msg.arrived.Load(), s.clients)
		}
	}
	return nil
}

// client is a WebSocket that listens.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

// dial shakes hands.
func dial(ctx context.Context, address string) (*client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stuck)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &client{conn, bufio.NewReaderSize(conn, 4<<10)}
	_ = conn.SetDeadline(time.Now().Add(stuck))
	_, err = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", u.Host)
	if err == nil {
		var res *http.Response
		if res, err = http.ReadResponse(c.in, nil); err == nil && res.StatusCode != http.StatusSwitchingProtocols {
			answer, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
			err = fmt.Errorf("handshake: %s: %s", res.Status, answer)
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return c, nil
}

// read tells of each message until the connection ends, and gives the reason. Only what a server sends
// is read: no mask, messages in one frame.
func (c *client) read(came func(n int64)) error {
	frame := make([]byte, 0, 4<<10)
	for {
		var head [10]byte
		if _, err := io.ReadFull(c.in, head[:2]); err != nil {
			return err
		}
		size := uint64(head[1])
		if more := map[byte]int{126: 2, 127: 8}[head[1]]; more > 0 {
			if _, err := io.ReadFull(c.in, head[2:2+more]); err != nil {
				return err
			}
			size = binary.BigEndian.Uint64(append(make([]byte, 8-more), head[2:2+more]...))
		}
		if size > 1<<20 {
			return fmt.Errorf("a frame of %d bytes", size)
		}
		if uint64(cap(frame)) < size {
			frame = make([]byte, 0, size)
		}
		frame = frame[:size]
		if _, err := io.ReadFull(c.in, frame); err != nil {
			return err
		}
		switch head[0] {
		case 0x81:
			if n, ok := numberOf(frame); ok {
				came(n)
			}
		case 0x88:
			return fmt.Errorf("the server said goodbye: %q", frame)
		case 0x89:
			if err := c.pong(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a frame that begins with %#x", head[0])
		}
	}
}

// pong answers a ping, masked with zeros as a client has to.
func (c *client) pong() error {
	_, err := c.conn.Write([]byte{0x8a, 0x80, 0, 0, 0, 0})
	return err
}

// open reads what is on its way to a client that stalled, and says whether that has no end.
func (c *client) open() bool {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, err := io.Copy(io.Discard, c.in)
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

func (c *client) close() { _ = c.conn.Close() }
