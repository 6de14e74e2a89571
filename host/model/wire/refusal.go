package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

// ErrRefused is in the chain of what an endpoint answered with a status of its own.
var ErrRefused = errors.New("the endpoint refuses the request")

// refusal codes an HTTP status, or the one that an error within a stream stands for.
func refusal(status int, said string, after time.Duration) *Failure {
	code, again, what := abi.CodeInvalid, false, fmt.Sprintf("the endpoint refuses the request (%d)", status)
	switch {
	case status == http.StatusTooManyRequests:
		code, again, what = abi.CodeUnavailable, true, "rate limited"
		if after > 0 {
			what += fmt.Sprintf(", asked to wait %v", after.Round(time.Millisecond))
			if after == mostAfter {
				what += " or longer, and is asked again then"
			}
		}
	case status == http.StatusRequestTimeout || status >= 500:
		code, again, what = abi.CodeUnavailable, true, fmt.Sprintf("the endpoint failed (%d)", status)
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		code, what = abi.CodeDenied, fmt.Sprintf("the endpoint refuses the key (%d)", status)
	case status == http.StatusNotFound:
		what = "the endpoint does not know the model, or url is not its base (404)"
	case status == http.StatusRequestEntityTooLarge:
		code, what = abi.CodeTooLarge, "the request is too large for the endpoint (413)"
	}
	if said != "" {
		what += ": " + Readable(said)
	}
	f := Failed(code, again, ErrRefused, "%s", what)
	f.Status, f.Said, f.After = status, strings.ToLower(said), after
	f.Coded.After = after.Milliseconds()
	return f
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

// Readable bounds what a server said to one line of an error.
func Readable(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxSaid {
		s = strings.ToValidUTF8(s[:maxSaid], "") + "..."
	}
	return s
}

// Complains says whether a whole answer is an error.
func Complains(data []byte) bool {
	var shape struct {
		Error  json.RawMessage
		Object any
	}
	return json.Unmarshal(data, &shape) == nil && (len(shape.Error) > 0 && string(shape.Error) != "null" || shape.Object == "error")
}

// Streamed reads an error that comes within a stream. Some servers give it the HTTP status that it
// would have been.
func Streamed(data []byte, key string) *Failure {
	var shape struct{ Error json.RawMessage }
	var inner struct {
		Code any
		Type string
	}
	_ = json.Unmarshal(data, &shape) // what has another shape has no code
	if len(shape.Error) == 0 {
		shape.Error = data
	}
	_ = json.Unmarshal(shape.Error, &inner)
	status, known := statuses[inner.Type]
	if n, ok := inner.Code.(float64); ok && n >= 400 && n < 600 {
		status = int(n)
	} else if !known {
		status = http.StatusBadGateway
	}
	return refusal(status, stream.Scrub(complaint(data), key), 0)
}

// statuses are the HTTP statuses that an API's names for errors stand for.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"timeout_error":         http.StatusRequestTimeout,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"overloaded_error":      529,
}

// retryAfter reads how long an endpoint asks to wait: seconds or a date (RFC 9110 10.2.3), or the
// milliseconds that OpenAI's API adds. 0: it does not say. More than mostAfter is taken for that much.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok && ms > 0 {
		return clamp(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := number(value); ok {
		return clamp(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return clamp(at.Sub(now).Seconds())
	}
	return 0
}

// mostAfter is the longest that an endpoint is left alone on its own word, which may be wrong: a
// date that is years away would silence whoever thinks with it.
const mostAfter = time.Hour

// number reads one, of any size.
func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// clamp gives seconds as a duration that is not above mostAfter.
func clamp(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, mostAfter.Seconds()) * float64(time.Second))
}
