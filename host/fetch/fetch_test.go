package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
)

// web is a server that counts who came.
type web struct {
	*httptest.Server
	hits atomic.Int64
}

func serve(t *testing.T, answer http.HandlerFunc) *web {
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.hits.Add(1)
		answer(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *web) host() string { return strings.TrimPrefix(w.URL, "http://") }
func (w *web) port() string { _, port, _ := strings.Cut(w.host(), ":"); return port }

// allowing makes a fetcher of one module, aya, whose names lead where look says.
func allowing(look map[string][]string, hosts ...string) *Fetcher {
	f := New(func(module string) []string {
		if module == "aya" {
			return hosts
		}
		return nil
	})
	f.look = func(_ context.Context, host string) (all []netip.Addr, err error) {
		for _, a := range look[host] {
			all = append(all, netip.MustParseAddr(a))
		}
		return all, nil
	}
	return f
}

func hello(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	w.Header().Add("X-Two", "a")
	w.Header().Add("X-Two", "b")
	w.WriteHeader(http.StatusTeapot)
	fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Key"), b, r.UserAgent())
}

func TestFetch(t *testing.T) {
	s := serve(t, hello)
	f := allowing(nil, s.host())
	got, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{Method: "POST", URL: s.URL + "/a", Headers: map[string]string{"X-Key": "k"}, Text: "こんにちは"})
	if err != nil || got.Status != http.StatusTeapot || got.Text != "POST /a k こんにちは companiond" || got.Headers["x-two"] != "a, b" || got.URL != s.URL+"/a" || got.Bytes != nil {
		t.Errorf("%+v, %v", got, err)
	}
	s = serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	got, err = allowing(nil, s.host()).Fetch(t.Context(), "aya", abi.FetchAsk{Method: "PUT", URL: s.URL, Bytes: []byte("RIFF\xff")})
	if err != nil || string(got.Bytes) != "RIFF\xff" || got.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Nothing is reached that is not in the list, by whatever way one tries.
func TestReachesNothingElse(t *testing.T) {
	secret := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") })
	port := secret.port()
	look := map[string][]string{
		"api.example": {"93.184.215.14"}, "inside.example": {"127.0.0.1"}, "mixed.example": {"93.184.215.14", "10.0.0.1"}, "six.example": {"::1"},
		"mapped.example": {"::ffff:127.0.0.1"}, "nat.example": {"64:ff9b::7f00:1"}, "cloud.example": {"169.254.169.254"}, "zero.example": {"0.0.0.0"},
		"localhost": {"127.0.0.1"}, "localhost.localdomain": {"127.0.0.1"}, "nobody.example": {},
	}
	names := []string{"api.example", "inside.example:" + port, "mixed.example:" + port, "six.example:" + port, "mapped.example:" + port, "nat.example:" + port, "cloud.example", "zero.example:" + port, "nobody.example"}
	redirect := ""
	way := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, redirect, http.StatusFound) })
	f := allowing(look, append(names, way.host())...)
	for _, c := range []struct {
		url  string
		code abi.Code
		why  string
	}{
		{secret.URL, abi.CodeDenied, "not among the hosts"},
		{"http://localhost:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://LOCALHOST:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://127.1:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://2130706433:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://0x7f000001:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://[::1]:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://[::ffff:127.0.0.1]:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://api.example:" + port, abi.CodeDenied, "not among the hosts"},
		{"http://api.example.:80", abi.CodeDenied, "not among the hosts"},
		{"http://api.example@127.0.0.1:" + port, abi.CodeInvalid, "a user or a password"},
		{"http://127.0.0.1:" + port + "#@api.example", abi.CodeDenied, "not among the hosts"},
		{"http://127.0.0.1:" + port + "\\@api.example", abi.CodeInvalid, "no address"},
		{"file:///etc/passwd", abi.CodeInvalid, "no address"},
		{"gopher://api.example", abi.CodeInvalid, "no address"},
		{"http:api.example", abi.CodeInvalid, "no address"},
		{"//api.example", abi.CodeInvalid, "no address"},
		{"http://inside.example:" + port, abi.CodeDenied, "no address of the public internet"},
		{"http://mixed.example:" + port, abi.CodeDenied, "10.0.0.1"},
		{"http://six.example:" + port, abi.CodeDenied, "::1"},
		{"http://mapped.example:" + port, abi.CodeDenied, "127.0.0.1"},
		{"http://nat.example:" + port, abi.CodeDenied, "64:ff9b::"},
		{"http://cloud.example/latest/meta-data", abi.CodeDenied, "169.254.169.254"},
		{"http://zero.example:" + port, abi.CodeDenied, "0.0.0.0"},
		{"http://nobody.example", abi.CodeUnavailable, "cannot be reached"},
	} {
		if got, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: c.url}); abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %+v, %v; want %s, %q", c.url, got, err, c.code, c.why)
		}
	}
	for _, to := range []string{secret.URL, "http://localhost:" + port, "http://inside.example:" + port, "http://[::ffff:127.0.0.1]:" + port, "file:///etc/passwd", "ftp://api.example", "http://a:b@" + way.host(), "//127.0.0.1:" + port} {
		redirect = to
		if got, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: way.URL}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("sent to %s: %+v, %v", to, got, err)
		}
	}
	redirect = way.URL // for ever
	if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: way.URL}); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "more than 5") {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]abi.Code{"Host": abi.CodeDenied, "Proxy-Authorization": abi.CodeDenied, "X\r\nHost": abi.CodeInvalid} {
		if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: way.URL, Headers: map[string]string{name: "127.0.0.1:" + port}}); abi.CodeOf(err) != want {
			t.Errorf("with the header %q: %v", name, err)
		}
	}
	if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: way.URL, Headers: map[string]string{"X": "a\r\nHost: b"}}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("a header in a header: %v", err)
	}
	if _, err := f.Fetch(t.Context(), "kyoko", abi.FetchAsk{URL: way.URL}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("another module: %v", err)
	}
	if n := secret.hits.Load(); n != 0 {
		t.Errorf("the secret was asked for %d times", n)
	}
}

