// Package guard is what every HTTP request passes before it reaches a door. In
// this order, outermost first:
//
//  1. observe: a panic becomes a 500, and the request is logged (method, path,
//     status, size, time; never a query, a body or a header, for those carry
//     words and tokens);
//  2. the Host list: a name that is not ours is refused, which is the end of
//     DNS rebinding;
//  3. the origin check: a state-changing request that a browser sends from
//     another site is refused;
//  4. CORS, for listed origins only; preflights end here;
//  5. the rate limit, one bucket a remote address;
//  6. the token, or that there is none: who asks;
//  7. the body: read whole, under a bound and a deadline, so that a door never
//     waits for a client in the middle of a request. Large ones share a bound, too,
//     or images sent at once would fill the memory.
//
// It knows nothing of rooms; it finds out who asks, and the rights of that one are
// for the doors to ask [identity.Of]. A
// WebSocket handshake is a GET, which the origin check lets pass by design: the
// socket door must ask [Guard.CheckOrigin] itself.
package guard

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/companiond/companiond/host/identity"
)

// Config is a guard's settings. The zero value suits a daemon on loopback.
type Config struct {
	// Listen is the address the server listens on, "127.0.0.1:3000". Its host
	// is allowed as Host. Empty, or a host of 0.0.0.0 or ::, adds nothing: then
	// the address a connection came in at is allowed, as it always is.
	Listen string
	// Hosts are further names the daemon answers to: "companion.lan" with any
	// port, or "companion.lan:8080". Empty means loopback names only.
	Hosts []string
	// Origins are the web origins besides our own that may use the doors,
	// "http://localhost:5173"; also "null" and "file://" for Electron and OBS.
	// They match exactly, and are the only ones to get CORS headers. Empty
	// means none.
	Origins []string
	// MaxBody bounds a request's body in bytes. Zero means 1 MiB.
	MaxBody int64
	// MaxBodyAt bounds bodies below a path prefix instead, "/mcp": 4 << 20. The
	// longest prefix counts. Nil means MaxBody everywhere.
	MaxBodyAt map[string]int64
	// LargeBody is how many bytes make a body a large one, and LargeBodies how many
	// large ones together may have that are on their way: from before they are read
	// until they were answered, or a door said [BodyDone]. One that finds no space within
	// 2 s is refused, with Retry-After; all other bodies never wait. Zero means 1 MiB,
	// and 64 MiB. No single body is refused for want of space: LargeBodies is at least
	// the largest that is allowed.
	LargeBody, LargeBodies int64
	// BodyTimeout is how long a body may take to come in. Zero means 10 s.
	BodyTimeout time.Duration
	// Tokens are those of the house; nil means none.
	Tokens *identity.Register
	// TokensOnly turns away whoever comes without a token; else that is a guest.
	TokensOnly bool
	// Rate is how many requests a second one remote address may make over time,
	// Burst how many at once. IPv6 counts by /64. This machine itself is not
	// counted: a program that runs here may be fast, and is asked nothing else either. A
	// proxy on this machine has to count its clients by itself. Zero means 200
	// and 400; a negative Rate means no limit.
	Rate  float64
	Burst int
	// RateAddresses bounds how many addresses are remembered; the one unseen
	// for longest is forgotten, and so starts anew. Zero means 4096.
	RateAddresses int
	// Limited is told of each request that the rate limit refuses. Nil: nobody is.
	Limited func()
}

func (c Config) withDefaults() Config {
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.LargeBody = cmp.Or(c.LargeBody, 1<<20)
	c.LargeBodies = cmp.Or(c.LargeBodies, 64<<20)
	c.LargeBodies = max(c.LargeBodies, c.MaxBody)
	for _, n := range c.MaxBodyAt {
		c.LargeBodies = max(c.LargeBodies, n)
	}
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 10*time.Second)
	c.Rate = cmp.Or(c.Rate, 200)
	c.Burst = cmp.Or(c.Burst, 400)
	c.RateAddresses = cmp.Or(c.RateAddresses, 4096)
	if c.Limited == nil {
		c.Limited = func() {}
	}
	return c
}

// Guard holds the middleware of one server. Its methods may be called from many
// goroutines.
type Guard struct {
	cfg     Config
	log     *slog.Logger
	hosts   map[string]bool // "name" or "name:port", lower case
	origins map[string]bool
	cross   *http.CrossOriginProtection
	rate    *limiter            // nil: no limit
	space   *semaphore.Weighted // for large bodies

	warning sync.Mutex
	warned  map[string]bool // origins that the log has named
}

// New makes a guard. It fails for a host or an origin that could never match.
func New(cfg Config, log *slog.Logger) (*Guard, error) {
	cfg = cfg.withDefaults()
	g := &Guard{cfg: cfg, log: log, hosts: map[string]bool{}, origins: map[string]bool{}, warned: map[string]bool{}, cross: http.NewCrossOriginProtection()}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		g.hosts[name] = true
	}
	if name, _ := splitHost(cfg.Listen); name != "" && !unspecified(name) {
		g.hosts[name] = true
	}
	for _, h := range cfg.Hosts {
		name, port := splitHost(h)
		if a, err := netip.ParseAddr(h); err == nil {
			name = a.String() // IPv6 without brackets
		}
		if name == "" || strings.ContainsAny(h, "/*@ ") {
			return nil, fmt.Errorf("allow host: %q is not a host name with or without a port", h)
		}
		g.hosts[hostKey(name, port)] = true
	}
	for _, o := range cfg.Origins {
		if err := checkOrigin(o); err != nil {
			return nil, fmt.Errorf("allow origin: %w", err)
		}
		g.origins[o] = true
	}
	g.space = semaphore.NewWeighted(cfg.LargeBodies)
	if cfg.Rate > 0 {
		g.rate = newLimiter(cfg.Rate, cfg.Burst, cfg.RateAddresses)
	}
	return g, nil
}

// Handler puts the guard before next, the whole mux.
func (g *Guard) Handler(next http.Handler) http.Handler {
	h := g.limitBody(next)
	h = g.identify(h)
	h = passing(g.limitRate, h)
	h = g.allowCORS(h)
	h = passing(g.checkCrossOrigin, h)
	h = passing(g.checkHost, h)
	return g.observe(h)
}

// passing lets only requests through in which a check finds nothing wrong.
func passing(check func(http.ResponseWriter, *http.Request) error, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(w, r); err != nil {
			Problem(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Server makes a server with the time-outs that are safe for long answers:
// headers must come within 5 s and an idle connection ends after 120 s, but
// there is no ReadTimeout and no WriteTimeout, which would cut event streams
// and WebSockets. Bodies have their deadline from the guard.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func checkOrigin(o string) error {
	if o == "null" || o == "file://" {
		return nil
	}
	u, err := url.Parse(o)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o || o != strings.ToLower(o) || strings.Contains(o, "*") {
		return fmt.Errorf(`%q is not "scheme://host" or "scheme://host:port" in lower case, "null" or "file://"`, o)
	}
	return nil
}
