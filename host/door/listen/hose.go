package listen

import (
	"net"
	"net/http"
	"net/url"
)

// AtHose has whoever connects to the Firehose's own address, nil for none, speak with the Firehose of a room, the usual one
// or that of ?room=, whatever the path: aikyo's has none.
func AtHose(hose net.Listener, usual func() string, next http.Handler) http.Handler {
	if hose == nil {
		return next
	}
	own := hose.Addr().(*net.TCPAddr).Port
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && at.Port == own {
			room := r.URL.Query().Get("room")
			if room == "" {
				room = usual()
			}
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/firehose/"+room, "/firehose/"+url.PathEscape(room)
		}
		next.ServeHTTP(w, r)
	})
}
