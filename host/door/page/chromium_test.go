package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/doortest/chromium"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
)

// daemon is a house behind an address that can vanish and come back, as by kill -9, with its journal or with another one.
type daemon struct {
	t          *testing.T
	house      *doortest.House
	companions []web.Companion
	doors      atomic.Pointer[http.Handler]
	feed       *socket.Feed
	lose       atomic.Bool // answers to what is sent are lost behind the room's having it
	url        string
}

func newDaemon(t *testing.T) *daemon {
	d := &daemon{t: t, house: doortest.NewHouse(t, "main", "side")}
	d.open()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*d.doors.Load()).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	t.Cleanup(d.vanish)
	d.url = server.URL
	return d
}

func (d *daemon) open() {
	mux := http.NewServeMux()
	d.feed = socket.New(socket.Config{Rooms: d.house, CheckOrigin: func(*http.Request) bool { return true }})
	d.feed.Register(mux)
	if err := web.Register(mux, web.Config{Rooms: d.house, Companions: func() []web.Companion { return d.companions }, Usual: func() string { return "" }}); err != nil {
		d.t.Fatal(err)
	}
	doors := guard.Mux(mux)
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && d.lose.Load() {
			doors.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		doors.ServeHTTP(w, r)
	})
	d.doors.Store(&h)
}

// vanish has the daemon answer nobody: connections end at once, as with no daemon.
func (d *daemon) vanish() {
	gone := http.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	d.doors.Store(&gone)
	if err := d.feed.Close(d.t.Context()); err != nil && d.t.Context().Err() == nil {
		d.t.Error(err)
	}
}

func said(from, text string) entry.Said {
	by := abi.KindHuman
	if from == "aya" || from == "kyoko" {
		by = abi.KindCompanion
	}
	return entry.Said{From: from, By: by, Kind: abi.KindTurn, Text: text}
}

// texts are the lines that stand on the page, as text.
const texts = `[...document.querySelectorAll("#feed .said > .text")].map(e => e.textContent).join("|")`

// look keeps a picture for people in the folder that COMPANIOND_PICTURES names.
func look(t *testing.T, b *chromium.Page, name string) {
	folder := os.Getenv("COMPANIOND_PICTURES")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), b.Picture(), 0o600); err != nil {
		t.Error(err)
	}
}

// The daemon dies and comes back. What stood on the page stays, it is said that the daemon is gone, what is written
// meanwhile goes out once it is back, one message for one id, also where the room had it already and the answer was lost; and what the room said
// meanwhile follows without a gap.
func TestOutlivesTheDaemon(t *testing.T) {
	d := newDaemon(t)
	room := d.house.Get("main")
	for i := range 30 {
		room.Append(entry.KindSaid, said("mika", fmt.Sprintf("m%d", i)))
	}
	b := chromium.Open(t, d.url+"/?lang=en", "")
	b.Until("the talk is there", texts+`.endsWith("|m29") && document.getElementById("status").textContent === "live"`)
	want := b.Eval(texts)
	look(t, b, "before")

	d.vanish()
	b.Until("it says so", `document.getElementById("banner").textContent.startsWith("The daemon does not answer")`)
	if got := b.Eval(texts); got != want {
		t.Errorf("the page shows %q", got)
	}
	b.Eval(`document.getElementById("text").focus()`)
	b.Type("while you were away")
	b.Key("Enter", 0)
	b.Until("it waits", `document.querySelectorAll("#outbox li").length === 1 && document.getElementById("text").value === "" && document.activeElement.id === "text"`)
	look(t, b, "gone")
	room.Append(entry.KindSaid, said("taro", "unseen"))
	d.lose.Store(true)
	d.open()
	waitSaid := strings.Count(want, "|") + 3
	b.Until("what it missed is there, and its own message", texts+`.split("|").length === `+fmt.Sprint(waitSaid))
	d.lose.Store(false)
	b.Until("nothing waits", `document.querySelectorAll("#outbox li").length === 0 && document.getElementById("banner").textContent === ""`)
	if got := b.Eval(texts); !strings.HasPrefix(got, want+"|") || strings.Count(got, "while you were away") != 1 || strings.Count(got, "unseen") != 1 {
		t.Errorf("the page shows %q", got)
	}
	said := 0
	for _, e := range room.Happened() {
		if m, ok := e.Message(); ok && m.Text == "while you were away" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}

	// Another journal in its place: what stood there stays, with a mark behind it.
	d.vanish()
	d.house = doortest.NewHouse(t, "main")
	d.house.Get("main").Append(entry.KindSaid, entry.Said{From: "eve", By: abi.KindHuman, Kind: abi.KindTurn, Text: "new world"})
	d.open()
	b.Until("the new one follows", texts+`.endsWith("|new world")`)
	if got := b.Eval(texts + `+ document.getElementById("feed").textContent.includes("another history")`); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "true") {
		t.Errorf("the page shows %q", got)
	}
}

