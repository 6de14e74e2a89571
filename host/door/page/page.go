// Package page is the page on which people watch a room and talk: one HTML document with one style and one script
// inside, which needs nothing from elsewhere. It asks the HTTP door and follows the feed of host/door/socket like
// any other client, and has no way of its own into a room. The words of characters never become markup or code: the
// script writes text nodes only, and the policy that goes with the document runs this very script and nothing else.
//
// # Parts
//
// The document is put together once, when the daemon starts, of page.html, page.css, the scripts of core in their
// order, and the parts in the order of parts, which is that of the side. A part is up to four files below parts, and
// its name in that list:
//
//	NAME.html         what stands in the side: a <section> with a heading, hidden until there is something
//	NAME.dialog.html  <dialog> elements, which stand at the end of the document
//	NAME.css          its style
//	NAME.js           its script, which calls part("NAME", {...}) once, at its top level
//
// part (base.js) takes what the page tells the part, all of it optional:
//
//	words: {en: {...}, ja: {...}}  its words, merged into the one table; a key is never taken twice
//	shows(room)                    another room is shown, or the same to somebody else: forget, and ask anew
//	entry(entry)                   an entry came from the feed; many may at once
//	tick()                         about every 5 s, when rooms and companions were asked for
//	companion(m, li)               the row li of the companion m was drawn: put a button there
//	redraw()                       the buttons there are others by now
//	locked()                       a token is needed: show nothing that was let in by another
//
// It uses t(key, {put}) for words, $(id), make(tag, class, text), press(class, text, f) for buttons, fold(summary, f),
// call(path, body, method) for the API, which throws an Error with a message for people, tells(element, error) to show
// one (tongue.js has what the daemon says in other languages), and shut(dialog) for the button that closes one. In HTML data-t="key" is an element's text, data-p="key" a field's placeholder and label,
// data-l="key" a label alone. All scripts have one scope: what a part has for itself goes into a block { }, or has
// names that nothing else has (a test looks for names that are declared twice). No file loads anything, has an
// attribute style or on..., or makes markup of text.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed page.html page.css *.js parts
var files embed.FS

// core are the scripts that parts build on, and start.js, which comes last, is what sets it all going.
var core = []string{"words", "base", "tongue", "why", "feed", "rooms", "talk"}

// parts are those of the side, in their order there. New ones go to where people look for them.
var parts = []string{"companions", "speakers", "makers", "opener", "logs", "conversations", "handlers", "memories", "past", "members"}

// Config is what the daemon knows when it starts.
type Config struct {
	// Projects says that agents may have conversations: only then the page asks for them.
	Projects bool
}

// Register serves the page at /, with the policy that keeps it from running anything else.
func Register(mux *http.ServeMux, cfg Config) error {
	html, policy, err := document(cfg)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		_, _ = w.Write(html) // the client is gone: nothing to do
	})
	return nil
}

// document gives the page and its policy.
func document(cfg Config) (html []byte, policy string, err error) {
	skeleton, err := files.ReadFile("page.html")
	if err != nil {
		return nil, "", err
	}
	style, script, side, dialogs := []string{"page.css"}, []string{}, []string{}, []string{}
	for _, name := range core {
		script = append(script, name+".js")
	}
	for _, name := range parts {
		style, script = append(style, "parts/"+name+".css"), append(script, "parts/"+name+".js")
		side, dialogs = append(side, "parts/"+name+".html"), append(dialogs, "parts/"+name+".dialog.html")
	}
	script = append(script, "start.js")
	whole := string(skeleton)
	if cfg.Projects {
		whole = strings.Replace(whole, "<html ", "<html data-projects ", 1)
	}
	sources := map[string]string{}
	for place, names := range map[string][]string{"style": style, "script": script, "side": side, "dialogs": dialogs} {
		text, err := joined(names)
		if err != nil {
			return nil, "", err
		}
		mark := "<!-- " + place + " -->"
		if strings.Count(whole, mark) != 1 {
			return nil, "", fmt.Errorf("page.html: not exactly one %s", mark)
		}
		if element := place; element == "style" || element == "script" {
			if strings.Contains(text, "</"+element) {
				return nil, "", fmt.Errorf("a %s would end within itself", element)
			}
			sum := sha256.Sum256([]byte(text))
			sources[element] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			text = "<" + element + ">" + text + "</" + element + ">"
		}
		whole = strings.Replace(whole, mark, text, 1)
	}
	return []byte(whole), strings.Join([]string{
		"default-src 'none'", "script-src " + sources["script"], "style-src " + sources["style"], "connect-src 'self'", "img-src data:",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; "), nil
}

// joined is what stands in those of the files that there are: a part need not have all.
func joined(names []string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		text, err := files.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "parts/") {
			continue
		}
		if err != nil {
			return "", err
		}
		all.WriteString("\n")
		all.Write(text)
	}
	return all.String(), nil
}
