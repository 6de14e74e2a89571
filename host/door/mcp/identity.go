package mcp

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/identity"
)

// authorized hands the caller that the guard found on to the tools. The SDK has
// one way for that, its own check of a bearer token; here it finds the token
// checked, and takes over whose it is. A guest, who has none, gets one for that.
func (d *Door) authorized(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c := identity.Of(ctx)
		return &auth.TokenInfo{UserID: c.Name, Extra: map[string]any{callerKey: c}, Expiration: time.Now().Add(time.Hour)}, nil
	}
	named := auth.RequireBearerToken(verify, nil)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if identity.Of(r.Context()).Guest {
			guest := *r
			guest.Header = maps.Clone(r.Header)
			guest.Header["Authorization"] = []string{"Bearer guest"}
			r = &guest
		}
		named.ServeHTTP(w, r)
	})
}

const callerKey = "caller"

// owner says whose a session is: that of a token's holder, or anybody's.
func owner(r *http.Request) string { return identity.Of(r.Context()).Name }

// sharer says with whom a caller shares what is bounded.
func sharer(r *http.Request) string { return identity.Of(r.Context()).Sharer }

// callerOf gives who makes a request.
func (d *Door) callerOf(extra *sdk.RequestExtra) identity.Caller {
	if extra != nil && extra.TokenInfo != nil {
		if c, ok := extra.TokenInfo.Extra[callerKey].(identity.Caller); ok {
			return c
		}
	}
	return identity.Guest(d.cfg.Tokens)
}