// fill has a room say n messages with votes between them, as a talk leaves them behind.
func (d *daemon) fill(n int) *doortest.Room {
	room := d.house.Get("main")
	for i := range n {
		room.Append(entry.KindSaid, said([]string{"mika", "aya", "kyoko"}[i%3], fmt.Sprintf("message %d", i)))
		if i%50 == 0 {
			room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeSilence, Rule: entry.RuleSilence, Reason: "nobody wants to speak"})
		}
	}
	return room
}

// Five thousand messages are read to the first by scrolling, without one missing or twice, in a bounded number of elements; what is being read
// stays where it is while new ones come and while older ones are put above it, and a button leads back to them.
func TestScrollsThroughHistory(t *testing.T) {
	const all = 5000
	d := newDaemon(t)
	room := d.fill(all)
	b := chromium.Open(t, d.url+"/?lang=en&room=main", "")
	b.Until("the newest is there", texts+`.endsWith("message 4999")`)
	b.Eval(`window.feed = document.getElementById("feed"); window.have = new Set(); window.peak = 0; window.doubled = 0; window.jumps = 0;
		window.gone = () => { const all = [...feed.querySelectorAll(".said > .text")].map(e => Number(e.textContent.slice(8))); peak = Math.max(peak, feed.childElementCount); all.forEach((n, i) => { have.add(n); if (i && all[i-1] !== n - 1) doubled++; }); return all[0]; };
		feed.dispatchEvent(new Event("wheel")); feed.scrollTop = feed.scrollHeight / 2;`)
	b.Until("what is read is far from the end", `feed.scrollHeight - feed.scrollTop - feed.clientHeight > 300 && !busy`)
	b.Eval(`window.reading = [...feed.children].find(li => li.getBoundingClientRect().top > feed.getBoundingClientRect().top + 50); window.stood = reading.getBoundingClientRect().top`)
	for i := range 3 {
		room.Append(entry.KindSaid, said("aya", fmt.Sprintf("message %d", all+i)))
	}
	b.Until("a button says that there are new ones", `document.getElementById("newest").textContent === "3 new messages" && !document.getElementById("newest").hidden`)
	if got := b.Eval(`Math.abs(reading.getBoundingClientRect().top - stood) < 2`); got != "true" {
		t.Errorf("what was read moved by %s", b.Eval(`reading.getBoundingClientRect().top - stood`))
	}
	b.Eval(`window.up = setInterval(() => { if (busy || settling) return; gone(); feed.scrollTop = 0; edge(); }, 5)`)
	b.Until("the first is there", `gone() === 0 && have.size >= 5000`)
	b.Eval(`clearInterval(up); feed.scrollTop = 0`)
	if got := b.Eval(`[have.size >= 5000, doubled, peak <= 2 * keep + step, low].join()`); got != "true,0,true,0" {
		t.Errorf("seen, gaps, few elements, beginning: %s of %s, at most %s", got, b.Eval(`have.size`), b.Eval(`peak`))
	}
	look(t, b, "beginning")
	// Older ones above do not move what is read.
	b.Eval(`open("main", 2000)`)
	b.Until("a message in the midst", `document.querySelector("#feed .pointed")?.dataset.seq === "2000" && !busy`)
	b.Until("it is in sight", `(() => { const p = document.querySelector("#feed .pointed").getBoundingClientRect(), f = feed.getBoundingClientRect(); return p.top > f.top && p.bottom < f.bottom; })()`)
	b.Eval(`document.getElementById("newest").click()`)
	b.Until("the newest again", texts+`.endsWith("message 5002") && live && pinned && document.getElementById("newest").hidden`)
}

