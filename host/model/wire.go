package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

const (
	maxAnswer    = 4 << 20  // bytes of an answer
	maxComplaint = 64 << 10 // bytes that are read of a refusal
	maxSaid      = 300      // bytes of a refusal that an error repeats
	drainTime    = 100 * time.Millisecond
)

// failure is a request that failed.
type failure struct {
	coded  *abi.Error
	again  bool          // the same request may be sent again, if nobody was told anything
	after  time.Duration // how long the endpoint asks to wait
	status int           // of the refusal; 0 for others
	said   string        // what the endpoint said in its refusal, without the key, in lower case
}

func (f *failure) Error() string { return f.coded.Error() }
func (f *failure) Unwrap() error { return f.coded }

func failed(code abi.Code, again bool, cause error, format string, args ...any) *failure {
	return &failure{coded: abi.Wrap(code, cause, fmt.Sprintf(format, args...)), again: again}
}

// The causes that end a request from within.
var (
	errFirstByte = errors.New("no first byte in time")
	errTooLarge  = errors.New("answer too large")
)

// post sends one request and gives each event of its answer to each, until that says that it was the
// last. What each returns, post returns.
func (e *endpoint) post(ctx context.Context, key string, body []byte, each func(stream.Event) (last bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := &inflow{arrived: func() {}, left: maxAnswer}
	if e.cfg.FirstByte > 0 {
		timer := time.AfterFunc(e.cfg.FirstByte, func() { cancel(errFirstByte) })
		defer timer.Stop()
		in.arrived = func() { timer.Stop() }
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return failed(abi.CodeInvalid, false, nil, "url: cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("Accept-Encoding", "identity") // a compressed stream comes late
	req.Header.Set("User-Agent", "companiond")
	e.api.sign(req.Header, key)
	resp, err := e.http.Do(req)
	if err != nil {
		return e.broken(ctx, key, err, false)
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it is of no use
	in.from = resp.Body
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return e.refused(ctx, key, resp, in)
	}
	if err := e.stream(ctx, key, in, each); err != nil {
		return err
	}
	// A body that is read to its end leaves the connection for the next request.
	defer time.AfterFunc(drainTime, func() { cancel(nil) }).Stop()
	_, _ = io.CopyN(io.Discard, in, 1024)
	return nil
}

// stream reads the events of an answer.
func (e *endpoint) stream(ctx context.Context, key string, in *inflow, each func(stream.Event) (bool, error)) error {
	from, any := stream.NewEvents(in), false
	for {
		ev, err := from.Next()
		switch {
		case errors.Is(err, io.EOF) && any:
			return io.EOF // whether it was the end, the API knows
		case errors.Is(err, io.EOF) && in.left == maxAnswer:
			return failed(abi.CodeUnavailable, true, err, "the endpoint closed the connection without an answer")
		case errors.Is(err, io.EOF):
			return failed(abi.CodeInvalid, false, nil, "the endpoint's answer is none of this API; is url its base, with the version?")
		case err != nil:
			return e.broken(ctx, key, err, any)
		}
		any = true
		if last, err := each(ev); last || err != nil {
			return err
		}
	}
}

// inflow bounds an answer and tells when its first byte arrived.
type inflow struct {
	from    io.Reader
	left    int
	arrived func()
}

func (r *inflow) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLarge
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	if n > 0 {
		r.arrived()
		r.left -= n
	}
	return n, err
}

// broken says why a connection failed, or the reading from it.
func (e *endpoint) broken(ctx context.Context, key string, err error, begun bool) error {
	switch {
	case errors.Is(err, errTooLarge):
		return failed(abi.CodeTooLarge, false, nil, "the endpoint's answer is larger than %d MiB", maxAnswer>>20)
	case errors.Is(context.Cause(ctx), errFirstByte):
		return failed(abi.CodeTimeout, true, context.DeadlineExceeded, "the endpoint sent nothing within %v", e.cfg.FirstByte)
	case ctx.Err() != nil:
		return ended(ctx, "the model did not answer")
	}
	var inURL *url.Error // its text repeats the URL
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	what, why := "cannot reach the endpoint", stream.Scrub(err.Error(), key)
	if begun {
		what = "the endpoint broke off within its answer"
	}
	if why != err.Error() {
		err = nil // a cause is for logs, and this one has the key
	}
	return failed(abi.CodeUnavailable, true, err, "%s: %s", what, readable(why))
}

// ended says why a call was given up when its context is done.
func ended(ctx context.Context, what string) *failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(abi.CodeTimeout, false, ctx.Err(), "%s in time", what)
	}
	return failed(abi.CodeUnavailable, false, ctx.Err(), "%s before the call was given up", what)
}

