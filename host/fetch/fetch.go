// Package fetch asks the web for modules: only hosts that the configuration lists for the module, only
// addresses that it may mean by them, and only so much for so long.
//
// A name in the list means addresses of the public internet, whatever it resolves to: one that leads
// into the house's own network is refused, also on the second look, for what was looked up is what is
// connected to. An address of the own network has to be listed itself. A redirection is another request, held to
// the same list.
//
// The package knows no modules, keeps nothing between two requests, and sends nothing that it was not asked to: no
// cookies, and no proxy of the environment.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

const (
	// maxRedirects is how often one request may be sent elsewhere.
	maxRedirects = 5
	// maxAtOnce is how many requests of one module run at a time; the others wait.
	maxAtOnce = 4
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 64 << 10
)

// Fetcher asks. It is safe for concurrent use.
type Fetcher struct {
	hosts  func(module string) []string
	look   func(ctx context.Context, host string) ([]netip.Addr, error)
	client *http.Client

	mu   sync.Mutex
	busy map[string]chan struct{} // by module, with a token for each request
}

// New makes one. hosts gives what a module may ask: host, or host:port, in small letters; without a port it is that
// of the scheme.
func New(hosts func(module string) []string) *Fetcher {
	f := &Fetcher{hosts: hosts, busy: map[string]chan struct{}{}, look: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
	f.client = &http.Client{
		Transport: &http.Transport{
			DialContext: f.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second,
		},
		CheckRedirect: f.redirect,
	}
	return f
}

// asking is who asks, in the context of a request.
type asking struct{ module string }

type askingKey struct{}

// Fetch asks for a module.
//
// # Errors
//
// *abi.Error: CodeDenied where the host is not listed or leads where it may not, CodeTooLarge for an
// answer that is too long, CodeTimeout, and CodeUnavailable where the other side cannot be reached. None has
// more of the other side's words than an address.
func (f *Fetcher) Fetch(ctx context.Context, module string, ask abi.FetchAsk) (abi.Fetched, error) {
	if err := ask.Check(); err != nil {
		return abi.Fetched{}, err
	}
	limit := time.Duration(ask.Timeout) * time.Millisecond
	if limit == 0 {
		limit = abi.UsualFetch * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, askingKey{}, asking{module}), limit)
	defer cancel()
	req, err := request(ctx, ask)
	if err != nil {
		return abi.Fetched{}, abi.Field("url", abi.CodeInvalid, "%.100q cannot be asked", ask.URL)
	}
	if err := f.listed(module, req.URL); err != nil {
		return abi.Fetched{}, err
	}
	done, err := f.turn(ctx, module)
	if err != nil {
		return abi.Fetched{}, trouble(ctx, req.URL, err)
	}
	defer done()
	resp, err := f.client.Do(req)
	if err != nil {
		return abi.Fetched{}, trouble(ctx, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, abi.MaxFetched+1))
	if err != nil {
		return abi.Fetched{}, trouble(ctx, req.URL, err)
	}
	if len(body) > abi.MaxFetched {
		return abi.Fetched{}, abi.Errorf(abi.CodeTooLarge, "http.fetch: the answer has more than %d bytes (MaxFetched)", abi.MaxFetched)
	}
	got := abi.Fetched{Status: resp.StatusCode, URL: resp.Request.URL.String(), Headers: map[string]string{}}
	for name, values := range resp.Header {
		got.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	got.Body(body)
	return got, nil
}

// turn waits until a module may have one more request run.
func (f *Fetcher) turn(ctx context.Context, module string) (done func(), err error) {
	f.mu.Lock()
	busy := f.busy[module]
	if busy == nil {
		busy = make(chan struct{}, maxAtOnce)
		f.busy[module] = busy
	}
	f.mu.Unlock()
	select {
	case busy <- struct{}{}:
		return func() { <-busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func request(ctx context.Context, ask abi.FetchAsk) (*http.Request, error) {
	method, body := ask.Method, string(ask.Bytes)+ask.Text
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, ask.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body == "" {
		req.Body, req.GetBody = http.NoBody, func() (io.ReadCloser, error) { return http.NoBody, nil }
	}
	req.Header.Set("User-Agent", "companiond")
	for name, value := range ask.Headers {
		req.Header.Set(name, value)
	}
	return req, nil
}

// listed refuses what is not in a module's list.
func (f *Fetcher) listed(module string, u *url.URL) error {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if _, ok := f.entry(module, host, port); ok {
		return nil
	}
	show := host
	if u.Port() != "" {
		show = net.JoinHostPort(host, port)
	}
	return abi.Errorf(abi.CodeDenied, "url: %.100q is not among the hosts of %s; to allow it, write under [module.%s] in the configuration: hosts = [..., %.100q]", show, module, module, show)
}

// entry finds the entry of a module's list by which it may ask a host at a port.
func (f *Fetcher) entry(module, host, port string) (entry string, ok bool) {
	list := f.hosts(module)
	for _, name := range []string{net.JoinHostPort(host, port), host, "[" + host + "]"} {
		standard := port == "80" || port == "443"
		if slices.Contains(list, name) && (standard || name == net.JoinHostPort(host, port)) {
			return name, true
		}
	}
	return "", false
}

// redirect holds a redirection to the list, and to the scheme: what was asked for in secret is not
// asked for in the open.
func (f *Fetcher) redirect(req *http.Request, via []*http.Request) error {
	who, _ := req.Context().Value(askingKey{}).(asking)
	switch {
	case len(via) > maxRedirects:
		return abi.Errorf(abi.CodeDenied, "http.fetch: more than %d redirections", maxRedirects)
	case req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https", req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return abi.Errorf(abi.CodeDenied, "http.fetch: a redirection leads from %s to %.10q", via[len(via)-1].URL.Scheme, req.URL.Scheme)
	case req.URL.User != nil:
		return abi.Errorf(abi.CodeDenied, "http.fetch: a redirection has a user or a password")
	}
	if req.Header.Del("Referer"); req.URL.Host != via[0].URL.Host {
		clear(req.Header) // they were for another
	}
	if err := f.listed(who.module, req.URL); err != nil {
		return abi.Errorf(abi.CodeDenied, "a redirection: %s", abi.AsError(err).Message)
	}
	return nil
}

// dial connects to one of the addresses of a host, of which it has looked at all.
func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	who, _ := ctx.Value(askingKey{}).(asking)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, ok := f.entry(who.module, strings.ToLower(host), port); !ok { // as the transport spells it
		return nil, abi.Errorf(abi.CodeDenied, "url: %.100q is not among the hosts of %s", host, who.module)
	}
	addrs, err := f.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = d.DialContext(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// addresses gives those of a host, none of which leads where its name may not. An address that is listed itself, and
// localhost, may lead anywhere: whoever wrote that meant it.
func (f *Fetcher) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	all, err := f.look(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("it has no address")
	}
	for i, a := range all {
		all[i] = a.Unmap()
		own := strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") && all[i].IsLoopback()
		if !own && !Public(all[i]) {
			return nil, abi.Errorf(abi.CodeDenied, "url: %.100q leads to %s, which is no address of the public internet; if it is meant, list that address in place of the name", host, all[i])
		}
	}
	return all, nil
}

// trouble says why nothing came.
func trouble(ctx context.Context, u *url.URL, err error) error {
	var e *abi.Error
	var timeout net.Error
	switch {
	case errors.As(err, &e):
		return e
	case context.Cause(ctx) != nil, errors.As(err, &timeout) && timeout.Timeout():
		return abi.Errorf(abi.CodeTimeout, "http.fetch: %.100q did not answer in time", u.Host)
	}
	var op *url.Error
	if errors.As(err, &op) {
		err = op.Err // without the address, in which there may be a key
	}
	return abi.Wrap(abi.CodeUnavailable, err, fmt.Sprintf("http.fetch: %.100q cannot be reached: %s", u.Host, why(err)))
}

// why gives the kind of an error, without what the other side said.
func why(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.As(err, &op) && op.Op == "dial":
		return "nobody listens there"
	case strings.Contains(err.Error(), "tls:"), strings.Contains(err.Error(), "x509:"):
		return "its certificate is not to be trusted"
	}
	return "the connection broke, or it does not speak HTTP"
}
