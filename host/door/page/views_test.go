package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest/chromium"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// furnish has the daemon answer for all that its parts ask for, with say giving each word of others.
func (d *daemon) furnish(say func(string) string) {
	t := d.t
	schema, err := os.ReadFile("../../card/companion.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	const at = "2026-01-02T03:04:05Z"
	card, _ := json.MarshalIndent(m{"name": say("彩"), "personality": say("明るい"), "talkativeness": 7, "aliases": []string{say("あや")}, "events": []m{{"perception": say("eye"), "action": []string{say("wave")}}}}, "", "  ")
	short := m{"id": "p1", "room": "main", "state": "offered", "original_turns_range": []int{1, 3}, "policy": say("名前を残す"), "target_length": 600, "unit": "characters", "compresser": say("model"), "verifier": "model", "by": say("mika"), "at": at}
	long := m{"drafts": []m{{"n": 1, "content": say("短い文"), "timestamp": at, "by": "model", "verified_by": say("aya"), "verdict": "NO", "feedback": say("名前がない"), "findings": []m{{"id": "M1", "item": say("猫"), "turn": 1, "status": "missing", "policy": true}, {"id": "M2", "item": say("3日"), "turn": 1, "status": "kept", "quote": say("3日")}}, "lost": []m{{"kind": "name", "item": say("太郎"), "turn": 2}}}},
		"original": []m{{"n": 1, "from": say("mika"), "text": say("猫がいます")}, {"n": 2, "upto": 3, "text": say("短く")}}}
	for k, v := range short {
		long[k] = v
	}
	long["state"] = "refused"
	problem := m{"type": "about:blank", "status": 403, "code": "denied", "detail": say("name: odd"), "errors": []m{}}
	answers := map[string]any{
		"GET /v1/characters":                          m{"files": []m{{"file": "aya.json", "kind": "card", "hash": "h", "before": true}, {"file": say("old.js"), "deleted": true}}},
		"GET /v1/characters/aya.json":                 m{"kind": "card", "hash": "h", "text": string(card)},
		"POST /v1/characters/aya.json/check":          m{"problems": []m{{"path": "talkativeness", "line": 4, "column": 20, "text": "is 7, must be from 0 to 1"}, {"path": say("mood"), "line": 5, "text": say("is not known; have name, story")}}},
		"PUT /v1/characters/aya.json":                 problem,
		"GET /v1/schemas/companion.json":              json.RawMessage(schema),
		"GET /v1/logs":                                m{"head": 9, "lines": []m{{"at": at, "level": "info", "message": say("companion loaded"), "fields": []m{{"name": say("file"), "value": say("aya.json")}}}, {"at": at, "level": "warn", "companion": "aya", "message": say("file refused"), "fields": []m{}}, {"at": at, "level": "error", "message": say("no"), "fields": []m{}}}},
		"GET /v1/handlers":                            m{"handlers": []m{{"name": say("chat"), "module": "chat", "companions": []string{say("aya")}, "actions": []m{{"name": say("mute"), "description": say("黙らせる"), "schema": m{"properties": m{say("viewer"): m{"type": "string", "description": say("だれを")}, "minutes": m{"type": "integer"}}, "required": []string{say("viewer")}}}}}, {"name": "gone", "module": "gone", "error": say("its module is not loaded"), "companions": []string{}, "actions": []m{}}}},
		"GET /v1/companions/aya/memories":             m{"memories": []m{{"id": "m1", "text": say("猫はタマ"), "quote": say("うちの猫"), "about": []string{say("mika")}, "keys": []string{say("タマ")}, "room": say("main"), "turns": []int{12}, "said_by": say("mika"), "said_at": at, "importance": 4, "visibility": "person"}, {"id": "m2", "text": say("雨"), "importance": 1, "valid_to": at}}, "total": 2, "next": "m2"},
		"DELETE /v1/companions/aya/memories/m1":       problem,
		"GET /v1/rooms/main/compressions":             m{"compressions": []m{short}},
		"GET /v1/rooms/main/compressions/p1":          long,
		"POST /v1/rooms/main/compressions/p1/extract": problem,
		"GET /v1/rooms/main/branches":                 m{"branches": []m{{"name": "main", "turns": 5}, {"name": say("枝"), "of": "main", "turn": 3, "turns": 2, "closed": true}}},
		"POST /v1/rooms/main/messages":                problem,
	}
	doors := *d.doors.Load()
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch answer, ok := answers[r.Method+" "+r.URL.Path]; {
		case strings.HasSuffix(r.URL.Path, "/prompts"):
			_ = json.NewEncoder(w).Encode(m{"prompts": []m{{"usage": m{"who": say("aya"), "op": "speak", "model": say("qwen"), "in": 10, "out": 2}, "exact": true, "parts": []m{{"name": "system", "tokens": 5, "text": say("あなたは彩です")}}}}})
		case ok && r.URL.Query().Get("since") == "9":
			<-r.Context().Done() // no newer line
		case ok:
			w.Header().Set("Content-Type", "application/json")
			if p, is := answer.(m); is && p["status"] == 403 {
				w.WriteHeader(http.StatusForbidden)
			}
			_ = json.NewEncoder(w).Encode(answer)
		default:
			doors.ServeHTTP(w, r)
		}
	})
	d.doors.Store(&h)
	d.companions = []web.Companion{{ID: "aya", Name: say("彩"), Engine: "prompt", Generation: 2, State: "failed", Error: say("aya.json:4: talkativeness: is 7, must be from 0 to 1"), Faults: 2, File: "aya.json"}, {ID: "kyoko", Name: say("京子"), Engine: say("wasm"), Generation: 1, State: "ready", Progress: "being compiled"}, {ID: "rin", Name: "凛", Engine: "prompt", State: "ready", Error: "waits for a model: write [model.main] into the configuration"}}
	room := d.house.Get("main")
	room.Live("aya", "kyoko")
	room.Append(entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Name: say("彩"), Kind: abi.KindCompanion}}, Left: []entry.Left{{ID: say("taro")}}})
	room.Append(entry.KindSaid, said(say("mika"), say("こんばんは")))
	room.Append(entry.KindSaid, said("aya", say("こんばんは。今日は何をしましたか？")))
	room.Append(entry.KindSaid, entry.Said{From: "kyoko", By: abi.KindCompanion, Kind: abi.KindBackchannel, Text: say("うん"), To: []string{say("mika")}})
	room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeGrant, Grant: &abi.Grant{}, Speaker: "aya", Rule: entry.RuleImportance, Reason: say("aya"), Ranking: []entry.Candidate{{Who: "aya", Standing: "speak", Importance: 5, Note: say("話したい") + "; called by mika"}, {Who: "kyoko", Standing: "listen", Importance: 1}}})
	room.Append(entry.KindSaid, said("aya", say("猫の話をしましょう")))
	room.Append(entry.KindRefused, entry.Refused{Who: "kyoko", Code: abi.CodeStale, Why: say("mika") + " spoke meanwhile", Text: say("ええと")})
	room.Append(entry.KindFailed, entry.Failed{Who: "kyoko", Code: abi.CodeTimeout, Error: "did not answer in time"})
	room.Append(entry.KindStop, entry.Stop{From: say("mika")})
}

