package streamable

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/guard"
)

// What must not come through to a tool does not, behind the real guard.
func TestProbes(t *testing.T) {
	tr := New(stageServer(), Config{})
	url := behindGuard(t, tr, guard.Config{})
	id := initialize(t, http.DefaultClient, url)
	for _, era := range []string{id, ""} {
		good := toolCall(eraOf(era), "echo", "x")
		for _, tc := range []struct {
			name, method, body string
			header             []string
			want               int
		}{
			{"good", "POST", good, nil, 200},
			{"evil host", "POST", good, []string{"Host", "evil.example"}, 403},
			{"evil origin", "POST", good, []string{"Origin", "http://evil.example"}, 403},
			{"no origin", "POST", good, []string{"Origin", "null"}, 403},
			{"another port", "POST", good, []string{"Origin", "http://localhost:1"}, 403},
			{"evil delete", "DELETE", "", []string{"Origin", "http://evil.example"}, 403},
			{"text", "POST", good, []string{"Content-Type", "text/plain"}, 415},
			{"form", "POST", good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
			{"no events accepted", "POST", good, []string{"Accept", "application/json"}, 400},
			{"no JSON", "POST", `{"jsonrpc"`, nil, 400},
			{"nothing", "POST", "", nil, 400},
			{"too long", "POST", strings.Repeat(" ", 4<<20) + good, nil, 413},
			{"put", "PUT", good, nil, 405},
			{"deep", "POST", strings.Replace(good, `"x"`, strings.Repeat("[", 50_000), 1), nil, 400},
		} {
			resp, body := whole(t, http.DefaultClient, request(t, tc.method, url, tc.body, append(in(era, "tools/call", "echo"), tc.header...)...))
			if resp.StatusCode != tc.want {
				t.Errorf("%s, %s: %d, want %d: %.200s", eraOf(era), tc.name, resp.StatusCode, tc.want, body)
			}
		}
	}
	shut(t, tr)
}

// A daemon on loopback may be known by a name, when somebody stands before it.
func TestNamesOfTheHouse(t *testing.T) {
	tr := New(stageServer(), Config{})
	url := behindGuard(t, tr, guard.Config{Hosts: []string{"companion.lan"}})
	id := initialize(t, http.DefaultClient, url, "Host", "companion.lan")
	for _, id := range []string{id, ""} {
		resp, body := whole(t, http.DefaultClient, request(t, "POST", url, toolCall(eraOf(id), "echo", "x"), append(in(id, "tools/call", "echo"), "Host", "companion.lan")...))
		if resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", eraOf(id), resp.StatusCode, body)
		}
	}
	shut(t, tr)
}

// The guard reads up to its own limit, the SDK up to 4 MiB: whoever is stricter
// decides.
func TestBodyAtTheLimit(t *testing.T) {
	tr := New(stageServer(), Config{})
	url := behindGuard(t, tr, guard.Config{})
	body := toolCall(modernEra, "echo", "x")
	for over, want := range map[int]int{0: 200, 1: 413} {
		padded := body + strings.Repeat(" ", 4<<20-len(body)+over)
		resp, said := whole(t, http.DefaultClient, request(t, "POST", url, padded, in("", "tools/call", "echo")...))
		if resp.StatusCode != want {
			t.Errorf("%d bytes over: %d %.200s", over, resp.StatusCode, said)
		}
	}
	shut(t, tr)
}

func TestSlowBody(t *testing.T) {
	tr := New(stageServer(), Config{})
	url := behindGuard(t, tr, guard.Config{BodyTimeout: 150 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := time.Now()
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 100\r\n\r\n{"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(begun.Add(5 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 408 || time.Since(begun) > 3*time.Second {
		t.Errorf("%v %v after %v", resp, err, time.Since(begun))
	}
	shut(t, tr)
}

// A stream outlives the deadline that its request's body had.
func TestStreamsOutliveTheBodysDeadline(t *testing.T) {
	server := stageServer()
	tr := New(server, Config{WriteTimeout: 100 * time.Millisecond})
	url := behindGuard(t, tr, guard.Config{BodyTimeout: 100 * time.Millisecond})
	heard := events(do(t, http.DefaultClient, request(t, "POST", url, listenBody(), in("", methodListen, "")...)).Body)
	if e := await(t, heard); !strings.Contains(e, "acknowledged") {
		t.Fatal(e)
	}
	time.Sleep(300 * time.Millisecond)
	server.RemoveTools("echo")
	if e := await(t, heard); !strings.Contains(e, "notifications/tools/list_changed") {
		t.Error(e)
	}
	shut(t, tr)
}
