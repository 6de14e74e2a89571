package mcp

import (
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
)

// companionKey is the header in which the companion that the URL names goes through
// the SDK. What a client sends under this name is dropped.
const companionKey = "Companiond-Companion"

// meant serves a client that names a companion in its URL, as the AI Companion Protocol's
// reference server wants it: /mcp/{companion}, or /mcp/{session} with one of POST
// /init. To this client spec://main is that companion's card, and action-play plays
// its actions.
func (d *Door) meant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, companion := r.PathValue("companion"), ""
		if name != "" {
			var err error
			if companion, err = d.cfg.Meant(name, identity.Of(r.Context()).Name); err != nil {
				guard.Problem(w, r, err)
				return
			}
		}
		if companion != r.Header.Get(companionKey) {
			r = r.Clone(r.Context())
			r.Header.Set(companionKey, companion)
		}
		next.ServeHTTP(w, r)
	})
}

// companionOf gives the companion that the URL of a request names, "" for none.
func companionOf(extra *sdk.RequestExtra) string {
	if extra == nil {
		return ""
	}
	return extra.Header.Get(companionKey)
}