// views are what one can be shown, each with what leads there and what shows that it is there.
var views = []struct{ name, act, there string }{
	{"talk", ``, `true`},
	{"why", `document.getElementById("votes").checked || document.getElementById("votes").click(); document.querySelectorAll("#feed .why").forEach(w => w.click())`, `!!document.querySelector(".reason table") && (document.querySelectorAll(".reason details").forEach(d => d.open = true), true)`},
	{"refused", `document.getElementById("text").value = "x"; document.getElementById("talk").requestSubmit()`, `document.getElementById("told").textContent !== ""`},
	{"token", `document.getElementById("key").click()`, `!document.getElementById("who").hidden`},
	{"side", `reach(); document.getElementById("drawer").offsetParent && document.getElementById("drawer").click()`, `document.querySelectorAll("#compressions li").length === 1 && document.querySelectorAll("#handlers li").length === 2`},
	{"side-open", `document.querySelectorAll("#side details").forEach(d => d.open = true)`, `document.querySelectorAll("#loglines li").length === 3`},
	{"side-end", `document.getElementById("side").scrollTop = 1e6`, `true`},
	{"editor", `retain("cardview", ""); [...document.querySelectorAll("#companions .mind")].find(b => /aya.json/.test(b.textContent)).click()`, `document.getElementById("editor").open && document.querySelectorAll("#wrongs li").length === 2 && !!document.querySelector("#cardform .error")`},
	{"editor-text", `document.getElementById("astext").click(); document.getElementById("filetext").value += " "; document.getElementById("savefile").click()`, `document.getElementById("editorwarned").textContent !== ""`},
	{"editor-end", `document.getElementById("editor").scrollTop = 1e6`, `true`},
	{"beginner", `document.getElementById("editor").close(); document.getElementById("newfile").click()`, `document.getElementById("beginner").open`},
	{"memory", `document.getElementById("beginner").close(); document.querySelector("#companions li").querySelectorAll(".mind").forEach(b => /aya.json/.test(b.textContent) || b.click())`, `document.getElementById("mind").open && document.querySelectorAll("#memories li").length === 2`},
	{"memory-edit", `document.querySelector("#memories li button").click(); document.getElementById("oblivion").open = true`, `!!document.querySelector("#memories form")`},
	{"proposal", `document.getElementById("mind").close(); document.querySelector("#compressions button").click()`, `document.getElementById("tale").open && document.querySelectorAll("#deeds button").length > 0`},
	{"proposal-refused", `document.querySelector("#deeds button").click()`, `document.getElementById("taletold").textContent !== ""`},
}

