package wire

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Whatever a name stands for, only this machine is called.
func TestDialsLoopbackOnly(t *testing.T) {
	_, err := (&Conn{Host: "192.0.2.1:1"}).Ask(t.Context(), nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "not a loopback address") {
		t.Errorf("%v", err)
	}
}

// serve answers requests of a connection, and counts the connections.
func serve(t *testing.T, answer http.HandlerFunc) (host string, conns func() int) {
	var n atomic.Int64
	s := httptest.NewUnstartedServer(answer)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.Listener.Addr().String(), func() int { return int(n.Load()) }
}

// A connection is used again, unless the server has said that it may be gone by then.
func TestKeepAlive(t *testing.T) {
	for keep, want := range map[string]int{"": 1, "timeout=5": 1, "timeout=1": 3, "nonsense": 1} {
		host, conns := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if keep != "" {
				w.Header().Set("Keep-Alive", keep)
			}
		})
		c := Conn{Host: host}
		for range 3 {
			if r, err := c.Ask(t.Context(), Head("POST", host, "/", nil), nil, nil); err != nil || r.Status != 200 {
				t.Fatalf("%+v %v", r, err)
			}
		}
		if n := conns(); n != want {
			t.Errorf("%q: %d connections instead of %d", keep, n, want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	asked, never := make(chan struct{}), make(chan struct{})
	host, _ := serve(t, func(http.ResponseWriter, *http.Request) { close(asked); <-never })
	defer close(never)
	c := Conn{Host: host}
	failed := make(chan error)
	ask := func() error { _, err := c.Ask(t.Context(), Head("POST", host, "/", nil), nil, nil); return err }
	go func() { failed <- ask() }()
	<-asked
	c.Interrupt()
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := ask(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("later: %v", err)
	}
}
