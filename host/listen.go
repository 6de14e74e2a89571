package host

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// listen listens at the address of the doors, and at that of the Firehose, where it has one of its own.
func (h *Host) listen() (doors net.Listener, hose []net.Listener, err error) {
	doors, err = listenAt("door.listen", h.cfg.Door.Listen)
	if err != nil || h.cfg.Door.Firehose == "" {
		return doors, nil, err
	}
	l, err := listenAt("door.firehose", h.cfg.Door.Firehose)
	if err != nil {
		return nil, nil, errors.Join(err, doors.Close())
	}
	h.hose = l.Addr().(*net.TCPAddr)
	return doors, []net.Listener{l}, nil
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
