package page_test

import "testing"

// compression is one as the door gives it, with what a page must never take for markup.
const compression = `
room = "a b"; rooms = [{ name: "a b", members: [] }];
Date.prototype.toLocaleString = () => "then";
const nasty = "<script>alert(1)</script> \u202eevil\u202c \u200f<img src=x onerror=alert(2)>";
const short = { id: "p 1", room, state: "offered", original_turns_range: [1, 3], policy: "Keep <b>names</b>", target_length: 600, unit: "characters", compresser: "model", verifier: "model", by: "mika", at: "2026-01-02T03:04:05Z", drafts: [] };
const one = { ...short, original: [{ n: 1, from: "mika", text: "On the 3rd <i>" }, { n: 2, upto: 3, text: "told before" }, { n: 4, from: "forgotten-1", text: "" }], drafts: [
  { n: 1, content: "first", timestamp: "2026-01-02T03:04:05Z", by: "model", verified_by: "aya", verdict: "NO", feedback: "M1 is <u>missing</u>", findings: [{ id: "M1", item: "the 3rd", turn: 1, status: "missing" }], lost: [] },
  { n: 2, content: nasty, timestamp: "2026-01-02T03:04:05Z", by: "model", verified_by: "aya", verdict: "YES", findings: [{ id: "M1", item: "a cat", turn: 1, status: "missing" }, { id: "M2", item: "the 3rd", turn: 1, status: "kept", quote: "<q>", policy: true }, { id: "M3", item: "<b>", turn: 2, status: "kept" }], lost: [{ kind: "name", item: "<s>Taro</s>", turn: 2 }] } ] };
answers["GET /v1/rooms/a%20b/compressions/p%201"] = one;
answers["GET /v1/rooms/a%20b/compressions"] = { compressions: [short] };
answers["GET /v1/rooms/a%20b/branches"] = { branches: [{ name: "a b", turns: 5 }] };
const settled = async () => { for (let i = 0; i < 9; i++) await new Promise(done => setImmediate(done)); };
`

