// Package follow is a client of the feed of rooms, for tools: it goes on where it was, whatever becomes of the connection.
//
// It never serves anybody, and keeps no entry.
package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/unread"
	"github.com/companiond/companiond/host/entry"
)

// Client follows rooms from outside, for tools. The zero value but for URL
// works.
type Client struct {
	// URL is the daemon's, "http://127.0.0.1:3000".
	URL string
	// Header goes with every request, an Authorization for example.
	Header http.Header
	// Dial makes connections. Nil means a net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Patience is how long the daemon may be silent; it pings every 27 s. Zero
	// means 60 s.
	Patience time.Duration
	// Retry is told why the connection was lost or could not be made, and how
	// long it waits now. Nil means nobody is told.
	Retry func(err error, wait time.Duration)
	// Unreadable is told that the entries first to last cannot be read, and why. Asking for them
	// again would give the same, so Follow goes on behind them. Nil means that it ends there.
	Unreadable func(first, last uint64, why error)
}

// How long a client waits before it connects again: the first time, and at most.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 10 * time.Second
)

// goodbye bounds the close handshake.
const goodbye = time.Second

// maxFrame bounds what the daemon may send as one entry; a decision that ranks
// hundreds of voters is far below.
const maxFrame = 16 << 20

// Follow calls fn with every entry of the room with Seq > since, in order, none
// missing, none twice, but for those that cannot be read: see Unreadable. Over a lost connection it connects again, at first after
// 250 ms, in the end every 10 s, and goes on where it was.
//
// # Errors
//
// It returns what fn returns, ctx's error when ctx ends, and an *abi.Error when
// the daemon refuses in a way that will not change: no such room, a since
// beyond the room's head, a request it does not allow, a journal that it cannot read on in.
func (c Client) Follow(ctx context.Context, room string, since uint64, fn func(entry.Entry) error) error {
	wait := firstWait
	at := unread.Place{Room: room, Seen: since, Told: c.Unreadable}
	for {
		before := at.Seen
		err := c.once(ctx, &at, fn)
		var final *finalError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &final):
			return final.err
		case at.Seen > before:
			wait = firstWait
		}
		if errors.Is(err, errPassed) {
			continue // each time one entry further
		}
		if c.Retry != nil {
			c.Retry(err, wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, lastWait)
	}
}

// finalError is an error that connecting again cannot help.
type finalError struct{ err error }

func (f *finalError) Error() string { return f.err.Error() }

// once connects and reads until the connection ends.
func (c Client) once(ctx context.Context, at *unread.Place, fn func(entry.Entry) error) error {
	conn, err := c.connect(ctx, at.Room, at.Seen)
	if err != nil {
		return err
	}
	bye := func() {
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(goodbye))
		_ = conn.Close()
	}
	defer bye()
	defer context.AfterFunc(ctx, bye)()
	patience := c.Patience
	if patience == 0 {
		patience = 60 * time.Second
	}
	conn.SetReadLimit(maxFrame)
	pong := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		return pong(data)
	})
	for {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return ended(err, at)
		}
		var e entry.Entry
		err = json.Unmarshal(frame, &e)
		switch {
		case e.Seq == 0:
			return &finalError{fmt.Errorf("room %s: the frame behind entry %d is no entry: %w", at.Room, at.Seen, cmp.Or(err, errors.New("it has no seq")))}
		case e.Seq <= at.Seen:
			continue
		case err != nil:
			err = at.Pass(e.Seq, err)
		default:
			err = at.Reach(e.Seq)
		}
		if err == nil && e.Seq > at.Seen { // it was not passed
			err = fn(e)
		}
		if err != nil {
			return &finalError{err}
		}
		at.Seen = e.Seq
	}
}

// errPassed ends a connection behind an entry that cannot be read: another one begins there.
var errPassed = errors.New("an entry was passed over")

// ended says what the end of a connection means.
func ended(err error, at *unread.Place) error {
	var closed *websocket.CloseError
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		err = at.Pass(at.Seen+1, fmt.Errorf("it has more than %d MiB", maxFrame>>20))
	case !errors.As(err, &closed) || closed.Code != unread.CloseCode:
		return fmt.Errorf("read the feed: %w", err)
	default:
		err = fmt.Errorf("room %s cannot be read on behind entry %d: %s", at.Room, at.Seen, closed.Text)
		if bad, ok := unread.In(closed.Text); ok && uint64(bad) > at.Seen {
			err = at.Pass(uint64(bad), errors.New("its body is no JSON"))
		}
	}
	if err != nil {
		return &finalError{err}
	}
	return errPassed
}

func (c Client) connect(ctx context.Context, room string, since uint64) (*websocket.Conn, error) {
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, &finalError{abi.Errorf(abi.CodeInvalid, "url: %q is not http://host:port", c.URL)}
	}
	u = u.JoinPath("v1", "rooms", url.PathEscape(room), "feed")
	u.RawQuery = url.Values{"since": {strconv.FormatUint(since, 10)}}.Encode()
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, NetDialContext: c.Dial, HandshakeTimeout: 10 * time.Second}
	conn, answer, err := d.DialContext(ctx, u.String(), c.Header)
	if err != nil && answer != nil {
		return nil, refusal(answer)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", u.Host, err)
	}
	return conn, nil
}

// refusal turns an HTTP answer into an error, final where asking again would
// give the same.
func refusal(answer *http.Response) error {
	var problem struct {
		Code   abi.Code
		Detail string
		Retry  bool
	}
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	known := abi.Errorf(abi.CodeUnavailable, "the server answered %s", answer.Status)
	if json.Unmarshal(body, &problem) == nil && problem.Code != "" {
		known = &abi.Error{Code: problem.Code, Message: problem.Detail, Retry: problem.Retry}
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict:
		return &finalError{known}
	}
	return known
}
