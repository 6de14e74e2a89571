package streamable

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/waittest"
)

// serveOn serves as the daemon does, to be shut down as the daemon does.
func serveOn(t *testing.T, tr *Transport) (srv *http.Server, url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv = guard.Server(tr, slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return srv, "http://" + ln.Addr().String() + "/mcp"
}

// asked sends a request whose answer comes later.
func asked(t *testing.T, r *http.Request) <-chan string {
	t.Helper()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answer <- string(b)
	}()
	return answer
}

func TestClose(t *testing.T) {
	server := stageServer()
	release := make(chan struct{})
	sdk.AddTool(server, &sdk.Tool{Name: "finish"}, func(context.Context, *sdk.CallToolRequest, said) (*sdk.CallToolResult, any, error) {
		<-release
		return result(text("finished")), nil, nil
	})
	tr := New(server, Config{})
	srv, url := serveOn(t, tr)
	s := &stage{server: server, tr: tr, url: url}
	c := http.DefaultClient
	id := initialize(t, c, url)
	get := do(t, c, request(t, "GET", url, "", in(id, "", "")...))
	listen := do(t, c, request(t, "POST", url, listenBody(), in("", methodListen, "")...))
	var finish, wait []<-chan string
	for _, id := range []string{id, ""} {
		finish = append(finish, asked(t, request(t, "POST", url, toolCall(eraOf(id), "finish", ""), in(id, "tools/call", "finish")...)))
		wait = append(wait, asked(t, request(t, "POST", url, strings.Replace(toolCall(eraOf(id), "wait", ""), `"id":7`, `"id":8`, 1), in(id, "tools/call", "wait")...)))
	}
	waittest.Until(t, "everything under way", func() bool { n, _ := s.open(); return n == 6 })

	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- tr.Close(ctx) }()
	for _, stream := range []io.Reader{get.Body, listen.Body} {
		if _, err := io.Copy(io.Discard, stream); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > 900*time.Millisecond {
		t.Errorf("the streams ended after %v", took)
	}
	resp, body := whole(t, c, request(t, "POST", url, toolCall(modernEra, "echo", "x"), in("", "tools/call", "echo")...))
	if resp.StatusCode != 503 || !strings.Contains(body, "stopping") {
		t.Errorf("a late call: %d %s", resp.StatusCode, body)
	}
	close(release)
	for _, ch := range finish {
		if got := <-ch; !strings.Contains(got, "finished") {
			t.Errorf("a call that could finish: %q", got)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, ch := range wait { // they were told to end
		<-ch
	}
	if took := time.Since(begun); took < 900*time.Millisecond || took > 4*time.Second {
		t.Errorf("closed after %v", took)
	}
	shutdown(t, srv, server)
}

// shutdown demands that nothing is left to wait for.
func shutdown(t *testing.T, srv *http.Server, server *sdk.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	begun := time.Now()
	if err := srv.Shutdown(ctx); err != nil || time.Since(begun) > 2*time.Second {
		t.Errorf("shutdown: %v after %v", err, time.Since(begun))
	}
	for ss := range server.Sessions() {
		t.Errorf("session %q is left", ss.ID())
	}
}

// A tool that does not listen cannot hold the daemon.
func TestCloseNamesWhoDoesNotEnd(t *testing.T) {
	server := stageServer()
	release, reached := make(chan struct{}), make(chan struct{})
	sdk.AddTool(server, &sdk.Tool{Name: "deaf"}, func(context.Context, *sdk.CallToolRequest, said) (*sdk.CallToolResult, any, error) {
		close(reached)
		<-release
		return result(), nil, nil
	})
	tr := New(server, Config{})
	_, url := serveOn(t, tr)
	id := initialize(t, http.DefaultClient, url)
	answer := asked(t, request(t, "POST", url, toolCall(sessionEra, "deaf", ""), in(id, "", "")...))
	<-reached
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := tr.Close(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 sessions") {
		t.Errorf("%v", err)
	}
	close(release)
	<-answer
}

func TestCloseWithNobodyThere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(stageServer(), Config{}).Close(ctx); err != nil {
		t.Error(err)
	}
}
