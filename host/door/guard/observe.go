package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/companiond/companiond/abi"
)

// observe turns a panic below it into a 500 and logs the request: at debug, or
// at error when the fault was ours.
func (g *Guard) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			v := recover()
			if v != nil && v != http.ErrAbortHandler { //nolint:errorlint // it is compared so by net/http
				g.log.Error("panic in a door", "method", r.Method, "path", clip(r.URL.Path, 256), "panic", v, "stack", string(debug.Stack()))
				if rec.status == 0 {
					Problem(rec, r, errors.New("panic"))
					v = nil
				} else {
					v = http.ErrAbortHandler // too late to say so: break the connection off
				}
			}
			g.logRequest(rec, r, time.Since(start))
			if v != nil && !rec.hijacked {
				panic(v)
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// Catch makes an error of a panic, with where it was, for the log. It is for what a door does in
// a goroutine of its own, which no guard stands before, and is itself what is deferred there.
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

func (g *Guard) logRequest(rec *recorder, r *http.Request, took time.Duration) {
	level := slog.LevelDebug
	attrs := []slog.Attr{
		slog.String("method", clip(r.Method, 20)), slog.String("path", clip(r.URL.Path, 256)), slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes), slog.String("took", took.Round(time.Microsecond).String()), slog.String("remote", r.RemoteAddr),
	}
	if rec.err != nil {
		d := DetailsOf(rec.err)
		attrs = append(attrs, slog.String("code", string(d.Code)))
		// What happens in the middle of a stream does not show in its status.
		if rec.status == http.StatusInternalServerError || d.Status == http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", cause(rec.err)))
		}
	}
	g.log.LogAttrs(context.WithoutCancel(r.Context()), level, "request", attrs...)
}

// cause gives an error for the log, with what the client was not told.
func cause(err error) string {
	var known *abi.Error
	if errors.As(err, &known) {
		if inner := known.Unwrap(); inner != nil && inner.Error() != known.Message {
			return known.Error() + ": " + inner.Error()
		}
		return known.Error()
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// Note hands the access log the error behind an answer, for a door that does
// not answer with [Problem]. Without a guard around w it does nothing.
func Note(w http.ResponseWriter, err error) {
	for {
		switch t := w.(type) {
		case *recorder:
			t.err = err
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return
		}
	}
}

// recorder remembers what was answered. It hijacks and flushes, as the
// WebSocket and MCP libraries ask of any writer.
type recorder struct {
	http.ResponseWriter
	status   int
	bytes    int64
	hijacked bool
	err      error
}

var (
	_ http.Hijacker = (*recorder)(nil)
	_ http.Flusher  = (*recorder)(nil)
)

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader takes one status: who finds the client gone in the middle of an answer likes to
// say so in a second one, and of that net/http would warn whoever reads the log.
func (w *recorder) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

func (w *recorder) Flush() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a dead client shows at the next write
}

func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.hijacked, w.status = true, http.StatusSwitchingProtocols
	}
	return c, rw, err
}
