// Package overlay is the door for a stream's picture: a transparent page, for a browser
// source of OBS, with the line that is being spoken in a room.
//
//	GET /overlay/{room}               the lines of all who speak there
//	GET /overlay/{room}/{companion}   those of one of them
//	GET /overlay/style.css            the user's own sheet, behind the page's
//
// The page follows the feed of its room like any client, from some hundred entries back, so
// that a line is there that is being spoken already, and in step with the bodies that say what
// they have played; where none does, by how long the room thinks that the line takes. A page
// is no body: nobody waits for it, and any number of them may be open. It asks at its own address
// whether its companion is there, as a program does, which gets a 404 where it is not.
//
// With ?sound the page is a body besides, at GET /v1/actions, which plays the sounds that a handler makes of lines, one
// page at a time for each companion. It is none where its browser lets it play nothing, so that no room waits for it.
//
// Where a token is asked for, the page is opened with ?token=, which host/door/guard takes
// here. The page shows it to the feed as every page's WebSocket does, and never in an address.
//
// The package writes nothing and keeps nothing; the page runs its own script alone, and what is
// said, and the names of those who say it, are texts to it and never markup.
package overlay

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// MaxSheet bounds the user's sheet, in bytes.
const MaxSheet = 1 << 20

// Config is what the door stands before.
type Config struct {
	// Rooms finds rooms. It must be set.
	Rooms rooms.Directory
	// Lives says whether there is somebody of that id in the house, loaded or not; members of a
	// room are known without it. It must be set.
	Lives func(id string) bool
	// Sheet is the path of the user's own sheet; "" means none. It is read whenever a page asks.
	Sheet string
}

// The page is served as one file, and needs nothing from elsewhere but the user's sheet.
//
//go:embed page.html page.css line.js mouth.js page.js sound.js
var files embed.FS

type door struct {
	cfg    Config
	page   []byte
	policy string
}

// Register mounts the door. The mux belongs behind a guard.
func Register(mux *http.ServeMux, cfg Config) error {
	d := &door{cfg: cfg}
	if err := d.build(); err != nil {
		return err
	}
	mux.HandleFunc("GET /overlay/style.css", d.sheet)
	mux.HandleFunc("GET /overlay/{room}", d.show)
	mux.HandleFunc("GET /overlay/{room}/{companion}", d.show)
	return nil
}

// build puts the page together, and makes the policy by which it runs this very script and
// no other. Styles may be anybody's: OBS writes those of its own field into the page, and they
// can load nothing.
func (d *door) build() error {
	parts := map[string]string{}
	for _, name := range []string{"page.html", "page.css", "line.js", "mouth.js", "page.js", "sound.js"} {
		part, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		parts[name] = string(part)
	}
	page, script := parts["page.html"], parts["line.js"]+parts["mouth.js"]+parts["page.js"]+parts["sound.js"]
	for place, with := range map[string]string{"<style></style>": parts["page.css"], "<script></script>": script} {
		if strings.Count(page, place) != 1 || strings.Contains(with, "</") {
			return fmt.Errorf("overlay: not exactly one place for what goes into %s, or it would end there", place)
		}
		page = strings.Replace(page, place, strings.Replace(place, "><", ">\n"+with+"<", 1), 1)
	}
	sum := sha256.Sum256([]byte("\n" + script))
	d.page = []byte(page)
	d.policy = strings.Join([]string{
		"default-src 'none'", "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "style-src 'unsafe-inline' data:",
		"connect-src 'self'", "img-src data:", "font-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
	return nil
}

// show answers with the page, for a room, and a companion, that there are. A browser gets it
// also where they are not: a source of OBS asks once, and the page waits until they come.
func (d *door) show(w http.ResponseWriter, r *http.Request) {
	err := d.find(r)
	waits := abi.CodeOf(err) == abi.CodeNotFound && strings.Contains(r.Header.Get("Accept"), "text/html")
	if err != nil && !waits {
		guard.Problem(w, r, err)
		return
	}
	head(w, "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", d.policy)
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	if waits {
		guard.Note(w, err)
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.Write(d.page) // the client is gone: nothing to do
}

func head(w http.ResponseWriter, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store") // its address may have a token
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// find finds who is to be shown, for who may read.
func (d *door) find(r *http.Request) error {
	if err := identity.Of(r.Context()).May(identity.Read); err != nil {
		return err
	}
	talk, err := d.cfg.Rooms.Room(r.Context(), r.PathValue("room"))
	companion := r.PathValue("companion")
	if err != nil || companion == "" {
		return err
	}
	members := talk.Info().Members
	here := slices.ContainsFunc(members, func(m abi.Member) bool { return m.ID == companion })
	if !here && !d.cfg.Lives(companion) {
		return abi.Field("companion", abi.CodeNotFound, "nobody is called %q here; GET /v1/companions lists who is", companion)
	}
	return nil
}

// sheet answers with the user's sheet as it is now, an empty one where there is none.
func (d *door) sheet(w http.ResponseWriter, r *http.Request) {
	if err := identity.Of(r.Context()).May(identity.Read); err != nil {
		guard.Problem(w, r, err)
		return
	}
	sheet, err := ReadSheet(d.cfg.Sheet)
	if err != nil {
		guard.Problem(w, r, abi.Errorf(abi.CodeUnavailable, "door.overlay_css: %v", err))
		return
	}
	head(w, "text/css; charset=utf-8")
	_, _ = w.Write(sheet)
}

// ReadSheet reads a user's sheet; that of "" is empty.
//
// # Errors
//
// In words for whoever wrote the path: there is no such file, it is none, more than
// [MaxSheet], or not UTF-8.
func ReadSheet(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path) // to open what is no file may wait for ever
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sheet, err := io.ReadAll(io.LimitReader(f, MaxSheet+1))
	switch {
	case err != nil:
		return nil, err
	case len(sheet) > MaxSheet:
		return nil, fmt.Errorf("%s has more than %d bytes", path, MaxSheet)
	case !utf8.Valid(sheet):
		return nil, fmt.Errorf("%s is not UTF-8", path)
	}
	return sheet, nil
}