// A machine that is busy tells the page late that somebody scrolled: what is read stays there all the same.
func TestAHandIsToldLate(t *testing.T) {
	d := newDaemon(t)
	d.fill(100)
	b := chromium.Open(t, d.url+"/?lang=en&room=main", "")
	b.Until("the newest is there", texts+`.endsWith("message 99") && !settling && pinned`)
	b.Eval(`const feed = document.getElementById("feed"), at = performance.now(); feed.dispatchEvent(new Event("wheel")); settle();
		while (performance.now() - at < 1500); feed.scrollTop = 0`)
	b.Until("it is read", `!settling`)
	if got := b.Eval(`[pinned, document.getElementById("feed").scrollTop].join()`); got != "false,0" {
		t.Errorf("at the newest, and where it is: %s", got)
	}
}

// An address names a room, and a message in it.
func TestDeepLinks(t *testing.T) {
	d := newDaemon(t)
	d.fill(900)
	d.house.Get("side").Append(entry.KindSaid, said("mika", "aside"))
	b := chromium.Open(t, d.url+"/?lang=en&room=side", "")
	b.Until("?room=", texts+` === "aside"`)
	b.Must("Page.navigate", map[string]any{"url": d.url + "/?lang=en#main/300"}, nil)
	b.Until("#room/seq", `document.querySelector("#feed .pointed .text")?.textContent.startsWith("message 29")`)
	b.Eval(`location.hash = "side"`)
	b.Until("#room", texts+` === "aside"`)
	b.Eval(`document.querySelector("#feed .at").click()`)
	b.Until("a message's own link", `/^#side.[0-9]+$/.test(location.hash) && !!document.querySelector("#feed .pointed")`)
	b.Must("Page.navigate", map[string]any{"url": d.url + "/?lang=en&again#no%20such"}, nil)
	b.Until("a room that is not there", `document.getElementById("banner").textContent.startsWith("There is no room no such") && document.getElementById("room").options.length === 2`)
}

// Lines are lines: votes are shown by a switch, which is remembered.
func TestVotesBehindASwitch(t *testing.T) {
	d := newDaemon(t)
	d.fill(60)
	b := chromium.Open(t, d.url+"/?lang=en", "")
	shown := `[...document.querySelectorAll("#feed .vote")].filter(e => e.offsetParent).length`
	b.Until("no vote", texts+`.includes("message 59") && `+shown+` === 0`)
	b.Eval(`document.getElementById("votes").click()`)
	b.Until("votes", shown+` === 2`)
	b.Must("Page.reload", nil, nil)
	b.Until("votes again", `document.readyState === "complete" && `+shown+` === 2`)
}

// The Japanese page is Japanese: no element of it has a word of another language, but for the words of those who talk; and so is the English one English.
func TestOneLanguage(t *testing.T) {
	d := newDaemon(t)
	d.companions = []web.Companion{{ID: "aya", Name: "彩", Engine: "script", Generation: 2, State: "failed", Error: "bad", Faults: 2}, {ID: "kyoko", Name: "京子", Engine: "wasm", Generation: 1, State: "ready", Progress: "being compiled"}}
	room := d.house.Get("main")
	room.Live("aya", "kyoko")
	room.Append(entry.KindSaid, said("mika", "hello"))
	room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeSilence, Reason: "nobody wants to speak: 3 listened"})
	b := chromium.Open(t, d.url+"/?lang=ja", "")
	b.Until("the page", texts+`.endsWith("hello") && document.querySelectorAll("#companions li").length === 2`)
	b.Eval(`document.getElementById("votes").click(); document.querySelectorAll("details").forEach(d => d.open = true); document.querySelectorAll("[hidden]").forEach(e => e.hidden = false)`)
	const words = `(() => { const all = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
		for (let n; n = walk.nextNode();) { const e = n.nodeType === 3 ? n.parentElement : n;
			if (e.closest("script, style, noscript, option, h1, .face, .error, #feed .text, [lang]:not(html)") && !e.closest("#feed .note")) continue;
			const said = n.nodeType === 3 ? [n.data] : [n.getAttribute("aria-label"), n.getAttribute("placeholder"), n.title]; all.push(...said.filter(Boolean)); }
		return JSON.stringify(all); })()`
	foreign := `JSON.parse(` + words + `).filter(s => /[A-Za-z]{2,}/.test(s.replace(/\b(mika|Aya|Kyoko|aya|kyoko|script|wasm|main|side|JavaScript|AM|PM)\b/g, ""))).join(" / ")`
	if got := b.Eval(foreign); got != "" {
		t.Errorf("English in the Japanese page: %s", got)
	}
	if got := b.Eval(`document.documentElement.lang + ` + words); !strings.HasPrefix(got, "ja") || !strings.Contains(got, "発言権") {
		t.Errorf("%.200s", got)
	}
	b.Eval(`document.getElementById("tongue").click()`)
	b.Until("English", `document.documentElement.lang === "en" && document.getElementById("send").textContent === "Say"`)
	if got := b.Eval(`JSON.parse(` + words + `).filter(s => /[\u3040-\u30ff\u4e00-\u9fff]/.test(s.replace(/彩|京子/g, ""))).join(" / ")`); got != "" {
		t.Errorf("Japanese in the English page: %s", got)
	}
}

