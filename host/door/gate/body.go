package gate

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

// limitBody reads the request's body before the door runs.
//
// On success the deadline is cleared, for the answer may be a stream that lives
// for hours (over HTTP/1 net/http does that too, at the body's end). On failure there is one and the connection closes: without it
// net/http would wait for the rest of the body for as long as the client likes.
func (g *Gate) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		limit := g.bodyLimit(r.URL.Path)
		if r.ContentLength > limit {
			refuseBody(w, r, tooLarge(limit))
			return
		}
		c := http.NewResponseController(w)
		// A writer without deadlines is a test's recorder, which cannot be slow.
		_ = c.SetReadDeadline(time.Now().Add(g.cfg.BodyTimeout))
		body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuseBody(w, r, abi.Errorf(abi.CodeTimeout, "body: did not come in within %v", g.cfg.BodyTimeout))
			return
		case err != nil:
			refuseBody(w, r, abi.Wrap(abi.CodeInvalid, err, "body: broke off"))
			return
		case int64(len(body)) > limit:
			refuseBody(w, r, tooLarge(limit))
			return
		}
		_ = c.SetReadDeadline(time.Time{})
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		r.TransferEncoding = nil
		next.ServeHTTP(w, r)
	})
}

func tooLarge(limit int64) error {
	return abi.Errorf(abi.CodeTooLarge, "body: more than %d bytes", limit)
}

// drain is how long net/http may go on reading the body of a refused request,
// which it does so that the client gets to read the answer.
const drain = 500 * time.Millisecond

func refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drain))
	if abi.CodeOf(err) == abi.CodeTimeout {
		// 504 says that we were too slow; here it was the client.
		ProblemStatus(w, r, http.StatusRequestTimeout, err)
		return
	}
	Problem(w, r, err)
}

func (g *Gate) bodyLimit(path string) int64 {
	limit, longest := g.cfg.MaxBody, -1
	for prefix, n := range g.cfg.MaxBodyAt {
		below := path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
		if below && len(prefix) > longest {
			limit, longest = n, len(prefix)
		}
	}
	return limit
}