// What is connected to is what was looked at: a name that leads elsewhere a moment later leads nowhere.
func TestNamesThatChange(t *testing.T) {
	secret := serve(t, hello)
	f := allowing(nil, "turns.example:"+secret.port())
	looked := 0
	f.look = func(context.Context, string) ([]netip.Addr, error) {
		if looked++; looked == 1 {
			return []netip.Addr{netip.MustParseAddr("192.0.0.9")}, nil // refused, as what is no address of anybody's
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	public := allowing(nil, "public.example:"+secret.port())
	public.look = func(context.Context, string) ([]netip.Addr, error) {
		if looked++; looked > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil // of which nothing comes here
	}
	if got, err := public.Fetch(t.Context(), "aya", abi.FetchAsk{URL: "http://public.example:" + secret.port(), Timeout: 300}); err == nil || looked != 1 {
		t.Errorf("%+v, looked up %d times", got, looked)
	}
	looked = 0
	for range 2 {
		before := looked
		if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: "http://turns.example:" + secret.port()}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("%v", err)
		}
		if looked != before+1 {
			t.Errorf("it was looked up %d times", looked-before)
		}
	}
	if secret.hits.Load() != 0 {
		t.Error("it was reached")
	}
}

// An address of the own network that is listed is meant, and so is localhost.
func TestListedAddresses(t *testing.T) {
	s := serve(t, hello)
	f := allowing(map[string][]string{"localhost": {"127.0.0.1"}}, "127.0.0.1:"+s.port(), "localhost:"+s.port())
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: "http://" + host + ":" + s.port()}); err != nil {
			t.Error(err)
		}
	}
}

// A redirection to what is listed is followed.
func TestRedirect(t *testing.T) {
	s := serve(t, hello)
	way := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+"/there", http.StatusTemporaryRedirect)
	})
	got, err := allowing(nil, s.host(), way.host()).Fetch(t.Context(), "aya", abi.FetchAsk{Method: "POST", URL: way.URL, Text: "x"})
	if err != nil || got.URL != s.URL+"/there" || !strings.HasPrefix(got.Text, "POST /there  x") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRedirectTellsNothing: another host is not told where the request was before, nor what was for that one.
func TestRedirectTellsNothing(t *testing.T) {
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	way := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.URL, http.StatusFound) })
	_, err := allowing(nil, s.host(), way.host()).Fetch(t.Context(), "aya", abi.FetchAsk{URL: way.URL + "/?key=1", Headers: map[string]string{"X-Key": "2"}})
	if err != nil || got.Get("Referer") != "" || got.Get("X-Key") != "" {
		t.Errorf("%v, %v", got, err)
	}
}

// No proxy of the environment is asked: it would look names up for itself.
func TestNoProxy(t *testing.T) {
	proxy := serve(t, hello)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	f := allowing(map[string][]string{"api.example": {"10.0.0.1"}}, "api.example")
	if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: "http://api.example/"}); abi.CodeOf(err) != abi.CodeDenied || proxy.hits.Load() != 0 {
		t.Errorf("%v, %d requests to the proxy", err, proxy.hits.Load())
	}
}

