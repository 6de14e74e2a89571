package overlay_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/doortest/chromium"
	"github.com/companiond/companiond/host/door/overlay"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// browser is a page in Chromium.
type browser struct {
	*chromium.Page
	t *testing.T
}

func browse(t *testing.T, url string) *browser { return browseWith(t, url, "") }

func browseWith(t *testing.T, url, script string, flags ...string) *browser {
	t.Helper()
	return &browser{chromium.Open(t, url, script, flags...), t}
}

// shows waits until the page shows a line, "" for none.
func (b *browser) shows(want string) {
	b.t.Helper()
	last := ""
	defer func() {
		if last != want {
			b.t.Logf("it shows %q", last)
		}
	}()
	waittest.Until(b.t, fmt.Sprintf("the overlay shows %.200q", want), func() bool {
		last = b.Eval(`(() => { const t = id => document.getElementById(id)?.textContent ?? ""; return document.getElementById("line")?.dataset.on === "yes" ? t("name") + ": " + t("said") : ""; })()`)
		return last == want
	})
}

// daemon is a house behind an address, whose doors can be shut and opened anew.
type daemon struct {
	t     *testing.T
	house *doortest.House
	doors atomic.Pointer[http.Handler]
	feed  *socket.Feed
	blobs *blob.Store
	url   string
}

func newDaemon(t *testing.T) *daemon { return newDaemonOf(doortest.NewHouse(t, "main"), t) }

func newDaemonOf(house *doortest.House, t *testing.T) *daemon {
	d := &daemon{t: t, house: house, blobs: blob.New(blob.MaxKept)}
	d.open()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*d.doors.Load()).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	t.Cleanup(d.shut)
	d.url = server.URL
	return d
}

func (d *daemon) open() {
	mux := http.NewServeMux()
	d.feed = socket.New(socket.Config{Rooms: d.house, CheckOrigin: func(*http.Request) bool { return true }})
	d.feed.Register(mux)
	if err := web.Register(mux, web.Config{Rooms: d.house, Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Blobs: d.blobs}); err != nil {
		d.t.Fatal(err)
	}
	if err := overlay.Register(mux, overlay.Config{Rooms: d.house, Lives: func(id string) bool { return id == "aya" }}); err != nil {
		d.t.Fatal(err)
	}
	var h http.Handler = mux
	d.doors.Store(&h)
}

func (d *daemon) shut() {
	gone := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	d.doors.Store(&gone)
	if err := d.feed.Close(d.t.Context()); err != nil && d.t.Context().Err() == nil {
		d.t.Error(err)
	}
}

// vanish has the daemon answer nobody: connections end at once, as with no daemon.
func (d *daemon) vanish() {
	d.shut()
	gone := http.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	d.doors.Store(&gone)
}

// tells waits until the preview says in red what has these words; without any, until it says nothing.
func (b *browser) tells(words string) {
	b.t.Helper()
	waittest.Until(b.t, fmt.Sprintf("the preview says %q", words), func() bool {
		told := b.Eval(`document.getElementById("told")?.textContent ?? "no page"`)
		return told == words || words != "" && strings.Contains(told, words)
	})
}

// A page is opened before there is its room, or its companion: with ?preview it says so, and both
// show what is said as soon as they are there. A daemon that is gone is said to be.
func TestOpenedTooEarly(t *testing.T) {
	d := newDaemon(t)
	b := browse(t, d.url+"/overlay/later/kyoko?preview")
	b.tells(`room: there is no "later"`)
	answer, err := http.Post(d.url+"/v1/rooms", "application/json", strings.NewReader(`{"name":"later","companions":["*"]}`))
	if err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("the room is not opened: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	b.tells(`companion: nobody is called "kyoko" here`)
	room := d.house.Get("later")
	room.Live("kyoko")
	b.tells("")
	said := line("g1", "いま、来ました。")
	said.From = "kyoko"
	room.Append(entry.KindSaid, said)
	b.shows("kyoko: いま、来ました。")

	d.vanish()
	b.tells("companiond cannot be reached at " + d.url)
	d.open()
	b.tells("")
}

// line is one that a body says: it stands until it was heard.
func line(grant, text string) entry.Said {
	return entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Grant: grant, Text: text, Played: true, Voice: []entry.Beat{{Bytes: len(text), MS: 60_000}}}
}

func heardAll(grant string, end entry.End, text string) entry.Heard {
	return entry.Heard{Line: grant, Who: "aya", End: end, Text: text}
}

