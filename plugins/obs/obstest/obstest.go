// Package obstest is as much of OBS as a test needs where the real one is not to be had: a server of obs-websocket 5 on
// loopback that lets in who knows the password, keeps what was requested, and answers as it is told to.
//
// The program never uses it, and it knows nothing of how OBS works: the tests against the real one do.
package obstest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// A challenge, and the answer to it by the password "秘密の合言葉", computed by openssl.
const (
	Password  = "秘密の合言葉"
	Salt      = "c2FsdCBmb3IgYSB0ZXN0"
	Challenge = "Y2hhbGxlbmdlIGZvciBhIHRlc3Q="
	Proof     = "DLLB1l+XearuTNqXPftZYnrnrHbh8Am+Vsqm0UwSqDA="
)

// Request is one that came.
type Request struct {
	Type string          `json:"requestType"`
	ID   string          `json:"requestId"`
	Data json.RawMessage `json:"requestData"`
}

// Answer is what OBS says to a request. Its zero value is that it is done.
type Answer struct {
	Code    int // 0 is 100
	Comment string
	Data    any
	Silent  bool // it says nothing
}

// OBS is a server. Its fields are set before the first connection.
type OBS struct {
	Address string               // ws://127.0.0.1:PORT
	Answer  func(Request) Answer // nil says to all that it is done
	Open    bool                 // it wants no password

	t      testing.TB
	server *httptest.Server
	came   chan Request

	mu    sync.Mutex
	conns map[*websocket.Conn]bool
	all   []Request
}

// New starts a server, which ends with the test.
func New(t testing.TB) *OBS {
	o := &OBS{t: t, came: make(chan Request, 1000), conns: map[*websocket.Conn]bool{}}
	o.server = httptest.NewServer(http.HandlerFunc(o.serve))
	o.Address = "ws" + strings.TrimPrefix(o.server.URL, "http")
	t.Cleanup(o.Close)
	return o
}

// Close ends the server, and all connections, which are not the HTTP server's any more.
func (o *OBS) Close() {
	o.Drop()
	o.server.Close()
}

// Drop ends all connections at once, as an OBS that is killed.
func (o *OBS) Drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.conns {
		_ = c.NetConn().Close()
	}
}

// Send says a text on all connections.
func (o *OBS) Send(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.conns {
		_ = c.WriteMessage(websocket.TextMessage, []byte(text)) // one that is gone is no matter
	}
}

// Next waits for the next request.
func (o *OBS) Next() Request {
	o.t.Helper()
	select {
	case r := <-o.came:
		return r
	case <-time.After(time.Minute):
		o.t.Fatal("no request came")
	}
	return Request{}
}

// Requests gives all that came.
func (o *OBS) Requests() []Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]Request(nil), o.all...)
}

func (o *OBS) serve(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{"obswebsocket.json"}}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if !o.greet(conn) {
		return
	}
	o.mu.Lock()
	o.conns[conn] = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.conns, conn)
	}()
	for {
		var asked struct {
			Op int
			D  Request
		}
		if err := conn.ReadJSON(&asked); err != nil {
			return
		}
		o.take(conn, asked.D)
	}
}

// greet lets somebody in, or not.
func (o *OBS) greet(conn *websocket.Conn) bool {
	h := map[string]any{"obsWebSocketVersion": "5.1.0", "rpcVersion": 1}
	if !o.Open {
		h["authentication"] = map[string]string{"challenge": Challenge, "salt": Salt}
	}
	var said struct {
		Op int
		D  struct{ Authentication string }
	}
	if conn.WriteJSON(map[string]any{"op": 0, "d": h}) != nil || conn.ReadJSON(&said) != nil {
		return false
	}
	if said.Op != 1 || !o.Open && said.D.Authentication != Proof {
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4009, "Authentication failed."))
		return false
	}
	return conn.WriteJSON(map[string]any{"op": 2, "d": map[string]any{"negotiatedRpcVersion": 1}}) == nil
}

// take keeps a request, and answers it.
func (o *OBS) take(conn *websocket.Conn, r Request) {
	var a Answer
	if o.Answer != nil {
		a = o.Answer(r)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, r)
	o.came <- r
	if a.Silent {
		return
	}
	if a.Code == 0 {
		a.Code = 100
	}
	_ = conn.WriteJSON(map[string]any{"op": 7, "d": map[string]any{
		"requestType": r.Type, "requestId": r.ID, "responseData": a.Data,
		"requestStatus": map[string]any{"result": a.Code == 100, "code": a.Code, "comment": a.Comment},
	}}) // one that is gone needs no answer
}