// Whatever the other side does, it costs what is configured.
func TestBounds(t *testing.T) {
	var bomb bytes.Buffer // made before anybody's time runs
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	let := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		case "/silent":
			select {
			case <-let:
			case <-r.Context().Done():
			}
		case "/drip":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		case "/breaks":
			panic(http.ErrAbortHandler)
		}
	})
	defer close(let)
	f := allowing(nil, s.host())
	for path, want := range map[string]abi.Code{
		"/endless": abi.CodeTooLarge, "/bomb": abi.CodeTooLarge, "/headers": abi.CodeUnavailable, "/silent?key=geheim": abi.CodeTimeout, "/drip": abi.CodeTimeout, "/breaks?key=geheim": abi.CodeUnavailable,
	} {
		ask := abi.FetchAsk{URL: s.URL + path}
		if want == abi.CodeTimeout {
			ask.Timeout = 100
		}
		got, err := f.Fetch(t.Context(), "aya", ask)
		if abi.CodeOf(err) != want || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %d bytes, %v; want %s", path, len(got.Text), err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Fetch(ctx, "aya", abi.FetchAsk{URL: s.URL + "/silent"}); abi.CodeOf(err) != abi.CodeTimeout {
		t.Errorf("given up: %v", err)
	}
	if _, err := allowing(nil, "127.0.0.1:1").Fetch(t.Context(), "aya", abi.FetchAsk{URL: "http://127.0.0.1:1/?key=geheim"}); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "nobody listens there") || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}

// A module has some requests at a time, and another has its own.
func TestAtOnce(t *testing.T) {
	let := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { <-let })
	f := New(func(string) []string { return []string{s.host()} })
	ended := make(chan error, 8)
	ask := func(module string, timeout int64) {
		go func() {
			_, err := f.Fetch(t.Context(), module, abi.FetchAsk{URL: s.URL, Timeout: timeout})
			ended <- err
		}()
	}
	for range maxAtOnce {
		ask("aya", abi.MaxFetch)
	}
	waittest.Until(t, "all run", func() bool { return s.hits.Load() == maxAtOnce })
	ask("aya", 50)
	if err := <-ended; abi.CodeOf(err) != abi.CodeTimeout || s.hits.Load() != maxAtOnce {
		t.Errorf("one more: %v, %d requests", err, s.hits.Load())
	}
	ask("kyoko", abi.MaxFetch)
	waittest.Until(t, "another module's runs", func() bool { return s.hits.Load() == maxAtOnce+1 })
	close(let)
	for range maxAtOnce + 1 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A certificate that nobody vouches for is not trusted, and https is not left for http.
func TestTLS(t *testing.T) {
	open := serve(t, hello)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, open.URL, http.StatusFound)
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	f := allowing(nil, strings.TrimPrefix(s.URL, "https://"), open.host())
	if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: s.URL}); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	f.client.Transport.(*http.Transport).TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
	if _, err := f.Fetch(t.Context(), "aya", abi.FetchAsk{URL: s.URL}); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "from https") {
		t.Errorf("%v", err)
	}
	if open.hits.Load() != 0 {
		t.Error("it was asked in the open")
	}
}

func TestPublic(t *testing.T) {
	for a, want := range map[string]bool{
		"93.184.215.14": true, "8.8.8.8": true, "2606:2800:220:1::1": true, "127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.100.100.200": false, "0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false, "fe80::1": false, "fe80::1%eth0": false, "fd00::1": false,
		"::ffff:10.0.0.1": false, "::ffff:8.8.8.8": true, "64:ff9b::a00:1": false, "2002:7f00:1::": false, "2001::1": false, "::127.0.0.1": false, "ff02::1": false,
	} {
		if got := Public(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // an IPv4 address in IPv6 is what it is without
		b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")
		a := netip.AddrFrom4([4]byte(b))
		if Public(a) != Public(netip.AddrFrom16(a.As16())) {
			t.Fatalf("%s", a)
		}
	})
}

// FuzzURL holds that whatever is asked, a host that is not listed gets no request.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:1", "http://a@b", "http://api.example:80@127.0.0.1/", "http://api.example/../", "http://[::1%25lo]:80", "HTTP://API.EXAMPLE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ask string) {
		fetch := allowing(nil, "api.example")
		var asked string
		fetch.look = func(_ context.Context, host string) ([]netip.Addr, error) {
			asked = host
			return nil, errors.New("no")
		}
		_, err := fetch.Fetch(context.Background(), "aya", abi.FetchAsk{URL: ask})
		if err == nil {
			t.Fatalf("%q was answered", ask)
		}
		if u, bad := url.Parse(ask); asked != "" && (bad != nil || !strings.EqualFold(u.Hostname(), "api.example") || !strings.EqualFold(asked, "api.example")) {
			t.Fatalf("%q: %q was asked", ask, asked)
		}
	})
}