// Both texts stand beside each other, as text, the signs that turn letters around by their numbers, with what was found about the draft; and what
// may be done goes by how it stands.
func TestPageShowsACompression(t *testing.T) {
	got := play(t, compression+`
await reckon();
for (const li of elements.compressions.children) console.log(all(li));
await click(elements.compressions, "Turns 1 to 3");
console.log(elements.tale.open, elements.tales.textContent, "-", all(elements.stands));
const [left, right] = elements.both.children;
console.log(left.children[1].children.map(all).join(" + "));
console.log(right.children[0].textContent, right.children[1].dir, JSON.stringify(right.children[1].children.map(c => c.className ? [c.textContent] : c)).replace("\u200f", "RLM"));
const told = e => e.children?.length ? e.children.map(told).join("/") : e.textContent ?? e;
console.log(told(elements.verdict));
console.log(within(elements.verdict).map(e => e.className).filter(c => c === "named" || c === "besides").join());
for (const d of [{ ...one.drafts[0], findings: [] }, { ...one.drafts[0], findings: [], content: "" }]) console.log(judged(d, "").map(told).join("/"));
console.log(all(elements.deeds));
const yes = { ...one, state: "approved", approved_by: "guest" };
answers["POST /v1/rooms/a%20b/compressions/p%201/approve"] = [{ status: 403, detail: "this is for <people>" }, yes];
await click(elements.deeds, "Approve"); console.log(elements.taletold.textContent, elements.deeds.children[0].disabled);
answers["GET /v1/rooms/a%20b/compressions/p%201"] = yes;
await click(elements.deeds, "Approve"); await settled();
console.log("[" + elements.taletold.textContent + "]", elements.stands.children[0].textContent, "-", all(elements.deeds));
elements.deeds.children[1].value = " too <short> ";
answers["POST /v1/rooms/a%20b/compressions/p%201/revert"] = answers["GET /v1/rooms/a%20b/compressions/p%201"] = { ...yes, state: "reverted", original: undefined };
await click(elements.deeds, "Revert"); await settled();
console.log("[" + all(elements.deeds) + "]", elements.both.children[0].children[1].textContent);
for (const state of ["drafting", "refused", "denied", "failed"]) { compare({ ...one, state, drafts: [] }); console.log(state, "[" + all(elements.deeds) + "]", elements.both.children[1].children[1].textContent); }
answers["POST /v1/rooms/a%20b/compressions/p%201/extract"] = one;
compare({ ...one, state: "refused" }); await click(elements.deeds, "Take the turns' own sentences"); await settled();
`)
	const want = `> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
Turns 1 to 3 | waits for a person | mika · then
> GET /v1/rooms/a%20b/compressions/p%201
true Turns 1 to 3 - waits for a person |  | mika asked for it · then · at most 600 characters · drafted by model, verified by model | Keep <b>names</b>
#1 | mika:  | On the 3rd <i> + #2–3 | told before + #4 | forgotten-1:  | erased
Draft 2 of 2 auto ["<script>alert(1)</script> ",["U+202E"],"evil",["U+202C"]," RLM<img src=x onerror=alert(2)>"]
Verdict: YES/drafted by model, verified by aya · then/What the policy names: 1 of 1 are there/kept/the 3rd/ (turn 1)/ “<q>”/What may matter besides: 1 of 2 are there/missing/a cat/ (turn 1)/kept/<b>/ (turn 2)/What is lost/name/<s>Taro</s>/ (turn 2)/Drafts before/Draft 1 of 2/first/Verdict: NO/drafted by model, verified by aya · then/What has to be mended/M1 is <u>missing</u>/The policy names nothing that code finds in these turns./What may matter besides: 0 of 1 are there/missing/the 3rd/ (turn 1)/What is lost/Nothing was found to be lost.
named,besides,besides
Verdict: NO/drafted by model, verified by aya · then/What has to be mended/M1 is <u>missing</u>/There is no policy: nothing has to stay./What is lost/Nothing was found to be lost.
Verdict: NO/drafted by model, verified by aya · then/What has to be mended/M1 is <u>missing</u>/What is lost/Nothing was found to be lost.
Approve | Deny | 
> POST /v1/rooms/a%20b/compressions/p%201/approve
this is for <people> false
> POST /v1/rooms/a%20b/compressions/p%201/approve
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions/p%201
[] told so - Revert | 
> POST /v1/rooms/a%20b/compressions/p%201/revert {"why":"too <short>"}
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions/p%201
[] The turns are not there any more.
drafting [Deny | ] There is no draft yet.
refused [Take the turns' own sentences | Deny | ] There is no draft that a verifier has looked at.
denied [] There is no draft that a verifier has looked at.
failed [] There is no draft that a verifier has looked at.
> POST /v1/rooms/a%20b/compressions/p%201/extract
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions/p%201
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A draft of one's own is shown while it is verified, beside the turns, and the next one is sent where it was refused. What shows as nothing is
// shown by its number; what the daemon asked for itself, and why something failed, stands there in words.
func TestPageOfOwnDraftsAndOfTheDaemons(t *testing.T) {
	got := play(t, compression+`
const own = { ...one, compresser: undefined, state: "drafting" }, path = "GET /v1/rooms/a%20b/compressions/p%201";
const right = () => elements.both.children[1].children.map(all).join(" / ");
answers[path] = { ...own, drafts: [], verifying: { n: 1, content: "mine <i>\u200b\u{e0041}" } };
await unfold("p 1"); console.log(elements.stands.children[0].textContent, right(), "[" + all(elements.deeds) + "]");
compare({ ...own, drafts: [own.drafts[0]], verifying: { n: 2, content: "" } }); console.log(right(), "-", elements.verdict.children.map(c => c.className).join(), "-", all(elements.verdict).includes("first"));
const refused = { ...own, drafts: [own.drafts[0]], why: "M1 is missing" };
compare(refused); console.log(elements.stands.children[0].textContent, right(), "[" + elements.deeds.children.map(e => e.textContent || e.placeholder).join() + "]");
elements.deeds.children[0].value = "better <b>";
answers["POST /v1/rooms/a%20b/compressions/p%201/drafts"] = [{ status: 400, detail: "text: character 1 is <U+200B>" }, { ...refused, verifying: { n: 2, content: "better <b>" } }];
await click(elements.deeds, "Have it verified"); console.log(elements.taletold.textContent, elements.deeds.children[0].value);
answers[path] = { ...refused, verifying: { n: 2, content: "better <b>" } };
await click(elements.deeds, "Have it verified"); await settled(); console.log("[" + elements.taletold.textContent + "]", right());
compare({ ...one, by: "the configuration", auto: true, state: "approved", approved_by: "the configuration" }); console.log(all(elements.stands), "[" + all(elements.deeds) + "]");
compare({ ...one, drafts: [], by: "the configuration", state: "failed", why: "no draft can be made: there is no <model>" }); console.log(all(elements.stands), right(), "[" + all(elements.deeds) + "]");
`)
	const want = `> GET /v1/rooms/a%20b/compressions/p%201
is being verified Draft 1 is being verified / mine <i> | U+200B | U+E0041 [Deny | ]
Draft 2 is being verified / The text was erased. -  - true
waits for the next draft Draft 1 of 1 / first [A draft of your own,Have it verified,Deny,Why (may be empty)]
> POST /v1/rooms/a%20b/compressions/p%201/drafts {"text":"better <b>"}
text: character 1 is <U+200B> better <b>
> POST /v1/rooms/a%20b/compressions/p%201/drafts {"text":"better <b>"}
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions/p%201
[] Draft 2 is being verified / better <b>
told so |  | the configuration asked for it · then · at most 600 characters · drafted by model, verified by model · approved by the configuration · approved without a person where it is verified | Keep <b>names</b> [Revert | ]
failed | no draft can be made: there is no <model> | the configuration asked for it · then · at most 600 characters · drafted by model, verified by model | Keep <b>names</b> Draft / There is no draft that a verifier has looked at. []
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An entry of the feed has all of it asked for anew, once for many; what was let in by another
// token, or is of another room, goes.
func TestPageFollowsTheHistory(t *testing.T) {
	got := play(t, compression+`
let seq = 0;
const happens = body => take({ seq: ++seq, at: "2026-01-02T03:04:05Z", kind: "history", body });
happens({ kind: "propose", proposal: "p 1", by: "mika", ask: { turns: [1, 3] } });
happens({ kind: "draft", proposal: "p 1", draft: { verdict: "NO" } });
happens({ kind: "draft", proposal: "p 1", draft: { verdict: "YES" } });
happens({ kind: "fail", proposal: "p 1", why: "no <model>" });
happens({ kind: "approve", proposal: "p 1", by: "guest" });
happens({ kind: "revert", proposal: "p 1", by: "mika" });
happens({ kind: "deny", proposal: "p 1", by: "<b>" });
take({ seq: ++seq, at: "2026-01-02T03:04:05Z", kind: "forked", body: { of: "main", turn: 3, by: "(guests)" } });
await settled();
for (const li of elements.feed.children) console.log(li.children.slice(1).map(c => c.textContent).join(" "));
await click(elements.compressions, "Turns 1 to 3");
answers["GET /v1/rooms/a%20b/compressions/p%201"] = { ...one, state: "denied" };
take({ seq: ++seq, at: "2026-01-02T03:04:05Z", kind: "history", blank: true }); await settled();
console.log(elements.stands.children[0].textContent, elements.bygone.hidden);
answers["GET /v1/rooms/a%20b/branches"] = { status: 401, detail: "no token" };
take({ seq: ++seq, at: "2026-01-02T03:04:05Z", kind: "history", blank: true }); await settled();
console.log(elements.tale.open, elements.bygone.hidden, elements.compressions.children.length, elements.both.children.length);
`)
	const want = `> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
mika asked for a shorter text for turns 1–3
a draft of the shorter text did not pass verification
a draft of the shorter text passed verification
no shorter text could be made: no <model>
guest approved the shorter text
mika took the shorter text back, and the turns are told as they were
<b> turned the shorter text down
guest forked main at turn 3
> GET /v1/rooms/a%20b/compressions/p%201
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
> GET /v1/rooms/a%20b/compressions/p%201
denied false
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
false true 0 0
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Somebody asks for a compression, sees the family of a room, goes to one of it, and forks.
func TestPageForks(t *testing.T) {
	got := play(t, compression+`
answers["GET /v1/rooms/a%20b/branches"] = { branches: [{ name: "main", turns: 9 }, { name: "a b", of: "main", turn: 4, turns: 5 }, { name: "<i>", of: "a b", turn: 2, turns: 3, closed: true }] };
await reckon();
for (const li of elements.branches.children) console.log(li.className + " " + (li.style.marginInlineStart ?? "") + ": " + all(li));
await click(elements.branches, "<i>"); console.log(location.hash);
$("first").value = "1"; $("last").value = "3"; $("policy").value = " keep all "; $("length").value = "600";
answers["POST /v1/rooms/a%20b/compressions"] = [{ status: 409, detail: "turns: <told>" }, short];
await submit(elements.ask); console.log($("pasttold").textContent, $("first").value);
await submit(elements.ask); await settled(); console.log("[" + $("pasttold").textContent + $("first").value + $("policy").value + "]");
answers["POST /v1/rooms/a%20b/forks"] = [{ status: 404, detail: "turn: none" }, { name: "a b-2", of: "a b", turn: 2, turns: 2 }];
$("where").value = "2";
await submit(elements.split); console.log($("pasttold").textContent, location.hash);
$("fork").value = " new ";
await submit(elements.split); console.log("[" + $("pasttold").textContent + "]", location.hash);
`)
	const want = `> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
 0rem: main | 9 turns
here 0.8rem: a b | shown here | left main at turn 4 · 5 turns
 1.6rem: <i> | closed | left a b at turn 2 · 3 turns
%3Ci%3E
> POST /v1/rooms/a%20b/compressions {"turns":"1-3","policy":"keep all","target_length":600}
turns: <told> 1
> POST /v1/rooms/a%20b/compressions {"turns":"1-3","policy":"keep all","target_length":600}
> GET /v1/rooms/a%20b/compressions
> GET /v1/rooms/a%20b/branches
[]
> POST /v1/rooms/a%20b/forks {"turn":2}
turn: none %3Ci%3E
> POST /v1/rooms/a%20b/forks {"turn":2,"name":"new"}
[] a%20b-2
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Each turn has its number beside it, which puts itself into the forms: a range by two clicks, whichever comes first, and where a fork leaves.
func TestPageNumbersTurns(t *testing.T) {
	got := play(t, compression+`
let seq = 0;
const said = (turn, kind = "turn", more) => take({ seq: ++seq, at: "2026-01-02T03:04:05Z", kind: "said", body: { from: "mika", by: "human", text: "hi", kind, turn, ...more } });
said(7); said(7, "backchannel"); said(undefined); said(9, "turn", { text: "", erased: "o1" });
for (const li of elements.feed.children) console.log(li.children.slice(1).filter(c => c.className !== "face").map(c => (c.className || c) + "=" + (c.textContent ?? "")).join(" "));
const number = n => elements.feed.children.flatMap(li => li.children).find(c => c.className === "turn" && c.textContent === String(n));
console.log(number(7).title, "-", number(7).attributes["aria-label"]);
const now = () => console.log(["first", "last", "where"].map(id => $(id).value).join(), !!$("asks").open, !!$("forks").open);
for (const n of [9, 7, 9, 9]) { number(n).onclick(); now(); }
$("asks").open = false; $("forks").open = true; number(7).onclick(); now();
bygones(); now();
`)
	const want = `who=mika turn=7 text=hi
who=mika text=hi
who=mika text=hi
who=mika turn=9 text= badge=erased
Turn 7: a click puts it into the forms of the history, first the turn to begin with, then the last - turn 7
9,,9 true false
7,9,7 true false
9,,9 true false
9,9,9 true false
7,,7 false true
,, false true
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
