package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/companiond/companiond/plugins/obs/client"
	"github.com/companiond/companiond/plugins/obs/obstest"
)

func dial(t *testing.T, o *obstest.OBS) *client.Conn {
	t.Helper()
	c, err := client.Dial(t.Context(), o.Address, obstest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestRequests: requests go out at once and beside each other, and each has its own answer, whatever the order is.
func TestRequests(t *testing.T) {
	o := obstest.New(t)
	o.Answer = func(r obstest.Request) obstest.Answer {
		return obstest.Answer{Data: map[string]any{"echo": string(r.Data)}}
	}
	c := dial(t, o)
	if c.Version() != "5.1.0" || c.Err() != nil {
		t.Errorf("%q, %v", c.Version(), c.Err())
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			var got struct{ Echo string }
			if err := c.Request(t.Context(), "Echo", i, &got); err != nil || got.Echo != fmt.Sprint(i) {
				t.Errorf("%d: %q, %v", i, got.Echo, err)
			}
		})
	}
	all.Wait()
	o.Send(`{"op":5,"d":{"eventType":"ExitStarted"}}`)
	o.Send(`{"op":7,"d":{"requestType":"Echo","requestId":"nobody's","requestStatus":{"result":true,"code":100}}}`)
	if err := c.Request(t.Context(), "Echo", nil, nil); err != nil {
		t.Errorf("behind frames that nobody waits for: %v", err)
	}
	if err := c.Request(t.Context(), "Echo", func() {}, nil); err == nil {
		t.Error("a function was sent")
	}
	if err := c.Request(t.Context(), "Echo", nil, new(int)); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// TestRefused: the code of OBS, and its words where it has any.
func TestRefused(t *testing.T) {
	o := obstest.New(t)
	o.Answer = func(r obstest.Request) obstest.Answer {
		if r.Type == "Bare" {
			return obstest.Answer{Code: 204}
		}
		return obstest.Answer{Code: 600, Comment: "No source was found."}
	}
	c := dial(t, o)
	err := c.Request(t.Context(), "SetInputSettings", nil, nil)
	if client.CodeOf(err) != client.CodeNotFound || err.Error() != "OBS refuses SetInputSettings with code 600: No source was found." {
		t.Error(err)
	}
	if err := c.Request(t.Context(), "Bare", nil, nil); client.CodeOf(err) != 204 || err.Error() != "OBS refuses Bare with code 204" {
		t.Error(err)
	}
	if client.CodeOf(errors.New("another")) != 0 {
		t.Error("another error has a code")
	}
}

// TestPasswords: with the right one OBS lets in, with another or none it says what to do; no error has it.
func TestPasswords(t *testing.T) {
	o := obstest.New(t)
	dial(t, o)
	for password, want := range map[string]error{"wrong": client.ErrPassword, "": client.ErrNoPassword} {
		_, err := client.Dial(t.Context(), o.Address, password)
		if !errors.Is(err, want) || password != "" && strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v", password, err)
		}
	}
	open := obstest.New(t)
	open.Open = true
	for _, password := range []string{"", "needless"} {
		c, err := client.Dial(t.Context(), open.Address, password)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// TestAddresses: one that cannot be OBS's is refused, and a password in it is not said again.
func TestAddresses(t *testing.T) {
	for address, why := range map[string]string{
		"127.0.0.1:4455": "ws://127.0.0.1:4455", "http://127.0.0.1:4455": "http://127.0.0.1:4455", "ws://": "it is",
		"ws://me:hunter2@127.0.0.1:4455": "as a secret", "ws://me:hunter2@127.0.0.1:x": "cannot be read", "": "it is",
	} {
		_, err := client.Dial(t.Context(), address, "")
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "hunter2") || !errors.Is(err, client.ErrAddress) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestOthersListen: a server that is none of OBS, one that speaks nonsense, one that is silent, and none at all.
func TestOthersListen(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	says := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			if text == "4010" {
				_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4010, ""))
			} else if text != "" {
				_ = c.WriteMessage(websocket.TextMessage, []byte(text))
			}
			_, _, _ = c.ReadMessage() // until it is closed
		}))
		t.Cleanup(s.Close)
		return strings.Replace(s.URL, "http", "ws", 1)
	}
	for address, why := range map[string]string{
		strings.Replace(web.URL, "http", "ws", 1): "another server",
		says("moin"):             "no JSON",
		says(`{"op":2,"d":{}}`):  "op 2 where 0",
		says("4010"):             "OBS 28 or newer",
		says(`{"op":0,"d":"x"}`): "cannot be read",
	} {
		if _, err := client.Dial(t.Context(), address, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	silent, cancel := context.WithCancel(t.Context())
	listens, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listens.Close() }()
	go func() {
		c, err := listens.Accept()
		if err == nil {
			defer func() { _ = c.Close() }()
		}
		cancel()
		<-t.Context().Done()
	}()
	if _, err := client.Dial(silent, "ws://"+listens.Addr().String(), ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	mute, cancel := context.WithCancel(t.Context())
	greeted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		cancel()
		_, _, _ = c.ReadMessage()
	}))
	defer greeted.Close()
	if _, err := client.Dial(mute, strings.Replace(greeted.URL, "http", "ws", 1), ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var network *net.OpError
	if _, err := client.Dial(t.Context(), "ws://127.0.0.1:1", ""); !errors.As(err, &network) {
		t.Error(err)
	}
}

// TestEnds: who waits hears that the connection has ended, and why; nothing of it runs any more.
func TestEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("conns", func(t *testing.T) {
		o := obstest.New(t)
		o.Answer = func(obstest.Request) obstest.Answer { return obstest.Answer{Silent: true} }
		ends := func(end func(*client.Conn), why string) {
			t.Helper()
			c := dial(t, o)
			failed := make(chan error, 1)
			go func() { failed <- c.Request(t.Context(), "Wait", nil, nil) }()
			o.Next()
			end(c)
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "Wait") {
				t.Error(err)
			}
			<-c.Done()
			if err := c.Err(); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v, want %q", err, why)
			}
			if err := c.Request(t.Context(), "Late", nil, nil); err == nil {
				t.Error("asked over a connection that has ended")
			}
		}
		ends(func(*client.Conn) { o.Drop() }, "")
		ends(func(c *client.Conn) { c.Close() }, "closed")
		ends(func(c *client.Conn) { c.End(errors.New("first")); c.End(errors.New("second")) }, "first")
		ends(func(*client.Conn) { o.Send(`{"op":7,"d":[]}`) }, "cannot be read")
		c := dial(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- c.Request(ctx, "Wait", nil, nil) }()
		o.Next()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || c.Err() != nil {
			t.Errorf("%v; the connection: %v", err, c.Err())
		}
	})
}
