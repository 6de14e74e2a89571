package guard_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/waittest"
)

// serve runs a real server, for what only sockets show.
func serve(t *testing.T, cfg guard.Config, next http.Handler) (addr string) {
	t.Helper()
	l := &logtest.Log{}
	g, err := guard.New(cfg, l.Logger())
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := guard.Server(g.Handler(next), l.Logger())
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return ln.Addr().String()
}

// speak sends raw bytes and gives everything the server says until it closes.
func speak(t *testing.T, addr string, patience time.Duration, parts ...string) (answer string, took time.Duration) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := time.Now()
	for _, p := range parts {
		if _, err := io.WriteString(c, p); err != nil {
			break // refused already
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = c.SetReadDeadline(start.Add(patience))
	b, err := io.ReadAll(bufio.NewReader(c))
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		t.Fatalf("the server held the connection for %v; it said %q", patience, b)
	}
	return string(b), time.Since(start)
}

func TestServerIsSetForStreams(t *testing.T) {
	s := guard.Server(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout != 5*time.Second || s.IdleTimeout != 120*time.Second || s.MaxHeaderBytes != 32<<10 || s.ReadTimeout != 0 || s.WriteTimeout != 0 {
		t.Errorf("%+v", s)
	}
}

// trickle sends the parts of a request, ten seconds apart, to a server in a
// synctest bubble and gives what it answers, and how long it held the connection
// in the bubble's time.
func trickle(t *testing.T, cfg guard.Config, next http.Handler, parts ...string) (answer string, held time.Duration) {
	t.Helper()
	g, err := guard.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	pipe := doortest.NewPipe()
	srv := guard.Server(g.Handler(next), slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(pipe) }()
	defer func() { _ = srv.Close(); <-done }()
	c, err := pipe.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.Close()
	start := time.Now()
	wg.Go(func() {
		for _, p := range parts {
			if _, err := io.WriteString(c, p); err != nil {
				return // refused already
			}
			time.Sleep(10 * time.Second)
		}
	})
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), time.Since(start)
}

func TestSlowHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, held := trickle(t, guard.Config{}, http.HandlerFunc(echo), "POST / HTTP/1.1\r\nHost: localhost\r\n")
		if held != 5*time.Second {
			t.Errorf("held for %v", held)
		}
	})
}

func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached := false
		door := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })
		answer, held := trickle(t, guard.Config{BodyTimeout: 15 * time.Second}, door,
			"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "a", "b")
		if !strings.HasPrefix(answer, "HTTP/1.1 408 ") || !strings.Contains(answer, "Connection: close") || !strings.Contains(answer, `"code":"timeout"`) {
			t.Errorf("answer %q", answer)
		}
		if held < 15*time.Second || held > 16*time.Second || reached {
			t.Errorf("held for %v, reached the door: %v", held, reached)
		}
	})
}

func TestBrokenBody(t *testing.T) {
	addr := serve(t, guard.Config{}, http.HandlerFunc(echo))
	answer, _ := speak(t, addr, waittest.Long, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 400 ") || !strings.Contains(answer, `"code":"invalid"`) {
		t.Errorf("answer %q", answer)
	}
}

func TestOversizedBody(t *testing.T) {
	addr := serve(t, guard.Config{MaxBody: 1000}, http.HandlerFunc(echo))
	for _, head := range []string{"Content-Length: 100000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n2000\r\n" + strings.Repeat("x", 0x2000)} {
		answer, _ := speak(t, addr, waittest.Long, "POST / HTTP/1.1\r\nHost: localhost\r\n"+head)
		if !strings.HasPrefix(answer, "HTTP/1.1 413 ") || !strings.Contains(answer, "Connection: close") {
			t.Errorf("answer %q", answer)
		}
	}
}

// An answer may take longer than the body's deadline: it is cleared.
func TestAnswerOutlivesTheBodysDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer, held := trickle(t, guard.Config{BodyTimeout: 15 * time.Second}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i := range 4 {
				fmt.Fprintf(w, "event %d\n", i)
				w.(http.Flusher).Flush()
				select {
				case <-time.After(10 * time.Second):
				case <-r.Context().Done():
					return
				}
			}
		}), "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
		if !strings.Contains(answer, "event 3\n") || !strings.HasSuffix(answer, "\r\n0\r\n\r\n") || held != 40*time.Second {
			t.Errorf("%q after %v", answer, held)
		}
	})
}

// A panic in the middle of an answer must not look like its end.
func TestLatePanicBreaksTheConnection(t *testing.T) {
	addr := serve(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "half")
		w.(http.Flusher).Flush()
		panic("half way")
	}))
	resp, err := http.Get("http://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the answer ended well: %q", b)
	}
}

func TestHijackThroughTheGuard(t *testing.T) {
	addr := serve(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, "raw")
		_ = c.Close()
		panic("after the hijack") // nothing to answer, nothing to break
	}))
	if answer, _ := speak(t, addr, waittest.Long, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); answer != "raw" {
		t.Errorf("answer %q", answer)
	}
}

// JSON that is no UTF-8 is refused, with the place: decoders would have something else said than what was sent. What is no JSON passes.
func TestBodyIsText(t *testing.T) {
	addr := serve(t, guard.Config{}, http.HandlerFunc(echo))
	for _, c := range []struct{ media, body, want string }{
		{"application/json", `{"text":"猫"}`, "200"},
		{"application/json; charset=utf-8", "{\"text\":\"\u732b\xff\"}", "400"},
		{"application/merge-patch+json", "{\"\xc0\":1}", "400"},
		{"", "{\"\xc0\":1}", "400"},
		{"image/png", "\x89PNG\xff", "200"},
	} {
		answer, _ := speak(t, addr, waittest.Long, fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", c.media, len(c.body), c.body))
		if !strings.HasPrefix(answer, "HTTP/1.1 "+c.want) || c.media == "application/json; charset=utf-8" && !strings.Contains(answer, "body: is no UTF-8: byte 13 is 0xff") {
			t.Errorf("%s %q: %q", c.media, c.body, answer)
		}
	}
}
