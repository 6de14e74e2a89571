package guard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/companiond/companiond/abi"
)

// spacePatience is how long a large body waits for others to be done with, and how
// long its client is told to stay away when they were not.
const spacePatience = 2 * time.Second

var errNoSpace = abi.Errorf(abi.CodeExhausted, "body: too many large ones are on their way, try again in %d s", spacePatience/time.Second)

// limitBody reads the request's body before the door runs.
//
// On success the deadline is cleared, for the answer may be a stream that lives
// for hours (over HTTP/1 net/http does that too, at the body's end). On failure there is one and the connection closes: without it
// net/http would wait for the rest of the body for as long as the client likes.
func (g *Guard) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{space: g.space}
		defer b.done()
		if err := g.receive(w, r, b); err != nil {
			refuseBody(w, r, err)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		if b.share.Load() > 0 {
			r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, b))
		}
		r.Body = b
		r.ContentLength = int64(len(b.rest))
		r.TransferEncoding = nil
		next.ServeHTTP(w, r)
	})
}

// receive reads the body into b. A large one is not read before there is space for
// it. How long a chunked one is shows only while it comes: as much of it is read as
// any body may have, so that what people say never waits for images.
func (g *Guard) receive(w http.ResponseWriter, r *http.Request, b *body) error {
	limit := g.bodyLimit(r.URL.Path)
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	all, most := &bytes.Buffer{}, limit
	if r.ContentLength > g.cfg.LargeBody {
		if !b.take(r, r.ContentLength) {
			return errNoSpace
		}
		all = bytes.NewBuffer(make([]byte, 0, r.ContentLength+bytes.MinRead)) // reading has to find its end
	} else {
		most = min(limit, g.cfg.LargeBody)
	}
	if err := g.readMore(w, r, all, most+1); err != nil {
		return err
	}
	if most < limit && int64(all.Len()) > most {
		if !b.take(r, limit) {
			return errNoSpace
		}
		if err := g.readMore(w, r, all, limit-most); err != nil {
			return err
		}
	}
	if int64(all.Len()) > limit {
		return tooLarge(limit)
	}
	b.rest = all.Bytes()
	return checkText(r.Header.Get("Content-Type"), b.rest)
}

// checkText refuses JSON that is no UTF-8: what decodes it would put other signs in the place of what it cannot read, and
// something else than what was sent would be acknowledged.
func checkText(media string, body []byte) error {
	if kind, _, err := mime.ParseMediaType(media); err == nil && kind != "application/json" && !strings.HasSuffix(kind, "+json") || utf8.Valid(body) {
		return nil
	}
	at := 0
	for rest := body; ; at++ {
		sign, size := utf8.DecodeRune(rest)
		if sign == utf8.RuneError && size == 1 {
			break
		}
		rest, at = rest[size:], at+size-1
	}
	return abi.Field("body", abi.CodeInvalid, "is no UTF-8: byte %d is 0x%02x", at+1, body[at])
}

// readMore reads up to so many bytes more, under a deadline.
func (g *Guard) readMore(w http.ResponseWriter, r *http.Request, all *bytes.Buffer, most int64) error {
	// A writer without deadlines is a test's recorder, which cannot be slow.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.cfg.BodyTimeout))
	_, err := all.ReadFrom(io.LimitReader(r.Body, most))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "body: did not come in within %v", g.cfg.BodyTimeout)
	case err != nil:
		return abi.Wrap(abi.CodeInvalid, err, "body: broke off")
	}
	return nil
}

// body is a body that has come in whole. It lets go of its bytes as soon as they
// were read, for a door may go on for long after that.
type body struct {
	rest  []byte
	space *semaphore.Weighted
	share atomic.Int64 // of the space; 0 for a body that is not large
}

type bodyKey struct{}

func (b *body) take(r *http.Request, bytes int64) bool {
	ctx, cancel := context.WithTimeout(r.Context(), spacePatience)
	defer cancel()
	if b.space.Acquire(ctx, bytes) != nil { // in the order of coming: a large body is not passed for ever
		return false
	}
	b.share.Store(bytes)
	return true
}

// done gives the share back.
func (b *body) done() {
	if n := b.share.Swap(0); n > 0 {
		b.space.Release(n)
	}
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
	}
	return n, nil
}

// Close lets go of what was not read.
func (b *body) Close() error {
	b.rest = nil
	return nil
}

// ReadBody gives all that is to be read of a request's body, which is the caller's
// then: a body that the guard has read is handed over and not copied. A door gives its own
// bound, for it may stand before no guard.
//
// # Errors
//
// CodeTooLarge for more than limit; CodeInvalid when it broke off.
func ReadBody(r io.Reader, limit int64) ([]byte, error) {
	all, err := []byte(nil), error(nil)
	if b, ok := r.(*body); ok {
		all, b.rest = b.rest, nil
	} else if r != nil {
		all, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	switch {
	case err != nil:
		return nil, abi.Wrap(abi.CodeInvalid, err, "body: broke off")
	case int64(len(all)) > limit:
		return nil, tooLarge(limit)
	}
	return all, nil
}

// BodyDone says, with the context of a request, that nothing of its body is kept any
// more, so that another large one may come in. For who goes on to wait; else that is
// so when the request was answered.
func BodyDone(ctx context.Context) {
	if b, ok := ctx.Value(bodyKey{}).(*body); ok {
		b.done()
	}
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
	switch abi.CodeOf(err) {
	case abi.CodeTimeout:
		// 504 says that we were too slow; here it was the client.
		ProblemStatus(w, r, http.StatusRequestTimeout, err)
		return
	case abi.CodeExhausted:
		w.Header().Set("Retry-After", strconv.Itoa(int(spacePatience/time.Second)))
	}
	Problem(w, r, err)
}

func (g *Guard) bodyLimit(path string) int64 {
	limit, longest := g.cfg.MaxBody, -1
	for prefix, n := range g.cfg.MaxBodyAt {
		below := path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
		if below && len(prefix) > longest {
			limit, longest = n, len(prefix)
		}
	}
	return limit
}
