package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// server sends each message to all who have connected, as a test wants it to.
type server struct {
	*httptest.Server
	send func(message string) []byte // what goes out for a message

	mu      sync.Mutex
	clients []net.Conn
	hellos  []byte // goes out behind the handshake
}

func newServer(t *testing.T, send func(message string) []byte) *server {
	s := &server{send: send}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Upgrade") == "websocket" {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		s.clients = append(s.clients, conn)
		_, _ = conn.Write(append([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), s.hellos...))
		go func() { _, _ = io.Copy(io.Discard, conn); _ = conn.Close() }()
		return
	}
	body, _ := io.ReadAll(r.Body)
	for _, conn := range s.clients {
		_, _ = conn.Write(s.send(string(body)))
	}
}

// frame is a text frame as a server sends it.
func frame(text string) []byte {
	switch n := len(text); {
	case n < 126:
		return append([]byte{0x81, byte(n)}, text...)
	case n < 1<<16:
		return append([]byte{0x81, 126, byte(n >> 8), byte(n)}, text...)
	default:
		return append([]byte{0x81, 127, 0, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, text...)
	}
}

// do runs the command against a server.
func do(s *server, args ...string) (r report, errs string, code int) {
	var out, errOut bytes.Buffer
	code = doMain(append([]string{"-url", s.URL, "-d", "50ms", "-warm", "20ms"}, args...), &out, &errOut)
	_ = json.Unmarshal(out.Bytes(), &r)
	return r, errOut.String(), code
}

func TestEveryDeliveryCounts(t *testing.T) {
	for size, stalled := range map[string]int{"64": 2, "200": 0, "16384": 0} {
		var s *server
		var r report
		var errs string
		var code int
		pad := 60_000
		if stalled > 0 { // what such a client does not read fills its socket, and this server would wait for it
			pad = 600
		}
		for _, length := range []string{"50ms", "1s", "10s"} { // on a busy machine nothing may come to its end in the first
			s = newServer(t, func(m string) []byte { return frame("{" + strings.Repeat(" ", pad) + m + "}") })
			s.hellos = append(frame(`{"hello":"fanout"}`), 0x89, 0)
			r, errs, code = do(s, "-d", length, "-n", "7", "-way", "3", "-size", size, "-stalled", fmt.Sprint(stalled), "-pid", fmt.Sprint(os.Getpid()))
			if r.Messages > 0 {
				break
			}
		}
		if code != 0 || r.Clients != 7 || r.Messages == 0 || r.Deliveries != 7*r.Messages || r.Rate <= 0 || r.P50 <= 0 || r.P99 < r.P50 || r.Memory <= 0 || r.Left != stalled {
			t.Errorf("size %s: %d %+v %s", size, code, r, errs)
		}
		if len(s.clients) != 7+stalled {
			t.Errorf("%d connected", len(s.clients))
		}
	}
}

// What is posted is as it was asked for, each message with a number of its own.
func TestMessagesThatArePosted(t *testing.T) {
	var mu sync.Mutex
	var all []string
	s := newServer(t, func(m string) []byte {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
		return frame(m)
	})
	if _, errs, code := do(s, "-n", "1", "-size", "40", "-body", `{"from":"a","message":"@"}`); code != 0 {
		t.Fatal(errs)
	}
	for i, m := range all {
		want := fmt.Sprintf(`{"from":"a","message":"%s"}`, text(int64(i+1), 40))
		if m != want || len(text(int64(i+1), 40)) != 40 {
			t.Errorf("%s, want %s", m, want)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		t.Error("two messages are alike")
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		send func(string) []byte
		want string
	}{
		"a goodbye":    {func(string) []byte { return []byte{0x88, 2, 3, 0xe8} }, "goodbye"},
		"twice":        {func(m string) []byte { return append(frame(m), frame(m)...) }, "twice"},
		"binary":       {func(string) []byte { return []byte{0x82, 0} }, "begins with 0x82"},
		"a huge frame": {func(string) []byte { return []byte{0x81, 127, 1, 0, 0, 0, 0, 0, 0, 0} }, "a frame of"},
	} {
		s := newServer(t, tc.send)
		if _, errs, code := do(s, "-n", "3", "-d", "1m"); code != 1 || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	if _, errs, code := do(&server{Server: refusing}); code != 1 || !strings.Contains(errs, "client 1: handshake: 404") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestSettings(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"-n 0", "-n: not within 1..10000"},
		{"-stalled -1", "-stalled: not within 0..10000"},
		{"-way 65", "-way: not within 1..64"},
		{"-size 3", "-size: not within 27..16384"},
		{"-d 0s", "-d: not within"},
		{"-warm 1h", "-warm: not within"},
		{"-body {}", "-body: must have one @"},
		{"-url http://192.0.2.1:80", "-url: "},
		{"-url https://127.0.0.1:80", "-url: "},
		{"-url http://localhost", "-url: "},
		{"-pid 999999999", "-pid: "},
		{"rest", "no arguments"},
	} {
		var out, errOut bytes.Buffer
		if code := doMain(strings.Fields(tc.args), &out, &errOut); code == 0 || out.Len() > 0 || !strings.Contains(errOut.String(), tc.want) {
			t.Errorf("%s: %d %s%s", tc.args, code, out.String(), errOut.String())
		}
	}
}

// A client answers pings, else a server would drop it.
func TestPong(t *testing.T) {
	near, far := net.Pipe()
	go func() { _, _ = far.Write([]byte{0x89, 0}) }()
	c := &client{near, bufio.NewReader(near)}
	ended := make(chan error)
	go func() { ended <- c.read(func(int64) {}) }()
	got := make([]byte, 6)
	if _, err := io.ReadFull(far, got); err != nil || got[0] != 0x8a || got[1] != 0x80 {
		t.Errorf("%x %v", got, err)
	}
	_ = far.Close()
	<-ended
}