// serious are the findings of axe-core that are serious, in words; and sideways what goes beyond its view, the page or a dialog, to the side.
const serious = `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" ;; ")).join("\n"))`
const sideways = `[document.documentElement, ...document.querySelectorAll("dialog[open], aside, #feed, main, header")].filter(e => (e.clientWidth || e === document.documentElement) && e.scrollWidth > e.clientWidth + 1).map(e => (e.id || e.tagName) + " " + e.scrollWidth + " > " + e.clientWidth + " by " + [...e.querySelectorAll("*")].filter(c => c.getBoundingClientRect().right > e.getBoundingClientRect().right + 1).slice(0, 2).map(c => c.outerHTML.slice(0, 90)).join()).join("\n")`

// through leads a page through all views, and has look see each.
func through(t *testing.T, b *chromium.Page, url string, seen func(view string)) {
	t.Helper()
	b.Must("Page.navigate", map[string]any{"url": url}, nil)
	b.Until("the page", `document.readyState === "complete" && document.querySelectorAll("#feed .said").length >= 3 && !catching && document.querySelectorAll("#companions .mind").length >= 4`)
	for _, v := range views {
		b.Eval(v.act)
		b.Until(v.name, v.there)
		seen(v.name)
	}
}

// Every part, dialog and state of the page, light and dark, at a desk and on a phone, in both languages: axe-core finds nothing serious,
// nothing is scrolled to the side, and the Japanese page is Japanese but for what others said.
func TestEveryView(t *testing.T) {
	waittest.WithoutRaces(t)
	axe, err := os.ReadFile("testdata/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Log("axe-core does not look at it: make npm")
	}
	d := newDaemon(t)
	d.furnish(func(s string) string { return s })
	b := chromium.Open(t, "about:blank", string(axe))
	for _, of := range []struct {
		lang, scheme  string
		width, height int
	}{{"ja", "light", 390, 844}, {"en", "dark", 390, 844}, {"ja", "dark", 1280, 800}, {"en", "light", 1280, 800}} {
		b.Window(of.width, of.height, of.scheme)
		name := fmt.Sprintf("%s-%s-%d", of.lang, of.scheme, of.width)
		through(t, b, d.url+"/?"+name+"&lang="+of.lang, func(view string) {
			look(t, b, name+"-"+view)
			if found := b.Eval(sideways); found != "" {
				t.Errorf("%s %s: %s", name, view, found)
			}
			if len(axe) > 0 {
				if found := b.Eval(serious); found != "" {
					t.Errorf("%s %s:\n%s", name, view, found)
				}
			}
			if of.lang != "ja" {
				return
			}
			if found := b.Eval(english); found != "" {
				t.Errorf("%s %s: English: %s", name, view, found)
			}
		})
		b.Eval(`document.getElementById("votes").checked && document.getElementById("votes").click()`)
	}
}

