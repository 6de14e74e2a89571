package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// The page is served as one file, and needs nothing from elsewhere. Parts of its script stand
// in files of their own.
//
//go:embed page.html page_*.js
var pageFiles embed.FS

// wholePage gives the page with each part of its script in the place of the line that names it.
func wholePage() (string, error) {
	html, err := pageFiles.ReadFile("page.html")
	if err != nil {
		return "", err
	}
	whole := string(html)
	for _, name := range []string{"page_memories.js", "page_past.js", "page_handlers.js"} {
		part, err := pageFiles.ReadFile(name)
		if err != nil {
			return "", err
		}
		place := "\n// " + name + "\n"
		if strings.Count(whole, place) != 1 {
			return "", fmt.Errorf("page: not exactly one place for %s", name)
		}
		whole = strings.Replace(whole, place, "\n"+string(part), 1)
	}
	return whole, nil
}

// registerPage serves the page with a policy that runs this very script and
// style and nothing else: the words of characters can never become code.
// Where there are projects it says so to the script, which asks for their conversations then and nowhere else.
func registerPage(mux *http.ServeMux, projects bool) error {
	html, err := wholePage()
	if err != nil {
		return err
	}
	if projects {
		html = strings.Replace(html, "<html ", "<html data-projects ", 1)
	}
	script, err := hashOf(html, "script")
	if err != nil {
		return err
	}
	style, err := hashOf(html, "style")
	if err != nil {
		return err
	}
	policy := strings.Join([]string{
		"default-src 'none'", "script-src " + script, "style-src " + style, "connect-src 'self'", "img-src data:",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
	serve := static("text/html; charset=utf-8", []byte(html))
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
