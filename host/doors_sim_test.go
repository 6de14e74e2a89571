package host_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/waittest"
)

// The simulation: clients in thousands that come to the whole daemon and vanish, and one that
// comes from the same address every now and then and means it.

const (
	vanishing  = 5000
	everySoOft = 50
	ghosts     = 300 // of those that vanished, how many the daemon cannot know to be gone
)

// inThousands runs visits, some at a time, and between them one of the client that means it. What
// the daemon has in memory may not grow with them.
func inThousands(t *testing.T, visit, meant func(i int)) {
	t.Helper()
	early := uint64(0)
	for from := 0; from < vanishing; from += everySoOft {
		var wg sync.WaitGroup
		next := atomic.Int64{}
		for range 4 {
			wg.Go(func() {
				for i := next.Add(1); i <= everySoOft; i = next.Add(1) {
					visit(from + int(i))
				}
			})
		}
		wg.Wait()
		meant(from)
		if t.Failed() {
			t.FailNow()
		}
		if from == vanishing/5 {
			early = heap()
		}
	}
	if late := heap(); late > early+16<<20 {
		t.Errorf("%d MiB after %d clients, %d MiB after %d", early>>20, vanishing/5, late>>20, vanishing)
	}
}

// heap gives the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// socketFrom connects from an address of this machine.
func (h *home) socketFrom(address, path string) (*websocket.Conn, *http.Response, error) {
	local := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	d := websocket.Dialer{NetDialContext: local.DialContext, HandshakeTimeout: waittest.Long}
	return d.DialContext(h.t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+path, nil)
}

// elsewhere gives another address of this machine, or skips the test where it has but one,
// as macOS does.
func elsewhere(t *testing.T) string {
	t.Helper()
	const address = "127.0.0.2"
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skip("this machine has one loopback address only: ", err)
	}
	_ = l.Close() // nobody connected
	return address
}

// sees checks that a socket gets the room's first entry, and says goodbye.
func sees(t *testing.T, c *websocket.Conn, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("not served: %v", err)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(waittest.Long))
	if _, frame, err := c.ReadMessage(); err != nil || !strings.Contains(string(frame), `"seq":1,`) {
		t.Errorf("not served: %v %s", err, frame)
	}
	_ = c.Close()
}

// TestSocketsThatVanish, most by a crash and some without a word, as where a cable is pulled:
// another client of their address is served each time, and a body is there all the while.
func TestSocketsThatVanish(t *testing.T) {
	waittest.WithoutRaces(t)
	h := openNikoni(t, "[room.main]\npolicy = \"pool\"\n")
	h.say("main", "taro", "hello")
	body, _, err := h.socketFrom("127.0.0.1", "/v1/actions?companion=nikoni&room=main&playback=1")
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		for {
			if _, _, err := body.ReadMessage(); err != nil {
				gone <- err
				return
			}
		}
	}()

	silent := make(chan *websocket.Conn, ghosts)
	inThousands(t, func(i int) {
		c, _, err := h.socketFrom("127.0.0.1", []string{"/", "/v1/rooms/main/feed?since=0"}[i%2])
		if err != nil {
			t.Errorf("client %d: %v", i, err)
			return
		}
		if i%10 < 8 {
			_ = c.NetConn().Close()
			return
		}
		for {
			select {
			case silent <- c: // nobody reads from it any more
				return
			default:
				_ = (<-silent).NetConn().Close()
			}
		}
	}, func(int) {
		c, _, err := h.socketFrom("127.0.0.1", "/v1/rooms/main/feed?since=0")
		sees(t, c, err)
	})
	select {
	case err := <-gone:
		t.Errorf("the body was sent away: %v", err)
	default:
	}
	_ = body.Close()
	<-gone
	for range len(silent) {
		_ = (<-silent).NetConn().Close()
	}
}

// TestOneAddressTakesAll: 256 clients of one address that stay keep neither the next of the
// same address out, nor one of another; as many bodies as one may have leave some places, and
// who is refused is told when to come again.
func TestOneAddressTakesAll(t *testing.T) {
	other := elsewhere(t)
	h := openNikoni(t, "[room.main]\npolicy = \"pool\"\n")
	h.say("main", "taro", "hello")
	const total, share = 256, 192
	connect := func(n int, path string) {
		t.Helper()
		for i := range n {
			c, answer, err := h.socketFrom("127.0.0.1", path)
			if err != nil {
				t.Fatalf("client %d: %v %v", i, err, answer)
			}
			t.Cleanup(func() { _ = c.NetConn().Close() })
		}
	}
	connect(total, "/v1/rooms/main/feed")
	for _, address := range []string{"127.0.0.1", other} {
		c, _, err := h.socketFrom(address, "/v1/rooms/main/feed?since=0")
		sees(t, c, err)
	}
	const body = "/v1/actions?companion=nikoni&room=main"
	connect(share, body)
	_, answer, err := h.socketFrom("127.0.0.1", body)
	if err == nil || answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "60" {
		t.Errorf("a body more than one caller may have: %v %v", err, answer)
	}
	c, _, err := h.socketFrom(other, body+"&since=0")
	if err != nil {
		t.Errorf("a body of another address: %v", err)
	} else {
		defer c.NetConn().Close()
	}
	c, _, err = h.socketFrom("127.0.0.1", "/v1/rooms/main/feed?since=0")
	sees(t, c, err)
}

