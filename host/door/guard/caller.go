package guard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

// Subprotocol is what WebSocket clients name beside their token, and what they
// are answered with.
const Subprotocol = "companiond.v1"

// identify finds out who asks and puts that into the request's context. A token
// comes as "Authorization: Bearer ...", or, from a page's WebSocket, which
// cannot set headers, as the subprotocol "bearer....". It does not come in the
// URL, for those are written into logs and histories, but where [mayHaveToken] says so.
func (g *Guard) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := g.caller(r)
		r = r.WithContext(r.Context()) // a copy: whoever stands before has its own
		hideToken(r)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			ProblemStatus(w, r, http.StatusUnauthorized, err)
			return
		}
		caller.Sharer = sharer(caller, r)
		caller.Address = address(r)
		caller.Foreign = foreign(r)
		next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
	})
}

// sharer names who shares what is bounded: a token's holder wherever it calls from, else
// the address. No name can be taken for an address.
func sharer(c identity.Caller, r *http.Request) string {
	if c.Name != "" {
		return "token " + c.Name
	}
	return "address " + remote(r)
}

// address gives where a request comes from. A client of this machine may come from ::1
// with one request and from 127.0.0.1 with the next. A proxy here that says for whom it
// asks is no such client.
func address(r *http.Request) string {
	if local(r) && !forwarded(r.Header) {
		return identity.Local
	}
	return remote(r)
}

// foreign says whether a page of another site asks, or one that any page can say it is: listed ones get so far.
func foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if at, err := url.Parse(origin); err != nil || !strings.EqualFold(at.Host, r.Host) {
			return true
		}
	}
	return false
}

// forwarded says whether a request says that it comes from elsewhere.
func forwarded(h http.Header) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Cf-Connecting-Ip"}, func(name string) bool { return len(h.Values(name)) > 0 })
}

func (g *Guard) caller(r *http.Request) (identity.Caller, error) {
	token, given := tokenOf(r)
	if given && (g.cfg.Tokens.Len() > 0 || g.cfg.TokensOnly) {
		// A wrong token is told, also where guests are let in: its sender
		// wants to be known by it.
		c, ok := g.cfg.Tokens.Find(token)
		if !ok {
			return c, abi.Errorf(abi.CodeDenied, "token: is not one of this house")
		}
		return c, nil
	}
	if !g.cfg.TokensOnly {
		return identity.Guest(g.cfg.Tokens), nil
	}
	if open(r) {
		return identity.Caller{}, nil
	}
	if mayHaveToken(r) {
		return identity.Caller{}, abi.Errorf(abi.CodeDenied, "token: is missing; write it behind the address, ?token=..., or send it as Authorization: Bearer")
	}
	return identity.Caller{}, abi.Errorf(abi.CodeDenied, "token: is missing; send it as Authorization: Bearer")
}

// open says whether a request needs no token: the page, which asks for one, and
// what describes the API.
func open(r *http.Request) bool {
	switch r.URL.Path {
	case "/", "/openapi.json", "/openapi.yaml":
		return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Upgrade") == ""
	}
	return false
}

// overlays is where the pages for a browser source of OBS are, and stage where software on a stage connects: who sets these up
// can give an address and nothing else, so that a token may come as ?token= there, for it comes no other way.
const overlays = "/overlay/"

var stage = []string{"/aituberkit/", "/neuro/", "/firehose/", "/ollmv/", overlays}

// Stage says whether a path is one of those.
func Stage(path string) bool {
	return slices.ContainsFunc(stage, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// mayHaveToken says whether a request may have its token in its URL: one for a page that is shown, or what connects.
func mayHaveToken(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && Stage(r.URL.Path) && !(strings.HasPrefix(r.URL.Path, overlays) && isHandshake(r))
}

// hideToken takes the token out of the address of a request, so that nothing behind the
// guard can write it down.
func hideToken(r *http.Request) {
	query := r.URL.Query()
	if !Stage(r.URL.Path) || !query.Has("token") {
		return
	}
	query.Del("token")
	at := *r.URL
	at.RawQuery = query.Encode()
	r.URL, r.RequestURI = &at, at.RequestURI()
}

// tokenOf gives the token a request comes with. One that is there and cannot be
// read counts as a wrong one.
func tokenOf(r *http.Request) (token string, given bool) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		scheme, token, _ := strings.Cut(values[0], " ")
		if len(values) > 1 || !strings.EqualFold(scheme, "bearer") {
			return "", true
		}
		return strings.TrimSpace(token), true
	}
	if given := r.URL.Query()["token"]; len(given) > 0 && mayHaveToken(r) {
		if len(given) > 1 {
			return "", true
		}
		return given[0], true
	}
	if !isHandshake(r) {
		return "", false
	}
	for _, line := range r.Header.Values("Sec-Websocket-Protocol") {
		for word := range strings.SplitSeq(line, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(word), "bearer."); ok {
				return token, true
			}
		}
	}
	return "", false
}

// isHandshake says whether a request is a WebSocket's. It lets nothing pass that
// the socket door would not take for one: another door would look for the token
// in a header, find none, and take its holder for a guest.
func isHandshake(r *http.Request) bool {
	return r.Method == http.MethodGet && hasWord(r.Header, "Upgrade", "websocket") && hasWord(r.Header, "Connection", "upgrade")
}

// hasWord says whether a word is in a header that is a list of single words.
func hasWord(h http.Header, name, want string) bool {
	found := false
	for _, line := range h.Values(name) {
		for word := range strings.SplitSeq(line, ",") {
			word = strings.TrimSpace(word)
			if strings.ContainsFunc(word, notInWord) {
				return false
			}
			found = found || strings.EqualFold(word, want)
		}
	}
	return found
}

func notInWord(r rune) bool { return !(r == '-' || 'a' <= r|0x20 && r|0x20 <= 'z') }
