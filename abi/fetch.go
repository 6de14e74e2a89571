package abi

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// FetchAsk asks for what is at an address of the web. Where it may be is granted by name: hosts of the
// module in the daemon's configuration.
type FetchAsk struct {
	Method  string            `json:"method,omitempty"` // GET where it is empty; HEAD, POST, PUT, PATCH or DELETE
	URL     string            `json:"url"`              // http or https
	Headers map[string]string `json:"headers,omitempty"`
	Text    string            `json:"text,omitempty"`       // the body
	Bytes   []byte            `json:"bytes,omitempty"`      // the body where it is no text; base64
	Timeout int64             `json:"timeout_ms,omitempty"` // for all of it; 0 means UsualFetch, at most MaxFetch
}

// Fetched answers HostHTTPFetch, whatever the status is.
type Fetched struct {
	Status  int               `json:"status"`
	URL     string            `json:"url"`               // where it was at last
	Headers map[string]string `json:"headers,omitempty"` // by their names in small letters, several values with ", " between them
	Text    string            `json:"text,omitempty"`    // the body
	Bytes   []byte            `json:"bytes,omitempty"`   // the body where it is no UTF-8; base64
}

// Bounds of a fetch. Times are in milliseconds.
const (
	UsualFetch      = 10_000
	MaxFetch        = 60_000
	MaxFetchURL     = 8 << 10   // bytes
	MaxFetchHeaders = 32        // headers, in which 16 KiB are
	MaxFetchBody    = 512 << 10 // bytes sent
	MaxFetched      = 4 << 20   // bytes of the answer's body
)

// fetchMethods are those that may be asked for.
func fetchMethods() []string { return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} }

// keptHeaders are the client's own to set: who is asked, how the body is framed, and which connection it is.
func keptHeaders() []string {
	return []string{
		"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
		"proxy-authorization", "proxy-connection", "accept-encoding",
	}
}

// Check reports the first field that breaks a rule, whatever host is asked.
func (a FetchAsk) Check() error {
	if a.Method != "" && !slices.Contains(fetchMethods(), a.Method) {
		return Field("method", CodeInvalid, "%.32q is none of %s", a.Method, strings.Join(fetchMethods(), ", "))
	}
	if len(a.URL) > MaxFetchURL {
		return Field("url", CodeTooLarge, "%d bytes, at most %d (MaxFetchURL)", len(a.URL), MaxFetchURL)
	}
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return Field("url", CodeInvalid, "%.100q is no address that begins with http:// or https://", a.URL)
	case u.User != nil:
		return Field("url", CodeInvalid, "has a user or a password; they belong into a header")
	}
	size := 0
	for name, value := range a.Headers {
		size += len(name) + len(value)
		switch {
		case name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "":
			return Field("headers", CodeInvalid, "%.64q is no name of a header", name)
		case slices.Contains(keptHeaders(), strings.ToLower(name)):
			return Field("headers", CodeDenied, "%.64q is the daemon's to set", name)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return Field("headers", CodeInvalid, "the value of %.64q has a control character", name)
		}
	}
	switch {
	case len(a.Headers) > MaxFetchHeaders || size > 16<<10:
		return Field("headers", CodeTooLarge, "%d headers of %d bytes, at most %d of 16384", len(a.Headers), size, MaxFetchHeaders)
	case a.Text != "" && len(a.Bytes) > 0:
		return Field("bytes", CodeInvalid, "there is a text as well")
	case len(a.Text)+len(a.Bytes) > MaxFetchBody:
		return Field("text", CodeTooLarge, "%d bytes, at most %d (MaxFetchBody)", len(a.Text)+len(a.Bytes), MaxFetchBody)
	case a.Timeout < 0 || a.Timeout > MaxFetch:
		return Field("timeout_ms", CodeInvalid, "%d is outside 0..%d", a.Timeout, int64(MaxFetch))
	}
	return nil
}

// Body sets the body of an answer: a text where it is one.
func (f *Fetched) Body(b []byte) {
	if utf8.Valid(b) {
		f.Text = string(b)
	} else {
		f.Bytes = b
	}
}
