package web

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// The page is one file, needs nothing from elsewhere, and works as it is.
//
//go:embed page.html
var pageHTML string

// registerPage serves the page with a policy that runs this very script and
// style and nothing else: the words of characters can never become code.
func registerPage(mux *http.ServeMux) error {
	script, err := hashOf(pageHTML, "script")
	if err != nil {
		return err
	}
	style, err := hashOf(pageHTML, "style")
	if err != nil {
		return err
	}
	policy := strings.Join([]string{
		"default-src 'none'", "script-src " + script, "style-src " + style, "connect-src 'self'", "img-src data:",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
	serve := static("text/html; charset=utf-8", []byte(pageHTML))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		serve(w, r)
	})
	return nil
}

// hashOf gives the policy's source for the one element of that name in html.
func hashOf(html, element string) (string, error) {
	open, end := "<"+element+">", "</"+element+">"
	_, rest, found := strings.Cut(html, open)
	inner, after, ended := strings.Cut(rest, end)
	if !found || !ended || strings.Contains(after, open) {
		return "", fmt.Errorf("page: not exactly one %s", open)
	}
	sum := sha256.Sum256([]byte(inner))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", nil
}
