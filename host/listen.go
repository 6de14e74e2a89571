package host

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/companiond/companiond/host/service"
)

// listen listens at the address of the doors, and at that of the Firehose, where it has one of its own.
func (h *Host) listen() (doors net.Listener, hose []net.Listener, err error) {
	given, err := service.Sockets()
	if err != nil {
		return nil, nil, err
	}
	keys := []string{"door.listen", "door.firehose"}
	addresses := []string{h.cfg.Door.Listen, h.cfg.Door.Firehose}
	if h.cfg.Door.Firehose == "" {
		keys = keys[:1]
	}
	var open []net.Listener
	for i, key := range keys {
		var l net.Listener
		if i < len(given) {
			l, err = h.passed(key, given[i])
		} else {
			l, err = listenAt(key, addresses[i])
		}
		if err != nil {
			break
		}
		open = append(open, l)
	}
	if err == nil && len(given) > len(open) {
		err = fmt.Errorf("the service manager passes %d sockets, for the keys %s: take the ListenStream= out that is too much", len(given), strings.Join(keys, " and "))
	}
	if err != nil {
		for _, l := range append(open, given[min(len(open), len(given)):]...) {
			err = errors.Join(err, l.Close())
		}
		return nil, nil, err
	}
	if len(open) > 1 {
		h.hose = open[1].Addr().(*net.TCPAddr)
	}
	return open[0], open[1:], nil
}

// passed takes a socket that the service manager listens at, in place of one of a setting: what that setting allows of
// guests holds for it.
func (h *Host) passed(key string, l net.Listener) (net.Listener, error) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%s: the service manager passes a socket at %s, must be one of TCP: ListenStream=127.0.0.1:3000", key, l.Addr())
	}
	if !at.IP.IsLoopback() && h.cfg.GuestsAllowed() && !h.cfg.Door.Insecure {
		return nil, fmt.Errorf("%s: the service manager passes a socket at %s, which other machines can reach, and %s says %s: set it to that address, with identity.tokens", key, at, key, h.cfg.Door.Listen)
	}
	h.log.Info("the service manager listens for the daemon", "key", key, "listen", at.String())
	return l, nil
}

// listenAt listens at the address that a setting has, and says which one to change where it cannot.
func listenAt(key, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: another program listens at %s already; stop it (is it a companiond?), or give %s another port: %w", key, address, key, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return l, nil
}

// atHose has whoever connects to the Firehose's own address speak with the Firehose of a room, the usual one
// or that of ?room=, whatever the path: aikyo's has none.
func (h *Host) atHose(next http.Handler) http.Handler {
	if h.hose == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && at.Port == h.hose.Port {
			room := r.URL.Query().Get("room")
			if room == "" {
				room = h.rooms.Usual()
			}
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/firehose/"+room, "/firehose/"+url.PathEscape(room)
		}
		next.ServeHTTP(w, r)
	})
}