// english are the words that stand there in English, but for names, what is marked as English, and the log, which is the daemon's for makers.
const english = `(() => { const all = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) { const e = n.parentElement;
		if (!e.checkVisibility() || e.closest("script, style, noscript, h1, .face, #loglines, textarea, [lang]:not(html), summary:has(+ form), #handlers, #room")) continue;
		const s = n.data.replace(/\b(aya\.json|old\.js|aya|kyoko|mika|taro|rin|main|model|prompt|wasm|script|speak|qwen|eye|wave|JSON|ja|en|US|deny|warn|speaker|speed|emotions|input|TypeScript|YES|NO|talkativeness|mood|name|odd|companiond|2s|500ms|1h|U)\b/g, "");
		if (/[A-Za-z]{3,}/.test(s)) all.push(n.data); }
	return all.join(" / "); })()`

// Whatever others call themselves, say or do, nothing of it becomes an element, a link or code, in any view, and the page keeps its form: markup,
// addresses that are code, letters that turn others around, and names of ten thousand letters.
func TestNothingIsInjectedAnywhere(t *testing.T) {
	waittest.WithoutRaces(t)
	const nasty = `<img src=x onerror="window.ran=1"><a href="javascript:window.ran=1">j</a><script>window.ran=1</script><svg onload="window.ran=1">` + "\u202egnol\u2066 javascript:window.ran=1 "
	d := newDaemon(t)
	d.furnish(func(s string) string { return s + nasty + strings.Repeat("W", 10000) })
	b := chromium.Open(t, "about:blank", "")
	for _, width := range []int{390, 1280} {
		for _, lang := range []string{"en", "ja"} {
			b.Window(width, 844, "light")
			through(t, b, d.url+fmt.Sprintf("/?%d&lang=%s", width, lang), func(view string) {
				look(t, b, fmt.Sprintf("nasty-%d-%s-%s", width, lang, view))
				if got := b.Eval(`[window.ran, document.querySelectorAll("img, svg, iframe, object, script + script, dialog dialog, [onerror], [onload], a[href^='javascript'], [style*='url']").length, document.querySelectorAll("script").length].join()`); got != ",0,1" {
					t.Errorf("%d %s %s: injected: %s", width, lang, view, got)
				}
				if found := b.Eval(sideways); found != "" {
					t.Errorf("%d %s %s: %s", width, lang, view, found)
				}
				if got := b.Eval(`(() => { const e = document.querySelector("dialog[open] .shut, dialog[open] header button") ?? document.getElementById("send"), r = e.getBoundingClientRect(); return document.body.classList.contains("drawn") && e.id === "send" || r.left >= 0 && r.right <= innerWidth + 1 && r.top >= -1 && r.bottom <= innerHeight + 1; })()`); got != "true" {
					t.Errorf("%d %s %s: what one needs is out of sight: %s", width, lang, view, b.Eval(`JSON.stringify((document.querySelector("dialog[open] header button") ?? document.getElementById("send")).getBoundingClientRect())`))
				}
			})
		}
	}
}
