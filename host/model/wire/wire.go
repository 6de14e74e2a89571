// Package wire sends a request to an endpoint of a language model, and reads the events of its answer. What
// goes wrong is told in codes and words, with what the endpoint said, and without the key.
//
// It sends once: whether again is for its caller to decide, who is told whether that may help. It knows no
// API but the shapes of their errors.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

const (
	maxAnswer    = 4 << 20  // bytes of an answer
	maxComplaint = 64 << 10 // bytes that are read of a refusal
	maxSaid      = 300      // bytes of a refusal that an error repeats
	drainTime    = 100 * time.Millisecond
)

// Failure is a request that failed.
type Failure struct {
	Coded  *abi.Error
	Again  bool          // the same request may be sent again, if nobody was told anything
	After  time.Duration // how long the endpoint asks to wait
	Status int           // of the refusal; 0 for others
	Said   string        // what the endpoint said in its refusal, without the key, in lower case
}

// Error gives code and message.
func (f *Failure) Error() string { return f.Coded.Error() }

// Unwrap gives the coded error.
func (f *Failure) Unwrap() error { return f.Coded }

// Failed makes a Failure. The cause is for logs; its text must be without the key.
func Failed(code abi.Code, again bool, cause error, format string, args ...any) *Failure {
	return &Failure{Coded: abi.Wrap(code, cause, fmt.Sprintf(format, args...)), Again: again}
}

// The causes that end a request from within.
var (
	errFirstByte = errors.New("no first byte in time")
	errTooLarge  = errors.New("answer too large")
)

// Endpoint is where requests go.
type Endpoint struct {
	HTTP      *http.Client // its CheckRedirect is not used
	URL       string
	FirstByte time.Duration                   // from a request to the first byte of its answer; 0: for ever
	Most      int                             // bytes of an answer; 0: 4 MiB
	Sign      func(h http.Header, key string) // puts the key, and what else is demanded, into the header
	Rest      *Rest                           // is told of refusals; nil: nobody is
}

// Post sends one request and gives each event of its answer to each, until that says that it was the
// last. It returns what each returns, io.EOF when the answer ended before the last, and a *[Failure].
func (e Endpoint) Post(ctx context.Context, key string, body []byte, each func(stream.Event) (last bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.Most = cmp.Or(e.Most, maxAnswer)
	in := &inflow{arrived: func() {}, left: e.Most}
	if e.FirstByte > 0 {
		timer := time.AfterFunc(e.FirstByte, func() { cancel(errFirstByte) })
		defer timer.Stop()
		in.arrived = func() { timer.Stop() }
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return Failed(abi.CodeInvalid, false, nil, "url: cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("Accept-Encoding", "identity") // a compressed stream comes late
	req.Header.Set("User-Agent", "companiond")
	e.Sign(req.Header, key)
	client := *e.HTTP
	// A redirect would carry the key to another host, or turn the POST into a GET.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
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
func (e Endpoint) stream(ctx context.Context, key string, in *inflow, each func(stream.Event) (bool, error)) error {
	from, any := stream.NewEvents(in), false
	for {
		ev, err := from.Next()
		switch {
		case errors.Is(err, io.EOF) && any:
			return io.EOF // whether it was the end, the API knows
		case errors.Is(err, io.EOF) && in.left == e.Most:
			return Failed(abi.CodeUnavailable, true, err, "the endpoint closed the connection without an answer")
		case errors.Is(err, io.EOF):
			return Failed(abi.CodeInvalid, false, nil, "the endpoint's answer is none of this API; is url its base, with the version?")
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
func (e Endpoint) broken(ctx context.Context, key string, err error, begun bool) error {
	switch {
	case errors.Is(err, errTooLarge):
		return Failed(abi.CodeTooLarge, false, nil, "the endpoint's answer is larger than %d MiB", e.Most>>20)
	case errors.Is(context.Cause(ctx), errFirstByte):
		return Failed(abi.CodeTimeout, true, context.DeadlineExceeded, "the endpoint sent nothing within %v", e.FirstByte)
	case ctx.Err() != nil:
		return Ended(ctx, "the model did not answer")
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
	return Failed(abi.CodeUnavailable, true, err, "%s: %s", what, Readable(why))
}

// Ended says why a call was given up when its context is done.
func Ended(ctx context.Context, what string) *Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Failed(abi.CodeTimeout, false, ctx.Err(), "%s in time", what)
	}
	return Failed(abi.CodeUnavailable, false, ctx.Err(), "%s before the call was given up", what)
}

// refused turns an answer that is not a success into an error.
func (e Endpoint) refused(ctx context.Context, key string, resp *http.Response, in *inflow) error {
	body, err := io.ReadAll(io.LimitReader(in, maxComplaint))
	if err != nil && ctx.Err() != nil {
		return e.broken(ctx, key, err, false)
	}
	said := stream.Scrub(complaint(body), key)
	f := refusal(resp.StatusCode, said, retryAfter(resp.Header, time.Now()))
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		f = Failed(abi.CodeInvalid, false, nil, "url: the endpoint sends on to %s, and a redirect is not followed; give its address",
			Readable(stream.Scrub(to.Scheme+"://"+to.Host, key)))
	}
	f.Status, f.Said, f.Again = resp.StatusCode, strings.ToLower(said), f.Again && !spent(string(body))
	e.Rest.hold(f, time.Now())
	return f
}

// Cut is an answer that broke off.
func Cut() *Failure {
	return Failed(abi.CodeUnavailable, true, io.ErrUnexpectedEOF, "the endpoint broke off within its answer")
}

// Unread says that an event is not what the API should send.
func Unread(ev stream.Event, err error) *Failure {
	if ev.Torn {
		return Cut()
	}
	return Failed(abi.CodeInvalid, false, nil, "the endpoint's answer cannot be read: %s", Readable(err.Error()))
}
