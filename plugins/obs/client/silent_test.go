package client

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// pipe gives both ends of a WebSocket in memory, for a test in fake time.
func pipe(t *testing.T) (here, there *websocket.Conn) {
	t.Helper()
	a, b := net.Pipe()
	upgraded := make(chan *websocket.Conn, 1)
	served := make(chan net.Conn, 1)
	served <- b
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		upgraded <- c
	})}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(one{served}) }()
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return a, nil }}
	here, _, err := dialer.Dial("ws://obs", nil)
	if err != nil {
		t.Fatal(err)
	}
	return here, <-upgraded
}

// one is a listener of one connection.
type one struct{ conns chan net.Conn }

func (o one) Accept() (net.Conn, error) {
	c, ok := <-o.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (o one) Close() error   { close(o.conns); return nil }
func (o one) Addr() net.Addr { return &net.UnixAddr{} }

// TestSilence: an OBS that hangs, or a machine that is gone, is noticed; one of which nothing is wanted stays.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := pipe(t)
		defer func() { _ = there.Close() }()
		began := time.Now()
		c := start(here, "5.1.0")
		<-c.Done()
		if took := time.Since(began); took != silentAtAll || c.Err().Error() != "OBS has said nothing for 30s" {
			t.Errorf("after %v: %v", took, c.Err())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		here, there := pipe(t)
		defer func() { _ = there.Close() }()
		go func() {
			for { // it answers pings
				if _, _, err := there.ReadMessage(); err != nil {
					return
				}
			}
		}()
		c := start(here, "5.1.0")
		select {
		case <-c.Done():
			t.Errorf("ended: %v", c.Err())
		case <-time.After(time.Hour):
		}
		c.Close()
	})
}
