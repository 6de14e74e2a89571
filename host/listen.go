package host

import (
	"net"
	"net/http"
	"net/url"
)

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
