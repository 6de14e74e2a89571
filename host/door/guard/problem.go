package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/companiond/companiond/abi"
)

// Details is the body of every refusal at an HTTP door: RFC 9457 problem
// details, with the code of abi.Error. It is an error itself, so that a door
// can hand it on.
type Details struct {
	Type   string   `json:"type" doc:"Always about:blank: the code says what kind of problem it is." example:"about:blank"`
	Title  string   `json:"title" doc:"The status in words." example:"Bad Request"`
	Status int      `json:"status" doc:"The HTTP status." example:"400"`
	Detail string   `json:"detail" doc:"What is wrong, for people." example:"text: must not be empty"`
	Code   abi.Code `json:"code" doc:"What is wrong, for programs." enum:"invalid,denied,not_found,conflict,stale,too_large,exhausted,unavailable,timeout,unknown_op,internal"`
	Retry  bool     `json:"retry" doc:"The same request may succeed later."`
	Errors []Field  `json:"errors,omitempty" doc:"What is wrong where, when the request itself is at fault."`

	cause error
}

// Field is one thing wrong with a request.
type Field struct {
	Location string `json:"location" doc:"Where it is." example:"body.text"`
	Message  string `json:"message" doc:"What is wrong there." example:"expected string"`
}

// Error gives the detail.
func (d *Details) Error() string { return d.Detail }

// Unwrap gives the cause, which is for logs only.
func (d *Details) Unwrap() error { return d.cause }

// GetStatus gives the HTTP status; huma asks for it.
func (d *Details) GetStatus() int { return d.Status }

// ContentType turns JSON into problem+json; huma asks for it.
func (d *Details) ContentType(ct string) string {
	if ct == "application/json" {
		return "application/problem+json"
	}
	return ct
}

// statuses has the HTTP status of each code but internal. This is the one table.
var statuses = map[abi.Code]int{
	"":                  http.StatusOK,
	abi.CodeInvalid:     http.StatusBadRequest,
	abi.CodeUnknownOp:   http.StatusBadRequest,
	abi.CodeDenied:      http.StatusForbidden,
	abi.CodeNotFound:    http.StatusNotFound,
	abi.CodeConflict:    http.StatusConflict,
	abi.CodeStale:       http.StatusConflict,
	abi.CodeTooLarge:    http.StatusRequestEntityTooLarge,
	abi.CodeExhausted:   http.StatusTooManyRequests,
	abi.CodeUnavailable: http.StatusServiceUnavailable,
	abi.CodeTimeout:     http.StatusGatewayTimeout,
}

// Status gives the HTTP status of a code.
func Status(code abi.Code) int { return cmp.Or(statuses[code], http.StatusInternalServerError) }

// DetailsOf turns any error into what a client may see of it. Faults of ours
// are told as such and no more.
func DetailsOf(err error) *Details {
	var d *Details
	if errors.As(err, &d) {
		return d
	}
	var known *abi.Error
	coded := errors.As(err, &known)
	switch {
	case (!coded || known.Code == abi.CodeInternal) && errors.Is(err, context.Canceled): // the client is gone, whatever that was called below
		known = abi.Wrap(abi.CodeUnavailable, err, "the request was given up")
	case !coded && errors.Is(err, context.DeadlineExceeded):
		known = abi.Wrap(abi.CodeTimeout, err, "not done in time")
	case !coded:
		known = abi.AsError(err)
	}
	d = &Details{Type: "about:blank", Status: Status(known.Code), Detail: known.Message, Code: known.Code, Retry: known.Retry, cause: err}
	d.Title = http.StatusText(d.Status)
	if d.Status == http.StatusInternalServerError {
		d.Detail, d.Code = "internal error", abi.CodeInternal
	}
	return d
}

// RetryAfter gives the header Retry-After for an error that knows it, in whole seconds; ""
// for all others, for a wrong one is worse than none.
func RetryAfter(err error) string {
	var known interface{ RetryAfter() time.Duration }
	if !errors.As(err, &known) {
		return ""
	}
	return strconv.FormatInt(int64((known.RetryAfter()+time.Second-1)/time.Second), 10)
}

// Problem answers a request with err as problem+json. The part of it that the
// client may not see goes to the access log.
func Problem(w http.ResponseWriter, r *http.Request, err error) {
	d := DetailsOf(err)
	ProblemStatus(w, r, d.Status, d)
}

// ProblemStatus is [Problem] with a status that no code has: 405, 408.
func ProblemStatus(w http.ResponseWriter, r *http.Request, status int, err error) {
	d := *DetailsOf(err)
	d.Status, d.Title = status, http.StatusText(status)
	Note(w, err)
	body, jsonErr := json.Marshal(&d)
	if jsonErr != nil { // cannot be: strings, numbers and bools
		http.Error(w, d.Title, status)
		return
	}
	h := w.Header()
	if after := RetryAfter(err); after != "" {
		h.Set("Retry-After", after)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(body, '\n')) // the client is gone: nothing to do
	}
}

// Mux serves a mux whose own refusals, unknown path and wrong method, are
// problem+json like every other.
func Mux(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &probe{header: http.Header{}}
		h.ServeHTTP(probe, r)
		switch probe.status {
		case http.StatusNotFound:
			Problem(w, r, abi.Errorf(abi.CodeNotFound, "there is nothing at %q", clip(r.URL.Path, 80)))
		case http.StatusMethodNotAllowed:
			allow := probe.header.Get("Allow")
			w.Header().Set("Allow", allow)
			ProblemStatus(w, r, probe.status, abi.Errorf(abi.CodeInvalid, "method: %s is not for %q, which takes %s", clip(r.Method, 20), clip(r.URL.Path, 80), allow))
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// probe learns what a handler would answer.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { p.WriteHeader(http.StatusOK); return len(b), nil }
func (p *probe) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}
