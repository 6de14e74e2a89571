package guard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/companiond/companiond/abi"
)

// checkHost lets only requests for one of our names pass. A page on another
// site that points its own name at 127.0.0.1 sends that name as Host.
func (g *Guard) checkHost(w http.ResponseWriter, r *http.Request) error {
	if !g.allowedHost(r) {
		// 403 and not 421: MCP clients and their conformance suite know it.
		return abi.Errorf(abi.CodeDenied, "host: %q is not a name of this server", clip(r.Host, 80))
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return nil
}

func (g *Guard) allowedHost(r *http.Request) bool {
	name, port := splitHost(r.Host)
	if name == "" {
		return false
	}
	if g.hosts[name] || g.hosts[hostKey(name, port)] {
		return true
	}
	// The address the connection came in at is a name of ours too: an address
	// cannot be rebound. This is what makes listening on 0.0.0.0 usable.
	want, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == want.Unmap()
}

// checkCrossOrigin refuses what a browser sends from another site and would
// change something. Listed origins pass.
func (g *Guard) checkCrossOrigin(_ http.ResponseWriter, r *http.Request) error {
	if !g.CheckOrigin(r) {
		g.warnOfOrigin(r)
	}
	if !g.listed(r) && g.cross.Check(r) != nil {
		return ForeignOrigin(r)
	}
	return nil
}

// ForeignOrigin is what a page that is not listed is refused with: which key lets it in,
// and what to write there.
func ForeignOrigin(r *http.Request) error {
	o := r.Header.Get("Origin")
	switch {
	case o == "":
		return abi.Errorf(abi.CodeDenied, "origin: a page of another site sent this without saying which; list the site in door.origins of companiond.toml")
	case o == "null" || strings.HasPrefix(o, "file:"):
		return abi.Errorf(abi.CodeDenied, "origin: a page that was opened from a file says %q, which every such page says; serve it over http:// and list that in door.origins of companiond.toml", clip(o, 80))
	case len(r.Header.Values("Origin")) > 1 || checkOrigin(o) != nil:
		return abi.Errorf(abi.CodeDenied, "origin: %q is none that door.origins of companiond.toml can list", clip(o, 80))
	}
	return abi.Errorf(abi.CodeDenied, "origin: door.origins does not list %q; to let this page in write origins = [%q] under [door] in companiond.toml, beside those that are there, and start the daemon again", clip(o, 80), clip(o, 80))
}

// maxWarned bounds how many origins the log names: any page that somebody looks at can
// send requests here.
const maxWarned = 16

// warnOfOrigin logs a page of another site, each once: its browser tells nobody what
// it was refused with.
func (g *Guard) warnOfOrigin(r *http.Request) {
	o := clip(r.Header.Get("Origin"), 80)
	g.warning.Lock()
	defer g.warning.Unlock()
	if g.warned[o] || len(g.warned) >= maxWarned {
		return
	}
	g.warned[o] = true
	g.log.Warn("a page of another site wants to connect; if it is yours, do as the reason says", "origin", o, "reason", abi.AsError(ForeignOrigin(r)).Message)
}

// listed says whether the request comes from one of the configured origins.
func (g *Guard) listed(r *http.Request) bool {
	o := r.Header.Values("Origin")
	return len(o) == 1 && g.origins[o[0]]
}

// CheckOrigin says whether a WebSocket handshake may go on. A request without
// an Origin is not a browser's and may. A browser may from the very host and
// port it asks, when that is a name of ours, or from a listed origin. "null"
// (a sandboxed frame, a file) only when it is listed.
func (g *Guard) CheckOrigin(r *http.Request) bool {
	o := r.Header.Values("Origin")
	switch {
	case len(o) == 0:
		return true
	case len(o) > 1:
		return false
	case g.origins[o[0]]:
		return true
	}
	u, err := url.Parse(o[0])
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Path != "" {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) && g.allowedHost(r)
}

// The words of CORS: what pages on listed origins may send and read. The
// headers are those of the doors, of MCP's clients in browsers and of OpenAI's.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsHeaders = "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id, user-agent, openai-organization, openai-project, openai-beta, " +
		"x-stainless-arch, x-stainless-helper-method, x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-poll-helper, " +
		"x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout"
	corsExpose = "mcp-session-id, retry-after"
)

// allowCORS answers preflights and marks answers to listed origins. There are
// no cookies here, so credentials are never allowed.
func (g *Guard) allowCORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if len(g.origins) > 0 {
			h.Add("Vary", "Origin")
		}
		preflight := r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
		if !g.listed(r) {
			if preflight {
				Problem(w, r, ForeignOrigin(r))
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		if !preflight {
			h.Set("Access-Control-Expose-Headers", corsExpose)
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", corsMethods)
		h.Set("Access-Control-Allow-Headers", corsHeaders)
		h.Set("Access-Control-Max-Age", "600")
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			h.Set("Access-Control-Allow-Private-Network", "true")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// splitHost gives name and port of "name", "name:port", "[v6]" and "[v6]:port",
// in lower case without a final dot; the name is empty when there is none.
func splitHost(s string) (name, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		name, port = h, p
	} else if strings.Count(s, ":") == 0 {
		name = s
	} else if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		name = s[1 : len(s)-1]
	}
	return strings.TrimSuffix(strings.ToLower(name), "."), port
}

func hostKey(name, port string) string {
	if port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}

func unspecified(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && a.IsUnspecified()
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
