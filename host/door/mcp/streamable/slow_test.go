package streamable

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/waittest"
)

// stalled connects, asks, reads until the headers have come, and nothing more.
func stalled(t *testing.T, url, method, body string, header ...string) net.Conn {
	t.Helper()
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if err := request(t, method, url, body, header...).Write(conn); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	return conn
}

// A client that does not read its stream loses it, and until then takes nothing
// from those who do.
func TestStalledStreams(t *testing.T) {
	const patience = 700 * time.Millisecond
	s := newStage(t, Config{WriteTimeout: patience})
	c := http.DefaultClient
	var streams []string
	for range 3 {
		id := initialize(t, c, s.url)
		stalled(t, s.url, "GET", "", in(id, "", "")...)
		streams = append(streams, id)
	}
	good := initialize(t, c, s.url)
	heard := events(do(t, c, request(t, "GET", s.url, "", in(good, "", "")...)).Body)
	waittest.Until(t, "four streams", func() bool { _, n := s.open(); return n == 4 })

	long := strings.Repeat("x", 40_000) // a scanner's line holds 64 kB
	notify := func(id string, n int) (err error) {
		ss := s.tr.sessions.find(id)
		if ss == nil {
			t.Fatal("there is no session")
		}
		return ss.NotifyProgress(context.Background(), &sdk.ProgressNotificationParams{ProgressToken: "p", Progress: float64(n + 1), Message: long})
	}
	lost := map[string]bool{}
	for n := 0; len(lost) < len(streams); n++ {
		begun := time.Now()
		for _, id := range streams { // first to those who do not read, as in the SDK's loop
			if err := notify(id, n); err != nil {
				lost[id] = true
			}
		}
		if err := notify(good, n); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > patience {
			t.Fatalf("round %d took %v", n, took)
		}
		if e := await(t, heard); !strings.Contains(e, fmt.Sprintf(`"progress":%d`, n+1)) {
			t.Fatalf("round %d: %.80s", n, e)
		}
		if n > 2000 {
			t.Fatalf("%d of 3 lost their stream", len(lost))
		}
	}
	waittest.Until(t, "the end of the stalled", func() bool { _, n := s.open(); return n == 1 })
	shut(t, s.tr)
}

// One write is enough: nothing needs to come after it for the client to be found.
func TestStalledStreamEndsByItself(t *testing.T) {
	s := newStage(t, Config{WriteTimeout: 100 * time.Millisecond})
	id := initialize(t, http.DefaultClient, s.url)
	stalled(t, s.url, "GET", "", in(id, "", "")...)
	waittest.Until(t, "a stream", func() bool { _, n := s.open(); return n == 1 })
	ss := s.tr.sessions.find(id)
	if err := ss.NotifyProgress(t.Context(), &sdk.ProgressNotificationParams{Message: strings.Repeat("x", 16<<20)}); err != nil {
		t.Fatal(err) // it waits in the queue
	}
	waittest.Until(t, "its end", func() bool { _, n := s.open(); return n == 0 })
	shut(t, s.tr)
}

// Neither may an answer that is not read hold its request.
func TestStalledAnswer(t *testing.T) {
	s := newStage(t, Config{WriteTimeout: 100 * time.Millisecond})
	sdk.AddTool(s.server, &sdk.Tool{Name: "big"}, func(context.Context, *sdk.CallToolRequest, said) (*sdk.CallToolResult, any, error) {
		return result(text("%s", strings.Repeat("x", 16<<20))), nil, nil
	})
	stalled(t, s.url, "POST", toolCall(modernEra, "big", ""), in("", "tools/call", "big")...)
	// 16 MiB fit into no buffer on the way: it ends because time is over.
	waittest.Until(t, "its end", func() bool { n, _ := s.open(); return n == 0 })
	shut(t, s.tr)
}

// The deadline of an answer is not that of the next one on the connection.
func TestDeadlineEndsWithItsAnswer(t *testing.T) {
	s := newStage(t, Config{WriteTimeout: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, r := range []*http.Request{
		request(t, "POST", s.url, toolCall(modernEra, "echo", "x"), in("", "tools/call", "echo")...),
		request(t, "POST", s.url, toolCall(modernEra, "report", "x"), in("", "tools/call", "report")...),
		request(t, "GET", strings.TrimSuffix(s.url, "mcp")+"elsewhere", ""), // not ours: it sets no deadline
	} {
		if err := r.Write(conn); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, r)
		if err != nil {
			t.Fatalf("%s: %v", r.Method, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
	}
	shut(t, s.tr)
}

// A door that ends does not wait for a client that does not read.
func TestCloseWithStalledStreams(t *testing.T) {
	s := newStage(t, Config{WriteTimeout: time.Hour})
	id := initialize(t, http.DefaultClient, s.url)
	stalled(t, s.url, "GET", "", in(id, "", "")...)
	waittest.Until(t, "a stream", func() bool { _, n := s.open(); return n == 1 })
	if err := s.tr.sessions.find(id).NotifyProgress(t.Context(), &sdk.ProgressNotificationParams{Message: strings.Repeat("x", 16<<20)}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	shut(t, s.tr)
	if took := time.Since(begun); took > 3*goodbye {
		t.Errorf("it took %v", took)
	}
}
