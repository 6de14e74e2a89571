package streamable

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/waittest"
)

func TestBothErasWithTheSDKsClient(t *testing.T) {
	s := newStage(t, Config{})
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			progress, changed := make(chan string, 1), make(chan string, 1)
			cs := connect(t, s.url, era, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
				ResourceUpdatedHandler:      func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { changed <- r.Params.URI },
			})
			if got, err := callTool(t.Context(), cs, "echo", "hello"); got != "hello" || err != nil {
				t.Fatalf("%q %v", got, err)
			}
			if got, err := callTool(t.Context(), cs, "report", "on the way"); got != "on the way" || err != nil {
				t.Fatalf("%q %v", got, err)
			}
			if got := await(t, progress); got != "on the way" {
				t.Errorf("progress %q", got)
			}
			if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "test://thing"}); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, "a stream for events", func() bool { _, n := s.open(); return n > 0 })
			if err := s.server.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "test://thing"}); err != nil {
				t.Fatal(err)
			}
			if got := await(t, changed); got != "test://thing" {
				t.Errorf("updated %q", got)
			}
			_ = cs.Close()
			waittest.Until(t, "the end of the stream", func() bool { _, n := s.open(); return n == 0 })
		})
	}
	shut(t, s.tr)
}

// A response that comes alone is plain JSON with a length, one that comes after
// something else is an event: the client gets both.
func TestAnswersAreJSONWhenTheyCanBe(t *testing.T) {
	s := newStage(t, Config{})
	c := http.DefaultClient
	for _, era := range eras {
		id := ""
		if era == sessionEra {
			id = initialize(t, c, s.url)
		}
		resp, body := whole(t, c, request(t, "POST", s.url, toolCall(era, "echo", "a\nb"), in(id, "tools/call", "echo")...))
		if ct := resp.Header.Get("Content-Type"); ct != "application/json" || resp.StatusCode != 200 || resp.ContentLength != int64(len(body)) || resp.Close {
			t.Errorf("%s: %d %q, length %d of %d, close %v", era, resp.StatusCode, ct, resp.ContentLength, len(body), resp.Close)
		}
		if !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":7,"result":{`) || !strings.Contains(body, `a\nb`) {
			t.Errorf("%s: %s", era, body)
		}
		reported := message(era, "tools/call", map[string]any{"name": "report", "arguments": said{"x"}, "_meta": map[string]any{"progressToken": "p"}})
		resp, body = whole(t, c, request(t, "POST", s.url, reported, in(id, "tools/call", "report")...))
		if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" || resp.Close {
			t.Errorf("%s: %q, close %v: %s", era, ct, resp.Close, body)
		}
		if parts := strings.Split(body, "data: "); len(parts) != 3 || !strings.Contains(parts[1], "notifications/progress") || !strings.Contains(parts[2], `"result"`) {
			t.Errorf("%s: %s", era, body)
		}
		resp, body = whole(t, c, request(t, "POST", s.url, message(era, "tools/call", map[string]any{"name": "nobody"}), in(id, "tools/call", "nobody")...))
		if !strings.Contains(body, `"error":{"code":-32602`) || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", era, resp.StatusCode, body)
		}
	}
	shut(t, s.tr)
}

// A batch is several responses to one request, as revisions before 2025-06-18
// have it.
func TestBatch(t *testing.T) {
	s := newStage(t, Config{})
	id := initialize(t, http.DefaultClient, s.url)
	one := toolCall(sessionEra, "echo", "one")
	two := strings.Replace(toolCall(sessionEra, "echo", "two"), `"id":7`, `"id":8`, 1)
	_, body := whole(t, http.DefaultClient, request(t, "POST", s.url, "["+one+","+two+"]", headerVersion, "2025-03-26", headerSession, id))
	if strings.Count(body, "data: ") != 2 || !strings.Contains(body, "one") || !strings.Contains(body, "two") {
		t.Errorf("%q", body)
	}
	shut(t, s.tr)
}

