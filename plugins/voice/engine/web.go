package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
)

// maxAnswer bounds what an engine may answer, in bytes: minutes of the best sound.
const maxAnswer = 32 << 20

// web asks a server. It goes through no proxy and follows no redirection: a key stays with whom it is for.
type web struct {
	called, address, key string
	client               *http.Client
}

func newWeb(called, address, key string) *web {
	return &web{called, address, key, &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     time.Minute,
			ForceAttemptHTTP2:   true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (w *web) String() string { return w.called + " at " + w.address }

// answer is what a server answered.
type answer struct {
	kind string // its content type
	body []byte
}

// ask sends a request, with a body where it is not nil, and gives the answer where all went well.
func (w *web) ask(ctx context.Context, method, path string, query url.Values, body []byte) (a answer, err error) {
	timed, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	address := w.address + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(timed, method, address, bytes.NewReader(body))
	if err != nil {
		return a, abi.Wrap(abi.CodeInvalid, err, "address: "+w.address+" is none")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if w.key != "" {
		r.Header.Set("Authorization", "Bearer "+w.key)
	}
	got, err := w.client.Do(r)
	if err != nil {
		return a, w.unreached(ctx, timed, err)
	}
	defer func() { _ = got.Body.Close() }()
	a.kind = got.Header.Get("Content-Type")
	a.body, err = io.ReadAll(io.LimitReader(got.Body, maxAnswer+1))
	switch {
	case err != nil:
		return a, w.unreached(ctx, timed, err)
	case got.StatusCode != http.StatusOK:
		return a, w.refused(path, got.StatusCode, a.body)
	case len(a.body) > maxAnswer:
		return a, abi.Errorf(abi.CodeTooLarge, "%s answers with more than %d MiB", w, maxAnswer>>20)
	}
	return a, nil
}

// unreached says why there is no answer. The cause, which may hold the text and the key, is not shown.
func (w *web) unreached(ctx, timed context.Context, cause error) error {
	var dial *net.OpError
	switch {
	case ctx.Err() != nil:
		return abi.Wrap(abi.CodeTimeout, ctx.Err(), "nobody waits for it any more")
	case timed.Err() != nil:
		return abi.Errorf(abi.CodeTimeout, "%s took longer than %d s", w, Patience/time.Second)
	case errors.As(cause, &dial) && dial.Op == "dial":
		return abi.Wrap(abi.CodeUnavailable, cause, w.String()+" does not answer: start it, or write another address")
	}
	return abi.Wrap(abi.CodeUnavailable, cause, w.String()+" broke off its answer: look whether it still runs")
}

// refused says what a server says that it does not do.
func (w *web) refused(path string, status int, body []byte) error {
	why := w.why(body)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return abi.Errorf(abi.CodeDenied, "%s wants another key (%d): correct key in the handler's secrets", w, status)
	case status == http.StatusNotFound && why == "":
		return abi.Errorf(abi.CodeNotFound, "%s has no %s: look whether the address and the engine are those that you mean", w, path)
	case status == http.StatusTooManyRequests:
		return abi.Errorf(abi.CodeExhausted, "%s is asked too often, or what is paid for is used up%s", w, why)
	case status >= 500:
		return abi.Errorf(abi.CodeUnavailable, "%s failed (%d)%s", w, status, cmp.Or(why, ": look into its log"))
	}
	return abi.Errorf(abi.CodeInvalid, "%s refused it (%d)%s", w, status, why)
}

// why finds the reason in an answer, as FastAPI and OpenAI write it, and puts a colon before it.
func (w *web) why(body []byte) string {
	var told struct {
		Detail json.RawMessage `json:"detail"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &told) != nil {
		return ""
	}
	text := told.Error.Message
	var detail string
	var details []struct {
		Where []any  `json:"loc"`
		Why   string `json:"msg"`
	}
	switch {
	case json.Unmarshal(told.Detail, &detail) == nil && detail != "":
		text = detail
	case json.Unmarshal(told.Detail, &details) == nil && len(details) > 0:
		text = details[0].Why
		if n := len(details[0].Where); n > 0 {
			if field, ok := details[0].Where[n-1].(string); ok {
				text = field + ": " + text
			}
		}
	}
	if text = w.shown(text); text == "" {
		return ""
	}
	return ": " + text
}

// shown keeps a text of the server's to one line of at most 200 letters that can be seen, without the key.
func (w *web) shown(text string) string {
	if w.key != "" {
		text = strings.ReplaceAll(text, w.key, "…")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if letters := []rune(text); len(letters) > 200 {
		return string(letters[:199]) + "…"
	}
	return text
}