// A whole talk by the keyboard: from the top of the page to the field, said, why, STOP, the side, and back.
func TestByTheKeyboardAlone(t *testing.T) {
	d := newDaemon(t)
	room := d.house.Get("main")
	room.Live("aya")
	d.companions = []web.Companion{{ID: "aya", Name: "Aya", Engine: "script", Generation: 1, State: "ready"}}
	b := chromium.Open(t, d.url+"/?lang=en", "")
	b.Until("the page", `document.getElementById("status").textContent === "live" && document.querySelectorAll("#companions li").length === 1`)
	tabTo := func(what string) {
		t.Helper()
		for range 40 {
			if b.Eval(`document.activeElement?.matches(`+fmt.Sprintf("%q", what)+`)`) == "true" {
				return
			}
			b.Key("Tab", 0)
		}
		t.Fatalf("Tab does not lead to %s, but to %s", what, b.Eval(`document.activeElement.outerHTML.slice(0, 200)`))
	}
	tabTo("#name")
	b.Eval(`document.activeElement.select()`)
	b.Type("mika")
	tabTo("#text")
	b.Type("hello there")
	b.Key("Enter", 0)
	b.Until("it was said", texts+` === "hello there" && document.activeElement.id === "text"`)
	room.Append(entry.KindSaid, said("aya", "hello mika"))
	b.Until("the answer", texts+` === "hello there|hello mika"`)
	tabTo("#stop")
	b.Key("Enter", 0)
	b.Until("STOP", `document.getElementById("feed").textContent.includes("mika said STOP")`)
	tabTo("#feed .why")
	b.Key("Enter", 0)
	b.Until("why", `!!document.querySelector("#feed .reason")?.textContent`)
	tabTo("#votes")
	b.Key(" ", 0)
	b.Until("votes", `document.getElementById("feed").classList.contains("votes")`)
	if got := b.Eval(`(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2; })()`); got != "true" {
		t.Error("the focus is not to be seen")
	}
	// On a phone the side is a drawer, which Escape shuts.
	b.Window(390, 780, "light")
	b.Eval(`document.body.focus(); document.activeElement.blur()`)
	tabTo("#drawer")
	b.Key("Enter", 0)
	b.Until("the side", `document.getElementById("side").contains(document.activeElement) && !!document.getElementById("companions").offsetParent`)
	b.Key("Escape", 0)
	b.Until("the talk", `document.activeElement.id === "drawer" && !document.getElementById("companions").offsetParent`)
}

