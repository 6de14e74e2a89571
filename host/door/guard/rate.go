package guard

import (
	"container/list"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/companiond/companiond/abi"
)

// limitRate refuses an address that asks more often than it may.
func (g *Guard) limitRate(w http.ResponseWriter, r *http.Request) error {
	if g.rate == nil || local(r) {
		return nil
	}
	wait, ok := g.rate.take(remote(r), time.Now())
	if ok {
		return nil
	}
	g.cfg.Limited()
	seconds := int64(wait/time.Second) + 1
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	return abi.Errorf(abi.CodeExhausted, "too many requests from this address, try again in %d s", seconds)
}

// limiter keeps a token bucket for each of the addresses seen most recently.
type limiter struct {
	limit rate.Limit
	burst int
	max   int

	mu    sync.Mutex
	order *list.List // of *bucket, most recent first
	by    map[string]*list.Element
}

type bucket struct {
	addr   string
	tokens *rate.Limiter
}

func newLimiter(perSecond float64, burst, addresses int) *limiter {
	return &limiter{limit: rate.Limit(perSecond), burst: burst, max: addresses, order: list.New(), by: map[string]*list.Element{}}
}

// take uses one token of addr, or says how long until there is one.
func (l *limiter) take(addr string, now time.Time) (time.Duration, bool) {
	t := l.bucket(addr)
	if t.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - t.TokensAt(now)
	return time.Duration(missing / float64(l.limit) * float64(time.Second)), false
}

func (l *limiter) bucket(addr string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.by[addr]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*bucket).tokens
	}
	for l.order.Len() >= l.max {
		last := l.order.Back()
		delete(l.by, l.order.Remove(last).(*bucket).addr)
	}
	b := &bucket{addr: addr, tokens: rate.NewLimiter(l.limit, l.burst)}
	l.by[addr] = l.order.PushFront(b)
	return b.tokens
}

// local says whether a request comes from this machine itself.
func local(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// remote gives the key of the client's address: the address itself, or the /64
// of an IPv6 one, since a single host has all of that.
func remote(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a pipe in a test
	}
	a := at.Addr().Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// PerSecond gives [Config.Rate] for so many requests a second, of which 0 stands for no limit.
func PerSecond(n int) float64 {
	if n == 0 {
		return -1
	}
	return float64(n)
}
