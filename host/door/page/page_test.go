package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/page"
	"github.com/companiond/companiond/host/entry"
)

func TestPage(t *testing.T) {
	w := get(t, page.Config{})
	html := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, element := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(html, "<"+element+">")
		inner, _, _ := strings.Cut(rest, "</"+element+">")
		sum := sha256.Sum256([]byte(inner))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	for has, cfg := range map[string]page.Config{"<html lang=": {}, "<html data-projects lang=": {Projects: true}} {
		if w := get(t, cfg); !strings.HasPrefix(w.Body.String(), "<!doctype html>\n"+has) {
			t.Errorf("the page begins with %.50q, not %s", w.Body, has)
		}
	}
	// Anything that would make text into markup, or load something, or be stopped by
	// the policy.
	for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://", "src=", " style=", "onclick=\"", "@import", "url("} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %s", never)
		}
	}
}

// The page shows people what they are to see of a room, whatever its entries are called:
// the page passes over kinds that it does not know, and so would over a new one.
func TestPageKnowsTheEntries(t *testing.T) {
	html := get(t, page.Config{}).Body.String()
	for _, kind := range []entry.Kind{entry.KindOpened, entry.KindArchived, entry.KindCast, entry.KindSaid, entry.KindRound, entry.KindDecision, entry.KindStop, entry.KindRefused, entry.KindFailed, entry.KindSegment, entry.KindHeard, entry.KindConversation, entry.KindLifecycle, entry.KindHistory, entry.KindForked} {
		if !strings.Contains(html, "\n  "+string(kind)+"(e, b) {") {
			t.Errorf("the page does not show %s", kind)
		}
	}
	for _, state := range []string{"talking", "resting", "waiting", "stopped", "closed", "capped", "archived", "unjudged", "unavailable", "pending", "active", "terminating", "ended", "expired", "declined"} {
		if n := strings.Count(html, " "+state+`: "`); n < 2 {
			t.Errorf("the page has %d words for a room that is %s", n, state)
		}
	}
	outcomes := []entry.Outcome{entry.OutcomeSilence, entry.OutcomeAbsent, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped, entry.OutcomeSuperseded, entry.OutcomeWaits}
	for _, o := range outcomes {
		if n := strings.Count(html, " "+string(o)+`: "`); n < 2 { // in each language
			t.Errorf("the page has %d words for %s", n, o)
		}
	}
}

// Both languages must have all words, and the script must be one that parses.
func TestPageScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	script := inner(t, "script")
	file := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	head, _, _ := strings.Cut(script, "const lang =")
	check := head + `
const keys = o => Object.keys(o).flatMap(k => typeof o[k] === "object" ? keys(o[k]).map(x => k + "." + x) : [k]).sort();
if (String(keys(words.en)) !== String(keys(words.ja))) { console.error(keys(words.en) + "\n" + keys(words.ja)); process.exit(1); }`
	if out, err := exec.Command(node, "-e", check).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What was cut off is shown as what was heard, with a mark; and who is heard stands beside
// who has the floor.
func TestPageShowsWhatWasHeard(t *testing.T) {
	const show = `
let last = 0;
for (const [kind, body] of [
  ["said", { from: "taro", by: "human", text: "hi", kind: "turn" }],
  ["segment", { who: "aya", n: 1, text: "one " }],
  ["said", { from: "aya", by: "companion", text: "one two three", kind: "turn", played: true }],
  ["decision", { outcome: "grant", speaker: "kyoko", ranking: [] }],
  ["said", { from: "taro", by: "human", text: "wait", kind: "turn" }],
  ["heard", { of: 3, end: "cut", text: "one two", why: "taro spoke over it", who: "aya" }],
  ["decision", { outcome: "absent", ranking: [] }],
  ["said", { from: "kyoko", by: "companion", text: "read me", kind: "turn" }],
  ["said", { from: "kyoko", by: "companion", text: "hear me", kind: "turn", played: true }],
  ["heard", { of: 9, end: "said", why: "played", who: "kyoko" }],
]) {
  take({ seq: ++last, at: "2026-01-02T03:04:05.006Z", kind, body });
  console.log(elements.floor.children.map(li => li.textContent).join(" + "));
}
for (const li of elements.feed.children) console.log(li.children.filter(x => !["at", "why", "face"].includes(x.className)).map(x => x.textContent).join(" "));
process.exit(0);`
	out := run(t, show)
	want := `free
aya is heard
aya is heard
aya is heard + kyoko has the floor
aya is heard
free
waiting for somebody who can answer
free
kyoko is heard
free
taro hi
aya one two cut off
kyoko has the floor
taro wait
nobody could answer
kyoko read me
kyoko hear me
`
	if out != want {
		t.Errorf("%s", out)
	}
}