// In a browser: a line that is being spoken when the page is opened is there, grows by its pieces,
// is over when it was heard, also while the daemon was away, and is gone at a STOP; the
// user's styles hold; and no text is more than a text, however long and nasty it is.
func TestInChromium(t *testing.T) {
	d := newDaemon(t)
	room := d.house.Get("main")
	room.Append(entry.KindSaid, line("old", "long ago"))
	room.Append(entry.KindHeard, heardAll("old", entry.EndStopped, ""))
	room.Append(entry.KindSaid, line("g1", "今話しています。"))
	b := browse(t, d.url+"/overlay/main/aya")
	b.shows("aya: 今話しています。")
	if n := room.Bodies("aya"); n != 0 {
		t.Errorf("the overlay counts as %d bodies", n)
	}

	if got := b.Eval(`getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor`); got != "rgba(0, 0, 0, 0)rgba(0, 0, 0, 0)" {
		t.Errorf("the page is not transparent: %s", got)
	}
	b.Eval(`const css = document.createElement("style"); css.innerHTML = ":root { --overlay-linger: 10ms; --overlay-fade: 0s; } #name { font-style: italic }"; document.head.append(css)`) // as OBS does
	if got := b.Eval(`getComputedStyle(document.getElementById("name")).fontStyle`); got != "italic" {
		t.Errorf("the styles of OBS do nothing: %s", got)
	}
	b.Eval(`const bad = document.createElement("script"); bad.textContent = "window.ran = true"; document.head.append(bad)`)
	if got := b.Eval(`window.ran`); got != "<nil>" {
		t.Errorf("another script runs: %s", got)
	}

	room.Append(entry.KindSegment, entry.Segment{Grant: "g2", Who: "aya", N: 1, Text: "ひとつ、", Voice: []entry.Beat{{Bytes: 12, MS: 1}}})
	b.shows("aya: ひとつ、")
	room.Append(entry.KindSegment, entry.Segment{Grant: "g2", Who: "aya", N: 2, Text: "ふたつ。", Voice: []entry.Beat{{Bytes: 12, MS: 60_000}}})
	b.shows("aya: ひとつ、ふたつ。")

	d.shut()
	whole := line("g2", "ひとつ、ふたつ。")
	whole.Segments, whole.Voice = 2, nil
	room.Append(entry.KindSaid, whole)
	room.Append(entry.KindHeard, heardAll("g2", entry.EndSaid, ""))
	b.shows("aya: ひとつ、ふたつ。") // nobody has told it otherwise
	d.open()
	b.shows("")

	const nasty = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>&amp;` + "\u202e\u2067\u0007"
	room.Append(entry.KindSaid, line("g3", nasty))
	b.shows(`aya: <img src=x onerror="window.ran=1"><script>window.ran=1</script>&amp;` + "\u2060\u2060\u2060")
	if got := b.Eval(`window.ran + " " + document.querySelectorAll("#text *, #name *").length`); got != "undefined 2" {
		t.Errorf("a text became more than one: %s", got)
	}
	room.Append(entry.KindSaid, line("g4", strings.Repeat("あ", 10_000)))
	waittest.Until(t, "the long text is there", func() bool {
		return strings.HasPrefix(b.Eval(`document.getElementById("said").textContent`), "あああ")
	})
	b.Eval(`const ten = document.createElement("span"); ten.textContent = "あ".repeat(10); ten.style.cssText = "position:absolute;white-space:nowrap"; document.getElementById("line").append(ten);
		const text = document.getElementById("text"); window.row = text.getBoundingClientRect().width - 2 * parseFloat(getComputedStyle(text).paddingInlineStart);
		window.letter = ten.getBoundingClientRect().width / 10; ten.remove()`) // fonts differ
	if got := b.Eval(`Math.abs(Number(document.getElementById("line").dataset.pages) - 10_000 / (3 * Math.floor(window.row / window.letter))) < 3 && document.documentElement.scrollWidth <= innerWidth && document.getElementById("line").getBoundingClientRect().top >= 0`); got != "true" {
		t.Errorf("10,000 letters without a space: %s pages, %s", b.Eval(`document.getElementById("line").dataset.pages`), b.Eval(`JSON.stringify(document.getElementById("line").getBoundingClientRect())`))
	}
	room.Append(entry.KindStop, entry.Stop{From: "taro"})
	b.shows("")
	if got := b.Eval(`document.getElementById("text").textContent`); got != "" {
		t.Errorf("left behind by a STOP: %q", got)
	}
}