// Nobody's words become more than text, wherever they stand, and nothing of them runs.
func TestNothingIsInjected(t *testing.T) {
	const nasty = `<img src=x onerror="window.ran=1"><script>window.ran=1</script><b>b</b>`
	d := newDaemon(t)
	d.companions = []web.Companion{{ID: "aya", Name: nasty, Engine: nasty, Generation: 1, State: nasty, Progress: nasty, Error: nasty, Faults: 1, File: nasty}}
	room := d.house.Get("main")
	id := "<b>b"
	room.Append(entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Name: nasty, Kind: abi.KindCompanion}, {ID: id, Name: nasty, Kind: abi.KindAgent}}})
	for _, s := range []entry.Said{said(id, nasty), {From: "aya", By: abi.KindCompanion, Kind: abi.KindBackchannel, Text: nasty, To: []string{id, nasty}}, said("aya", nasty)} {
		room.Append(entry.KindSaid, s)
	}
	room.Append(entry.KindRound, entry.Round{Electorate: []string{id, nasty}})
	room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeGrant, Grant: &abi.Grant{}, Speaker: nasty, Reason: nasty, Rule: entry.Rule(nasty), Ranking: []entry.Candidate{{Who: nasty, Standing: nasty, Note: nasty}}})
	room.Append(entry.KindStop, entry.Stop{From: nasty})
	room.Append(entry.KindRefused, entry.Refused{Who: nasty, Why: nasty, Text: nasty})
	room.Append(entry.KindFailed, entry.Failed{Who: nasty, Error: nasty})
	b := chromium.Open(t, d.url+"/?lang=en", "")
	b.Until("all of it", `document.querySelectorAll("#feed > *").length >= 8 && document.querySelectorAll("#companions li").length === 1`)
	b.Eval(`document.getElementById("votes").click(); document.querySelectorAll(".why").forEach(w => w.click())`)
	b.Until("why", `document.querySelectorAll(".reason").length > 0 && [...document.querySelectorAll(".reason")].every(r => r.textContent.length > 20)`)
	b.Eval(`document.querySelectorAll("details").forEach(d => d.open = true)`)
	b.Must("Page.navigate", map[string]any{"url": d.url + "/?lang=en&room=" + `%3Cimg%20src=x%3E` + "#main"}, nil)
	b.Until("again", `document.querySelectorAll("#feed > *").length >= 8`)
	if got := b.Eval(`window.ran + " " + document.querySelectorAll("img, body b:not(#companions b), #feed b, iframe, script + script").length + " " + document.querySelectorAll("script").length`); got != "undefined 0 1" {
		t.Errorf("injected: %s", got)
	}
	b.Eval(`const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.head.append(s)`)
	if got := b.Eval(`window.ran`); got != "<nil>" {
		t.Errorf("another script runs: %s", got)
	}
}

// axe-core finds nothing serious, light and dark, at a desk and on a phone, in both languages; new lines are read aloud as they come, and old ones are not.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("COMPANIOND_NODE") == "1" {
			t.Fatal(err)
		}
		t.Skip("no axe-core: make npm")
	}
	d := newDaemon(t)
	d.companions = []web.Companion{{ID: "aya", Name: "Aya", Engine: "script", Generation: 2, State: "failed", Error: "line 3: no", Faults: 2}, {ID: "kyoko", Name: "Kyoko", Engine: "wasm", Generation: 1, State: "ready"}}
	room := d.fill(120)
	room.Live("aya", "kyoko")
	room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeGrant, Grant: &abi.Grant{}, Speaker: "aya", Ranking: []entry.Candidate{{Who: "aya", Standing: "speak", Importance: 5}}})
	b := chromium.Open(t, "about:blank", string(axe)) // no policy is in the way of the DevTools
	for _, view := range []struct {
		name, lang, scheme string
		width              int
		act                string
	}{
		{"desk", "en", "light", 1200, ""},
		{"desk-dark", "ja", "dark", 1200, `document.getElementById("votes").click(); document.querySelectorAll("#feed .why").forEach((w, i) => { if (i < 2) w.click(); })`},
		{"phone", "ja", "light", 390, `document.getElementById("key").click()`},
		{"phone-side", "en", "dark", 390, `document.getElementById("drawer").click()`},
	} {
		b.Window(view.width, 780, view.scheme)
		b.Must("Page.navigate", map[string]any{"url": d.url + "/?lang=" + view.lang + "&" + view.name}, nil)
		b.Until(view.name, `location.search.endsWith("`+view.name+`") && document.querySelectorAll("#feed .said").length > 100 && document.querySelectorAll("#companions li").length === 2`)
		b.Eval(view.act)
		b.Until("nothing is busy", `document.getElementById("feed").getAttribute("aria-busy") === "false"`)
		look(t, b, view.name)
		const serious = `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" ;; ")).join("\n"))`
		if got := b.Eval(serious); got != "" {
			t.Errorf("%s:\n%s", view.name, got)
		}
		if got := b.Eval(`document.documentElement.scrollWidth <= innerWidth && document.body.scrollHeight <= innerHeight + 1`); got != "true" {
			t.Errorf("%s: the page itself scrolls: %s", view.name, b.Eval(`[document.documentElement.scrollWidth, innerWidth, document.body.scrollHeight, innerHeight].join()`))
		}
		b.Eval(`document.getElementById("votes").checked && document.getElementById("votes").click()`)
	}
	if got := b.Eval(`axe.version.length > 0`); got != "true" {
		t.Error("axe did not run")
	}
	b.Must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	if got := b.Eval(`document.getAnimations().length`); got != "0" {
		t.Errorf("%s animations though less motion is wished", got)
	}
}