// Conversations of agents: what is open comes first, what is said of one is a text, and
// without a project there is nothing.
func TestPageShowsConversations(t *testing.T) {
	const show = `
const of = (id, state, purpose, ...members) => ({ conversation_id: id, state, turns: 2, terms: { purpose, max_turns: 20, members }, members: members.map(id => ({ id })) });
const all = [of("conv_3", "declined", "", "a", "b"), of("conv_2", "pending", "<b>why</b>", "a", "b"), of("conv_1", "active", "", "c", "d")];
const shown = () => console.log(elements.talks.hidden + ": " + elements.conversations.children.map(li => li.children.map(x => x.textContent).join(", ")).join(" + "));
const ended = { ...all[1], state: "expired" }, away = { ...of("conv_4", "pending", "", "a", "c"), absent: ["c"] };
const events = [away, ended].map(c => ": still here\n\nevent: conversation\ndata: " + JSON.stringify(c) + "\n\n").join("");
let code = 200, sent = "", asked = 0, last = 0;
globalThis.fetch = async path => {
  asked++;
  const list = { status: code, ok: code === 200, statusText: "", json: async () => code === 200 ? { conversations: all } : { detail: "there is nothing" } };
  return path.endsWith("/feed") ? { ok: true, body: new Blob([sent]).stream() } : list;
};
(async () => {
  await gather(); shown();
  document.hidden = false; sent = events;
  await follow(); shown();
  elements.conversations.children[0].children[0].onclick(); console.log(location.hash);
  for (const b of [{ kind: "start", who: "a", terms: { purpose: "to decide", members: ["a", "b"] } }, { kind: "decline", who: "b", why: "no time" }, { kind: "tell", who: "a" }]) take({ seq: ++last, at: "2026-01-02T03:04:05.006Z", kind: "conversation", body: b });
  for (const b of [{ to: "pending" }, { from: "pending", to: "active" }, { from: "active", to: "terminating", ended_by: "a", reason: "initiator_ended" }, { to: "ended" }]) take({ seq: ++last, at: "2026-01-02T03:04:05.006Z", kind: "lifecycle", body: b });
  for (const li of elements.feed.children) console.log(li.children.slice(1).map(c => c.textContent).join(" "));
  document.hidden = true; code = 404;
  await gather(); shown(); asked = 0;
  await gather(); console.log(asked);
  process.exit(0);
})();`
	out := run(t, show)
	want := `false: a ⇄ b, asked for, <b>why</b> · turn 2 of 20 + c ⇄ d, under way, turn 2 of 20 + a ⇄ b, declined, turn 2 of 20
false: a ⇄ c, asked for, turn 2 of 20 · c is not here + c ⇄ d, under way, turn 2 of 20 + a ⇄ b, declined, turn 2 of 20 + a ⇄ b, nobody came, <b>why</b> · turn 2 of 20
conv_4
a asks b: to decide
b declined: no time
under way
over — a ended it
over
true: 
0
`
	if out != want {
		t.Errorf("%s", out)
	}
	// Without a project nothing is asked for at all.
	none := runIn(t, "delete document.documentElement.dataset.projects;", `
let asked = 0;
globalThis.fetch = async () => { asked++; return { ok: false, status: 404, json: async () => ({}) }; };
gather().then(() => { console.log(asked + " " + projects); process.exit(0); });`)
	if none != "0 false\n" {
		t.Errorf("%s", none)
	}
}
