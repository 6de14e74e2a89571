// Package studio speaks the public API of VTube Studio: requests and their answers, and events, as JSON over a
// WebSocket.
//
// It decides nothing: it asks nobody for a token, dials once, and does not come back when the connection ends.
package studio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gorilla/websocket"
)

// Names of the envelope.
const (
	APIName    = "VTubeStudioPublicAPI"
	APIVersion = "1.0"
)

// Envelope is what goes both ways.
type Envelope struct {
	APIName     string          `json:"apiName"`
	APIVersion  string          `json:"apiVersion"`
	Timestamp   int64           `json:"timestamp,omitempty"` // milliseconds; answers and events have it
	RequestID   string          `json:"requestID"`
	MessageType string          `json:"messageType"`
	Data        json.RawMessage `json:"data,omitempty"`
}

// Error is what VTube Studio refused.
type Error struct {
	ID      int    `json:"errorID"`
	Message string `json:"message"`
}

// Error gives it in words, of which what does not show is left out: they go to logs, and to companions.
func (e *Error) Error() string {
	message := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, e.Message)
	return fmt.Sprintf("VTube Studio says: %.300s (%d)", message, e.ID)
}

// IDs of errors that mean something to the callers.
const (
	ErrAPIOff           = 1
	ErrNotAuthenticated = 8
	ErrDenied           = 50 // the person who was asked said no, or took the permission back
	ErrAsking           = 51 // somebody is being asked already
	ErrHotkeyQueueFull  = 200
	ErrHotkeyCooldown   = 203
	ErrNoParameter      = 453
	ErrControlled       = 454 // by another plugin
)

// ID gives the number of what VTube Studio refused, -1 where err is something else.
func ID(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.ID
	}
	return -1
}

// Bounds of a connection.
const (
	patience    = 10 * time.Second // to dial, and for one message to be written
	pingEvery   = 10 * time.Second
	silence     = 35 * time.Second // after which the other side is taken for gone
	mostWaiting = 256              // requests without an answer; more of them: the other side hangs
	mostRead    = 4 << 20          // bytes of a message
)

// Dial is how a connection is made; the zero value of net.Dialer has it.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Conn is a connection. Its methods may be called from several goroutines.
type Conn struct {
	ws    *websocket.Conn
	event func(name string, data json.RawMessage)
	ended chan struct{}

	writing sync.Mutex

	mu    sync.Mutex
	last  int
	waits map[string]func(Envelope, error)
	why   error
}

// Open connects to VTube Studio at HOST:PORT. Event is called with every event, and never beside itself; it must
// neither wait nor ask.
func Open(ctx context.Context, dial Dial, address string, event func(name string, data json.RawMessage)) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d := websocket.Dialer{NetDialContext: dial, HandshakeTimeout: patience}
	ws, answer, err := d.DialContext(ctx, "ws://"+address, nil)
	if err != nil {
		if answer != nil {
			return nil, fmt.Errorf("%s is no WebSocket: it answers %s", address, answer.Status)
		}
		return nil, err
	}
	c := &Conn{ws: ws, event: event, ended: make(chan struct{}), waits: map[string]func(Envelope, error){}}
	ws.SetReadLimit(mostRead)
	alive := func(string) error { return ws.SetReadDeadline(time.Now().Add(silence)) }
	_ = alive("") // a connection that is gone tells at the next read
	ws.SetPongHandler(alive)
	go c.read()
	go c.ping()
	return c, nil
}

// Ended is closed when the connection has ended.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Err gives why the connection ended, nil while it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Close ends the connection for a reason, the first that is given.
func (c *Conn) Close(why error) {
	c.mu.Lock()
	if c.why != nil {
		c.mu.Unlock()
		return
	}
	c.why = why
	waits := c.waits
	c.waits = nil
	c.mu.Unlock()
	close(c.ended)
	_ = c.ws.Close()
	for _, tell := range waits {
		tell(Envelope{}, why)
	}
}

// Ask sends a request, such as "HotkeyTriggerRequest", and waits for its answer, which into, a pointer or nil, takes.
func (c *Conn) Ask(ctx context.Context, request string, data, into any) error {
	type told struct {
		answer Envelope
		err    error
	}
	answers := make(chan told, 1)
	id, err := c.send(request, data, func(e Envelope, err error) { answers <- told{e, err} })
	if err != nil {
		return err
	}
	select {
	case a := <-answers:
		if a.err != nil {
			return a.err
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(a.answer.Data, into); err != nil {
			return fmt.Errorf("read the answer to %s: %w", request, err)
		}
		return nil
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("%s: no answer: %w", request, ctx.Err())
	}
}

// Tell sends a request, and calls failed, which must neither wait nor ask, where it is refused.
func (c *Conn) Tell(request string, data any, failed func(error)) error {
	_, err := c.send(request, data, func(_ Envelope, err error) {
		if err != nil {
			failed(err)
		}
	})
	return err
}

// send writes a request, and says who is told of its answer.
func (c *Conn) send(request string, data any, tell func(Envelope, error)) (id string, err error) {
	body, err := json.Marshal(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", request, err)
	}
	c.mu.Lock()
	if c.why != nil {
		defer c.mu.Unlock()
		return "", c.why
	}
	full := len(c.waits) >= mostWaiting
	if !full {
		c.last++
		id = strconv.Itoa(c.last)
		c.waits[id] = tell
	}
	c.mu.Unlock()
	if full {
		err := fmt.Errorf("VTube Studio hangs: %d requests have no answer", mostWaiting)
		c.Close(err)
		return "", err
	}
	frame, err := json.Marshal(Envelope{APIName: APIName, APIVersion: APIVersion, RequestID: id, MessageType: request, Data: body})
	if err != nil {
		return "", fmt.Errorf("%s: %w", request, err)
	}
	c.writing.Lock()
	err = c.ws.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		err = c.ws.WriteMessage(websocket.TextMessage, frame)
	}
	c.writing.Unlock()
	if err != nil {
		c.forget(id)
		c.Close(fmt.Errorf("write: %w", err))
		return "", c.Err()
	}
	return id, nil
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, id)
}

// read hears what comes, until the connection ends.
func (c *Conn) read() {
	for {
		_, frame, err := c.ws.ReadMessage()
		if err != nil {
			c.Close(fmt.Errorf("read: %w", err))
			return
		}
		var e Envelope
		if err := json.Unmarshal(frame, &e); err != nil {
			continue // whatever that is, it answers nothing
		}
		c.mu.Lock()
		tell, mine := c.waits[e.RequestID]
		mine = mine && answers(e.MessageType)
		if mine {
			delete(c.waits, e.RequestID)
		}
		c.mu.Unlock()
		switch {
		case mine && e.MessageType == "APIError":
			refused := &Error{ID: -1}
			if err := json.Unmarshal(e.Data, refused); err != nil {
				tell(e, fmt.Errorf("read an error of VTube Studio: %w", err))
				continue
			}
			tell(e, refused)
		case mine:
			tell(e, nil)
		case !answers(e.MessageType):
			c.event(e.MessageType, e.Data)
		}
	}
}

// answers reports whether a message is the answer to a request, and no event.
func answers(kind string) bool {
	return kind == "APIError" || strings.HasSuffix(kind, "Response")
}

// ping asks whether the other side is there.
func (c *Conn) ping() {
	every := time.NewTicker(pingEvery)
	defer every.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-every.C:
			// WriteControl may be called beside a write; one that fails is told by the read.
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(patience))
		}
	}
}
