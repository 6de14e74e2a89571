package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
)

// fault is an error in OpenAI's shape.
type fault struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// unknownModel is an error about the model that a client asks for, with OpenAI's own
// code: clients look for it.
type unknownModel struct{ error }

// Unwrap gives the error that the other doors know.
func (u unknownModel) Unwrap() error { return u.error }

// faultOf gives an error as a client may see it, and its status.
func faultOf(err error) (f fault, status int) {
	d := guard.DetailsOf(err)
	f = fault{Message: d.Detail, Type: typeOf(d.Status), Code: string(d.Code)}
	var known *abi.Error
	if errors.As(err, &known) && known.Field != "" && d.Status < http.StatusInternalServerError {
		f.Param = &known.Field
	}
	if errors.As(err, &unknownModel{}) {
		f.Code = "model_not_found"
	}
	return f, d.Status
}

func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	guard.Note(w, err)
	if after := guard.RetryAfter(err); after != "" {
		w.Header().Set("Retry-After", after)
	}
	f, status := faultOf(err)
	writeFault(w, r, f, status)
}

func writeFault(w http.ResponseWriter, r *http.Request, f fault, status int) {
	body, _ := json.Marshal(map[string]fault{"error": f}) // of strings: it cannot fail
	if r.Method == http.MethodHead {
		body = nil
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nothing to do
}

// Errors serves a handler so that what others refuse below this door's paths, the guard
// for one, is told in OpenAI's shape: that is the only one which its clients show to people.
func Errors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		s := &shaper{ResponseWriter: w}
		next.ServeHTTP(s, r)
		if s.status == 0 {
			return
		}
		var d guard.Details
		if r.Method != http.MethodHead {
			_ = json.Unmarshal(s.problem.Bytes(), &d) // it is a problem of the house
		}
		f := fault{Message: d.Detail, Type: typeOf(s.status), Code: cmp.Or(codes[s.status], string(d.Code))}
		writeFault(w, r, f, s.status)
	})
}

// codes are OpenAI's for what the house has no code for.
var codes = map[int]string{http.StatusUnauthorized: "invalid_api_key"}

// ours says whether a path is one that OpenAI's clients ask. People's chats with agents are
// at the web door, whose problems they have.
func ours(path string) bool {
	switch path {
	case "/v1/chat", "/v1/chat/start", "/v1/chat/end":
		return false
	}
	for _, p := range []string{"/v1/chat", "/v1/models", "/v1/responses", "/v1/completions", "/v1/embeddings"} {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// shaper keeps a problem back, and lets all else through.
type shaper struct {
	http.ResponseWriter
	status  int // of the problem; 0: it is none
	problem bytes.Buffer
}

// Unwrap is how a response controller finds what is below.
func (s *shaper) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *shaper) WriteHeader(status int) {
	if s.Header().Get("Content-Type") == "application/problem+json" {
		s.status = status
		return
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *shaper) Write(b []byte) (int, error) {
	if s.status != 0 {
		return s.problem.Write(b)
	}
	return s.ResponseWriter.Write(b)
}
