// Package client speaks obs-websocket 5 with OBS: it says who it is, asks requests and gives their answers, over one
// connection.
//
// It never connects again by itself, subscribes to no events, knows nothing of companions, and a password of
// its is in no error.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Why OBS does not let somebody in. The texts say what to do.
var (
	ErrPassword   = errors.New("OBS refuses the password: copy it from Tools > WebSocket Server Settings > Show Connect Info into what secrets.password of the handler names")
	ErrNoPassword = errors.New("OBS wants a password, and none is set: copy it from Tools > WebSocket Server Settings > Show Connect Info, and write where it is as secrets = { password = \"credential:obs\" } of the handler")
)

// ErrAddress is that an address cannot be one of OBS.
var ErrAddress = errors.New("the address of OBS has to be like ws://127.0.0.1:4455")

// Close codes of the protocol that say more than that a connection has ended.
const (
	closeAuthentication = 4009
	closeVersion        = 4010
	closeKicked         = 4011
)

// Bounds of a connection. A screenshot is a text of some hundred kilobytes.
const (
	mostFrame   = 16 << 20         // bytes
	greeting    = 10 * time.Second // from dialling to Identified
	sending     = 5 * time.Second
	pingEvery   = 10 * time.Second
	silentAtAll = 3 * pingEvery // then nobody is there any more
)

// Code is why OBS did not do what was requested. 100 is that it did.
type Code int

// Codes that are known here by name.
const (
	CodeNotReady Code = 207 // OBS is starting, or changes its collection of scenes
	CodeNotFound Code = 600 // it has no scene, item or input of that name
)

// Refused is the error of a request that OBS answered with another code than 100.
type Refused struct {
	Request string
	Code    Code
	Comment string // of OBS; may be empty
}

// Error gives all that OBS said.
func (r *Refused) Error() string {
	if r.Comment == "" {
		return fmt.Sprintf("OBS refuses %s with code %d", r.Request, r.Code)
	}
	return fmt.Sprintf("OBS refuses %s with code %d: %s", r.Request, r.Code, r.Comment)
}

// CodeOf gives the code of a request that OBS refused, 0 where it is another error.
func CodeOf(err error) Code {
	var r *Refused
	if errors.As(err, &r) {
		return r.Code
	}
	return 0
}

// Conn is a connection to OBS that is let in. Its methods may be called from many goroutines.
type Conn struct {
	ws      *websocket.Conn
	version string
	done    chan struct{} // closed when the connection has ended

	writing sync.Mutex

	mu      sync.Mutex
	last    int // number of the newest request
	waiting map[string]chan<- response
	err     error // why it has ended
}

// checkAddress reports why an address is none of OBS. A password in it is not said again.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Errorf("%w, and it cannot be read", ErrAddress)
	case u.User != nil:
		return fmt.Errorf("%w, and the password as a secret", ErrAddress)
	case u.Scheme != "ws" && u.Scheme != "wss", u.Host == "":
		return fmt.Errorf("%w, and it is %.100q", ErrAddress, address)
	}
	return nil
}

