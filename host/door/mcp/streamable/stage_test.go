package streamable

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/waittest"
)

// The two eras, by the newest revision of each.
const (
	sessionEra = "2025-11-25"
	modernEra  = "2026-07-28"
)

var eras = []string{sessionEra, modernEra}

// stage is a server with a few tools, behind a transport and a guard.
type stage struct {
	server *sdk.Server
	tr     *Transport
	url    string
}

func newStage(t testing.TB, cfg Config) *stage {
	t.Helper()
	s := &stage{server: stageServer()}
	s.tr = New(s.server, cfg)
	s.url = behindGuard(t, s.tr, guard.Config{})
	return s
}

type said struct {
	Text string `json:"text"`
}

// stageInfo is what the server says it is.
var stageInfo = &sdk.Implementation{Name: "stage", Version: "1"}

// stageServer has a tool that answers, one that reports first, one that waits
// until it is cancelled, and a thing to watch.
func stageServer() *sdk.Server {
	s := sdk.NewServer(stageInfo, &sdk.ServerOptions{
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	add := func(name string, h func(context.Context, *sdk.CallToolRequest, said) error) {
		sdk.AddTool(s, &sdk.Tool{Name: name}, func(ctx context.Context, r *sdk.CallToolRequest, in said) (*sdk.CallToolResult, any, error) {
			if err := h(ctx, r, in); err != nil {
				return nil, nil, err
			}
			return result(text("%s", in.Text)), nil, nil
		})
	}
	add("echo", func(context.Context, *sdk.CallToolRequest, said) error { return nil })
	add("report", func(ctx context.Context, r *sdk.CallToolRequest, in said) error {
		return r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Message: in.Text})
	})
	add("wait", func(ctx context.Context, _ *sdk.CallToolRequest, _ said) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	s.AddResource(&sdk.Resource{Name: "thing", URI: "test://thing"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{}, nil
	})
	return s
}

// connect makes a client of the SDK that speaks one revision. It has its own
// connections, as clients do.
func connect(t testing.TB, url, era string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	own := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(own.CloseIdleConnections)
	cs, err := c.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: own}, MaxRetries: -1}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	if got := cs.InitializeResult().ProtocolVersion; got != era {
		t.Fatalf("speaks %s, not %s", got, era)
	}
	return cs
}

// callTool calls a tool and gives the text of its answer.
func callTool(ctx context.Context, cs *sdk.ClientSession, tool, words string) (string, error) {
	res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: said{words}, Meta: sdk.Meta{"progressToken": words}})
	if err != nil {
		return "", err
	}
	if len(res.Content) != 1 {
		return "", fmt.Errorf("%d contents", len(res.Content))
	}
	c, ok := res.Content[0].(*sdk.TextContent)
	if !ok || res.IsError {
		return "", fmt.Errorf("answered %+v, error %v", res.Content[0], res.IsError)
	}
	return c.Text, nil
}

// request makes a request as any client may.
func request(t testing.TB, method, url, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// do sends a request and leaves the answer open.
func do(t testing.TB, c *http.Client, r *http.Request) *http.Response {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// whole sends a request and reads all of the answer.
func whole(t testing.TB, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp := do(t, c, r)
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, b)
	}
	return resp, string(b)
}

// message gives a JSON-RPC request; in the modern era it says who asks.
func message(era, method string, params map[string]any) string {
	if params == nil {
		params = map[string]any{}
	}
	if era == modernEra {
		params["_meta"] = map[string]any{
			sdk.MetaKeyProtocolVersion: era, sdk.MetaKeyClientCapabilities: map[string]any{},
			sdk.MetaKeyClientInfo: map[string]any{"name": "raw", "version": "1"}, "progressToken": "p",
		}
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func toolCall(era, tool, words string) string {
	return message(era, "tools/call", map[string]any{"name": tool, "arguments": said{words}})
}

// initialize begins a session with raw requests.
func initialize(t testing.TB, c *http.Client, url string, header ...string) (id string) {
	t.Helper()
	resp, body := whole(t, c, request(t, "POST", url, initBody(), header...))
	if resp.StatusCode != 200 {
		t.Fatalf("initialize: %d %s", resp.StatusCode, body)
	}
	if id = resp.Header.Get(headerSession); id == "" {
		t.Fatal("there is no session")
	}
	return id
}

func initBody() string {
	return message(sessionEra, "initialize", map[string]any{
		"protocolVersion": sessionEra, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "raw", "version": "1"},
	})
}

// in gives the headers of a request within a session or, without an id, of the
// modern era.
func in(id, method, name string) []string {
	if id != "" {
		return []string{headerVersion, sessionEra, headerSession, id}
	}
	return []string{headerVersion, modernEra, headerMethod, method, "Mcp-Name", name}
}

func listenBody() string {
	return message(modernEra, methodListen, map[string]any{"notifications": map[string]any{"toolsListChanged": true, "resourceSubscriptions": []string{"test://thing"}}})
}

// events reads the data of events until the stream ends.
func events(r io.Reader) <-chan string {
	ch := make(chan string, 64)
	go func() {
		defer close(ch)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				ch <- data
			}
		}
	}()
	return ch
}

// await gives the next event.
func await(t testing.TB, ch <-chan string) string {
	t.Helper()
	select {
	case e, ok := <-ch:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(waittest.Long):
		t.Fatal("no event came")
	}
	return ""
}

// shut ends a transport, which must be able to end at once.
func shut(t testing.TB, tr *Transport) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := tr.Close(ctx); err != nil {
		t.Error(err)
	}
}

// open gives how many requests and streams there are.
func (s *stage) open() (requests, streams int) {
	s.tr.mu.Lock()
	defer s.tr.mu.Unlock()
	return s.tr.requests, s.tr.streams.Taken()
}