// agentFrom begins a session of MCP at an address of this machine, as a client would that
// is started again and again.
type agentFrom struct {
	h      *home
	client *http.Client
}

func (h *home) agentFrom(address string) *agentFrom {
	local := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: local.DialContext, MaxIdleConnsPerHost: 8}
	h.t.Cleanup(transport.CloseIdleConnections)
	return &agentFrom{h: h, client: &http.Client{Transport: transport}}
}

// ask makes a request in the session, if there is one.
func (a *agentFrom) ask(body, session string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(a.h.t.Context(), http.MethodPost, a.h.url+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// begin opens one more session and gives its id.
func (a *agentFrom) begin() (id string, err error) {
	resp, body, err := a.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, "")
	if err != nil {
		return "", err
	}
	if id = resp.Header.Get("Mcp-Session-Id"); resp.StatusCode != http.StatusOK || id == "" {
		return "", fmt.Errorf("initialize: %s, again after %q s: %s", resp.Status, resp.Header.Get("Retry-After"), body)
	}
	return id, nil
}

// works checks that a session answers.
func (a *agentFrom) works(id string) error {
	resp, body, err := a.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`, id)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"result"`) {
		return fmt.Errorf("status: %s: %s", resp.Status, body)
	}
	return nil
}

// TestOneAddressWaitsForAll: calls that wait are shared out as well, and who is refused is told
// how long that lasts.
func TestOneAddressWaitsForAll(t *testing.T) {
	another := elsewhere(t)
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	wait := func(i int, seconds float64) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait_for_turn","arguments":{"from":"agent%d","timeout_seconds":%v}}}`, i, i, seconds)
	}
	a, b := h.agentFrom("127.0.0.1"), h.agentFrom(another)
	id, err := a.begin()
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.begin()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	const share = 192
	refused, served := make(chan string, share+1), atomic.Int64{}
	for i := range share + 1 {
		all.Go(func() {
			_, body, err := a.ask(wait(i, 50), id)
			switch {
			case err != nil:
				t.Error(err)
			case strings.Contains(body, "try again in"):
				refused <- body
			case strings.Contains(body, "stopping"):
				served.Add(1)
			default:
				t.Errorf("agent%d: %s", i, body)
			}
		})
	}
	var body string
	select {
	case body = <-refused:
	case <-time.After(waittest.Long):
		t.Error("nobody is refused")
	}
	if !strings.Contains(body, "192 waiting calls of yours are in use") || !strings.Contains(body, "exhausted") {
		t.Errorf("refused: %s", body)
	}
	if _, body, err := b.ask(wait(1000, 0.1), other); err != nil || !strings.Contains(body, `timeout`) {
		t.Errorf("another address: %v %s", err, body)
	}
	h.stop() // those who wait are told
	all.Wait()
	if n := served.Load(); n != share {
		t.Errorf("%d waited", n)
	}
}

// TestSessionsThatVanish are begun and never ended, as by a client in a loop of crashes:
// another client of their address is served each time, and one that does something now and
// then keeps its session.
func TestSessionsThatVanish(t *testing.T) {
	waittest.WithoutRaces(t)
	another := elsewhere(t)
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	a := h.agentFrom("127.0.0.1")
	lasting, err := a.begin()
	if err != nil {
		t.Fatal(err)
	}
	inThousands(t, func(i int) {
		if _, err := a.begin(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
	}, func(i int) {
		id, err := a.begin()
		if err == nil {
			err = a.works(id)
		}
		if err != nil {
			t.Errorf("after %d: %v", i, err)
		}
		if err := a.works(lasting); err != nil {
			t.Errorf("after %d, who stays: %v", i, err)
		}
	})
	b := h.agentFrom(another)
	id, err := b.begin()
	if err == nil {
		err = b.works(id)
	}
	if err != nil {
		t.Errorf("another address: %v", err)
	}
}