// Dial connects to OBS at an address such as ws://127.0.0.1:4455 and says who it is, within ctx and ten seconds. The errors
// are ErrAddress, ErrPassword, ErrNoPassword, and others, such as that nobody listens there.
func Dial(ctx context.Context, address, password string) (*Conn, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	ended := func() bool { return true }
	dialer := websocket.Dialer{
		Subprotocols: []string{"obswebsocket.json"},
		NetDialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, at)
			if err == nil { // the dialer hears of an end only while it connects
				ended = context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		},
	}
	ws, version, err := enter(ctx, dialer, address, password)
	if !ended() || ctx.Err() != nil {
		if ws != nil {
			_ = ws.Close()
		}
		return nil, fmt.Errorf("OBS at %s does not greet: %w", address, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	return start(ws, version), nil
}

// start has a connection taken care of that was let in.
func start(ws *websocket.Conn, version string) *Conn {
	c := &Conn{ws: ws, version: version, done: make(chan struct{}), waiting: map[string]chan<- response{}}
	c.alive()
	go c.receive()
	go c.ping()
	return c
}

// enter connects, and is let in.
func enter(ctx context.Context, dialer websocket.Dialer, address, password string) (ws *websocket.Conn, version string, err error) {
	ws, _, err = dialer.DialContext(ctx, address, nil)
	if errors.Is(err, websocket.ErrBadHandshake) {
		return nil, "", fmt.Errorf("no obs-websocket listens at %s but another server", address)
	} else if err != nil {
		return nil, "", err
	}
	if version, err = greet(ws, password); err != nil {
		_ = ws.Close()
		return nil, "", err
	}
	return ws, version, nil
}

// greet says who it is, and gives the version of obs-websocket.
func greet(ws *websocket.Conn, password string) (version string, err error) {
	ws.SetReadLimit(mostFrame)
	var h hello
	if err := read(ws, opHello, &h); err != nil {
		return "", err
	}
	i := identify{RPC: rpcVersion}
	if h.Authentication != nil {
		if password == "" {
			return "", ErrNoPassword
		}
		i.Authentication = proof(password, *h.Authentication)
	}
	text, err := encode(opIdentify, i)
	if err != nil {
		return "", err
	}
	if err := ws.WriteMessage(websocket.TextMessage, text); err != nil {
		return "", err
	}
	return h.Version, read(ws, opIdentified, &struct{}{})
}

// read takes a frame with a certain op.
func read(ws *websocket.Conn, op int, d any) error {
	_, text, err := ws.ReadMessage()
	if err != nil {
		return why(err)
	}
	return decode(text, op, d)
}

// why gives the reason for which OBS ended a connection, where it said one.
func why(err error) error {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("OBS has said nothing for %v", silentAtAll)
	}
	var c *websocket.CloseError
	if !errors.As(err, &c) {
		return err
	}
	switch c.Code {
	case closeAuthentication:
		return ErrPassword
	case closeVersion:
		return fmt.Errorf("OBS speaks another version of its protocol than %d: install OBS 28 or newer", rpcVersion)
	case closeKicked:
		return errors.New("somebody ended the connection in OBS, in Tools > WebSocket Server Settings")
	}
	return err
}

// Version gives that of obs-websocket, such as 5.1.0.
func (c *Conn) Version() string { return c.version }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err gives why the connection has ended, nil before.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection.
func (c *Conn) Close() { c.End(errors.New("it was closed")) }

// End ends the connection for a reason, which Err gives; of several the first counts.
func (c *Conn) End(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	_ = c.ws.Close()
	close(c.done)
}

// Request asks OBS for something. data is the request's, nil for none; the answer's data are decoded into into, where
// that is not nil. The error of one that OBS does not do is a [*Refused].
func (c *Conn) Request(ctx context.Context, kind string, data, into any) error {
	answer := make(chan response, 1)
	id := c.expect(answer)
	defer c.forget(id)
	text, err := encode(opRequest, request{kind, id, data})
	if err != nil {
		return fmt.Errorf("write %s: %w", kind, err)
	}
	if err := c.write(text); err != nil {
		return fmt.Errorf("send %s: %w", kind, err)
	}
	select {
	case r := <-answer:
		if !r.Status.Result {
			return &Refused{kind, Code(r.Status.Code), r.Status.Comment}
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(r.Data, into); err != nil {
			return fmt.Errorf("the answer to %s cannot be read: %w", kind, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("OBS does not answer %s: %w", kind, ctx.Err())
	case <-c.done:
		return fmt.Errorf("the connection ended during %s: %w", kind, c.Err())
	}
}

// expect gives a new request its id.
func (c *Conn) expect(answer chan<- response) (id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = strconv.Itoa(c.last)
	c.waiting[id] = answer
	return id
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

func (c *Conn) write(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(sending)) // of a connection that has ended the write says it
	err := c.ws.WriteMessage(websocket.TextMessage, text)
	if err != nil {
		c.End(err) // half a frame may be out
	}
	return err
}

// alive says that OBS was heard just now.
func (c *Conn) alive() { _ = c.ws.SetReadDeadline(time.Now().Add(silentAtAll)) }

// receive takes what OBS says until the connection ends.
func (c *Conn) receive() {
	c.ws.SetPongHandler(func(string) error { c.alive(); return nil })
	for {
		_, text, err := c.ws.ReadMessage()
		if err != nil {
			c.End(why(err))
			return
		}
		c.alive()
		r, ok, err := decodeResponse(text)
		if err != nil {
			c.End(fmt.Errorf("OBS said %w", err))
			return
		}
		if ok {
			c.answer(r)
		}
	}
}

// answer gives a response to whoever waits for it, once.
func (c *Conn) answer(r response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to := c.waiting[r.ID]; to != nil {
		to <- r // it has room for one
		delete(c.waiting, r.ID)
	}
}

// ping has OBS say from time to time that it is there.
func (c *Conn) ping() {
	every := time.NewTicker(pingEvery)
	defer every.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-every.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(sending)) // the reader learns what came of it
		}
	}
}
