package page_test

import "testing"

// Each action of a handler has a form of what its schema wants, which sends what was filled in and shows what came of it, as
// text; and what has the focus keeps it while nothing has changed.
func TestPageHasAHandlerAct(t *testing.T) {
	got := play(t, `
const nasty = "<img src=x onerror=alert(1)>";
const chat = { name: "chat", module: "chat", error: "", companions: ["aya", "kyoko"], actions: [
  { name: "chat.mute", description: nasty, schema: { properties: { minutes: { type: "integer", minimum: 0, maximum: 9, description: "for how long" }, viewer: { type: "string", minLength: 1, maxLength: 64 } }, required: ["viewer"] } },
  { name: "a/b", schema: { properties: { mode: { enum: ["on", 2] }, must: { enum: ["x", "y"] }, yes: { type: "boolean" }, sure: { type: "boolean" }, any: {}, n: { type: ["number", "null"] } }, required: ["must", "sure"] } },
  { name: "bare" } ] };
const gone = { name: "gone", module: "gone", error: "its module is <not> loaded", companions: [], actions: [] };
answers["GET /v1/handlers"] = { handlers: [chat, gone] };
await reach();
console.log(elements.hands.hidden, elements.handlers.children.map(all).join(" + "));
const first = elements.handlers.children[0];
await reach(); console.log(elements.handlers.children[0] === first);
const forms = within(first).filter(e => e.onsubmit), said = f => { const p = f.parent.children.at(-1); return (p.className || "well") + ": " + p.textContent; };
const field = (f, name) => f.children.find(l => all(l).startsWith(name + " ")).children[1];
const [mute, odd, bare] = forms;
for (const f of forms) console.log(f.children.map(l => typeof l.children[0] === "string" && l.children[1] ? l.children[0] + [l.children[1].type, l.children[1].required, l.children[1].min, l.children[1].max, l.children[1].step, l.children[1].maxLength].join() : all(l)).join("; "));
answers["POST /v1/handlers/chat/actions/chat.mute"] = [{ message: "<troll> is muted" }, { status: 400, detail: "parameters.minutes: is <99>" }];
field(mute, "viewer").value = "7";
await submit(mute); console.log(said(mute));
field(mute, "minutes").value = "99";
await submit(mute); console.log(said(mute));
answers["POST /v1/handlers/chat/actions/a%2Fb"] = {};
await submit(odd); console.log(said(odd));
field(odd, "mode").value = "1"; field(odd, "must").value = "1"; field(odd, "yes").value = "1"; field(odd, "sure").checked = true; field(odd, "any").value = "[1]"; field(odd, "n").value = "0.5";
await submit(odd);
field(odd, "any").value = "words"; await submit(odd);
answers["POST /v1/handlers/chat/actions/bare"] = { message: "ok" };
await submit(bare); console.log(said(bare));
answers["GET /v1/handlers"] = { status: 404, detail: "nothing" };
await reach(); console.log(elements.hands.hidden, elements.handlers.children.length);
`)
	const want = `> GET /v1/handlers
false chat | aya, kyoko | chat.mute<img src=x onerror=alert(1)>viewer minutes for how longDo it | a/bmust xysure mode on2yes truefalseany n Do it | bareDo it + gone | its module is <not> loaded
> GET /v1/handlers
true
viewer ,true,,,,64; minutes number,false,0,9,1,; Do it
must ,,,,,; sure checkbox,,,,,; mode ,,,,,; yes ,,,,,; any ,false,,,,5000; n number,false,,,any,; Do it
Do it
> POST /v1/handlers/chat/actions/chat.mute {"viewer":"7"}
well: <troll> is muted
> POST /v1/handlers/chat/actions/chat.mute {"viewer":"7","minutes":99}
error: parameters.minutes: is <99>
> POST /v1/handlers/chat/actions/a%2Fb {"must":"x","sure":false}
well: Done.
> POST /v1/handlers/chat/actions/a%2Fb {"must":"y","sure":true,"mode":2,"yes":false,"any":[1],"n":0.5}
> POST /v1/handlers/chat/actions/a%2Fb {"must":"y","sure":true,"mode":2,"yes":false,"any":"words","n":0.5}
> POST /v1/handlers/chat/actions/bare {}
well: ok
> GET /v1/handlers
true 0
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