// refused turns an answer that is not a success into an error.
func (e *endpoint) refused(ctx context.Context, key string, resp *http.Response, in *inflow) error {
	body, err := io.ReadAll(io.LimitReader(in, maxComplaint))
	if err != nil && ctx.Err() != nil {
		return e.broken(ctx, key, err, false)
	}
	said := stream.Scrub(complaint(body), key)
	f := refusal(resp.StatusCode, said, retryAfter(resp.Header, time.Now()))
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		f = failed(abi.CodeInvalid, false, nil, "url: the endpoint sends on to %s, and a redirect is not followed; give its address",
			readable(stream.Scrub(to.Scheme+"://"+to.Host, key)))
	}
	f.status, f.said, f.again = resp.StatusCode, strings.ToLower(said), f.again && !spent(string(body))
	return f
}

// refusal codes an HTTP status, or the one that an error within a stream stands for.
func refusal(status int, said string, after time.Duration) *failure {
	tell := func(f *failure) *failure {
		if said != "" {
			f.coded.Message += ": " + readable(said)
		}
		f.status, f.said, f.after = status, strings.ToLower(said), after
		return f
	}
	switch {
	case status == http.StatusTooManyRequests:
		f := failed(abi.CodeUnavailable, true, nil, "rate limited")
		if after > 0 {
			f.coded.Message += fmt.Sprintf(", asked to wait %v", after.Round(time.Millisecond))
		}
		return tell(f)
	case status == http.StatusRequestTimeout || status >= 500:
		return tell(failed(abi.CodeUnavailable, true, nil, "the endpoint failed (%d)", status))
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		return tell(failed(abi.CodeDenied, false, nil, "the endpoint refuses the key (%d)", status))
	case status == http.StatusNotFound:
		return tell(failed(abi.CodeInvalid, false, nil, "the endpoint does not know the model, or url is not its base (404)"))
	case status == http.StatusRequestEntityTooLarge:
		return tell(failed(abi.CodeTooLarge, false, nil, "the request is too large for the endpoint (413)"))
	}
	return tell(failed(abi.CodeInvalid, false, nil, "the endpoint refuses the request (%d)", status))
}

// spent says whether a refusal is about money: waiting does not help.
func spent(body string) bool {
	return strings.Contains(body, "insufficient_quota") || strings.Contains(body, "spend_limit_reached")
}

// complaint finds what an endpoint says in a refusal. There are at least five shapes of it:
// {"error":{"message":...,"code":...}}, {"error":"..."}, {"message":...}, {"detail":...} and text.
func complaint(body []byte) string {
	var shape struct{ Error, Message, Detail json.RawMessage }
	if json.Unmarshal(body, &shape) != nil {
		return string(body)
	}
	for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		var inner struct {
			Message           string
			Type, Code, Param any
		}
		if json.Unmarshal(raw, &inner) != nil || inner.Message == "" {
			return string(raw)
		}
		text = inner.Message
		for _, more := range []any{inner.Code, inner.Param} {
			if s, ok := more.(string); ok && s != "" && !strings.Contains(text, s) {
				text += " (" + s + ")"
			}
		}
		return text
	}
	return string(body)
}

// readable bounds what a server said to one line of an error.
func readable(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxSaid {
		s = strings.ToValidUTF8(s[:maxSaid], "") + "..."
	}
	return s
}