// Whatever many clients ask at once, each gets its own answer, by JSON and by
// event.
func TestAnswersAreNotMixedUp(t *testing.T) {
	const clients, calls = 100, 5
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			s := newStage(t, Config{})
			all := make([]*sdk.ClientSession, clients)
			mine := make([]map[string]bool, clients)
			var mu sync.Mutex
			for i := range all {
				mine[i] = map[string]bool{}
				all[i] = connect(t, s.url, era, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					mine[i][r.Params.Message] = true
				}})
			}
			var wg sync.WaitGroup
			for i, cs := range all {
				for _, tool := range []string{"echo", "report"} {
					wg.Go(func() {
						for n := range calls {
							words := fmt.Sprintf("%s %d of %d", tool, n, i)
							if got, err := callTool(t.Context(), cs, tool, words); got != words || err != nil {
								t.Errorf("asked %q, was answered %q %v", words, got, err)
							}
						}
					})
				}
			}
			wg.Wait()
			waittest.Until(t, "all reports", func() bool {
				mu.Lock()
				defer mu.Unlock()
				for i := range mine {
					for n := range calls {
						if len(mine[i]) != calls || !mine[i][fmt.Sprintf("report %d of %d", n, i)] {
							return false
						}
					}
				}
				return true
			})
			if n := s.tr.sessions.count(); era == sessionEra && n != clients {
				t.Errorf("%d sessions", n)
			}
			for _, cs := range all {
				_ = cs.Close()
			}
			if n := s.tr.sessions.count(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
			shut(t, s.tr)
		})
	}
}

// There are so many streams. Who finds no place is told when there is one, as far as
// that is known: an older client's stream makes room when it has held its session for
// long enough.
func TestStreamsAreCounted(t *testing.T) {
	inBubble(t, Config{MaxStreams: 4}, func(t *testing.T, tr *Transport, c *http.Client) { // of which one caller holds three
		var ids []string
		for range 3 {
			ids = append(ids, initialize(t, c, bubbleURL))
		}
		get := func(id string) *http.Response { return do(t, c, request(t, "GET", bubbleURL, "", in(id, "", "")...)) }
		listen := func() *http.Response {
			return do(t, c, request(t, "POST", bubbleURL, listenBody(), in("", methodListen, "")...))
		}
		first, second, third := get(ids[0]), listen(), listen()
		if first.StatusCode != 200 || second.StatusCode != 200 || third.StatusCode != 200 {
			t.Fatal(first.StatusCode, second.StatusCode, third.StatusCode)
		}
		if e := await(t, events(second.Body)); !strings.Contains(e, "acknowledged") {
			t.Error(e)
		}
		for wait, want := range map[time.Duration]string{0: "1", 20 * time.Second: "1"} { // the newer ones' may end at any time
			time.Sleep(wait)
			resp := get(ids[1])
			if resp.StatusCode/100 == 2 || resp.Header.Get("Retry-After") != want {
				t.Errorf("%d, retry after %s", resp.StatusCode, resp.Header.Get("Retry-After"))
			}
		}
		if resp, body := whole(t, c, request(t, "POST", bubbleURL, toolCall(modernEra, "echo", "x"), in("", "tools/call", "echo")...)); resp.StatusCode != 200 {
			t.Errorf("a call: %d %s", resp.StatusCode, body)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if resp := get(ids[1]); resp.StatusCode != 200 {
			t.Errorf("%d", resp.StatusCode)
		}
		if resp := get(ids[2]); resp.StatusCode/100 == 2 {
			// there are four places, and the first one's stream is idle: two are held by newer
			// clients for good, one by the second session
			t.Errorf("%d", resp.StatusCode)
		}
		_ = third.Body.Close()
		synctest.Wait()
		if resp := get(ids[2]); resp.StatusCode != 200 {
			t.Errorf("%d", resp.StatusCode)
		}
	})
}

// A listen that hides from the count is not served.
func TestListenSaysSo(t *testing.T) {
	s := newStage(t, Config{})
	id := initialize(t, http.DefaultClient, s.url)
	for _, header := range [][]string{
		{headerVersion, modernEra},
		{headerVersion, modernEra, headerMethod, "tools/list"},
		in(id, "", ""),
		{headerVersion, sessionEra},
		{},
	} {
		r := request(t, "POST", s.url, listenBody(), header...)
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		resp, body := whole(t, http.DefaultClient, r.WithContext(ctx))
		cancel()
		if resp.StatusCode < 400 && !strings.Contains(body, `"error"`) {
			t.Errorf("%v: %d %s", header, resp.StatusCode, body)
		}
	}
	shut(t, s.tr)
}

// A tool whose client has gone away is told, when there is no session.
func TestGoneClientCancelsItsCall(t *testing.T) {
	s := newStage(t, Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r := request(t, "POST", s.url, toolCall(modernEra, "wait", ""), in("", "tools/call", "wait")...)
	if resp, err := http.DefaultClient.Do(r.WithContext(ctx)); err == nil {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	waittest.Until(t, "the end of the call", func() bool { n, _ := s.open(); return n == 0 })
	shut(t, s.tr)
}
