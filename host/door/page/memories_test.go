package page_test

import "testing"

// play runs the page's script in as much of a browser as testdata/dom.js is, and what is to
// happen behind it, and gives what that prints.
func play(t *testing.T, show string) string {
	t.Helper()
	return run(t, pretend+"(async () => {"+show+"process.exit(0); })();")
}

// pretend is a daemon: it prints what it is asked, and answers from answers, by the beginning
// of the path; and what shows what the page has become.
const pretend = `
const answers = {};
globalThis.setTimeout = f => { f(); };
globalThis.fetch = async (path, { method, body } = {}) => {
  console.log("> " + (method || "GET") + " " + path + (body ? " " + body : ""));
  const key = Object.keys(answers).find(k => ((method || "GET") + " " + path).startsWith(k)), a = answers[key];
  const answer = Array.isArray(a) ? a.length > 1 ? a.shift() : a[0] : a ?? { status: 404, detail: "there is nothing" };
  return { ok: !answer.detail, status: answer.status || 200, statusText: "", json: async () => answer };
};
const all = e => e.children.map(c => typeof c === "string" ? c : c.textContent).join(" | ");
const find = (e, text) => [e, ...e.children.filter(c => typeof c !== "string").flatMap(c => [c, ...within(c)])].find(c => c.onclick && c.textContent === text);
const within = e => e.children.filter(c => typeof c !== "string").flatMap(c => [c, ...within(c)]);
const click = async (e, text) => { const b = find(e, text); await b.onclick({ currentTarget: b }); };
const submit = e => e.onsubmit({ preventDefault() {} });
`

// What a companion remembers is listed with who said it, where and when, in words and never
// as markup; found, corrected, and erased when somebody says so twice.
func TestPageShowsMemories(t *testing.T) {
	got := play(t, `
const cat = { id: "m1", kind: "fact", text: "<b>Tama</b> is a cat", quote: "my cat <i>", about: ["mika"], keys: ["Tama", "cat"], room: "main", turns: [12], said_by: "mika", said_at: "2026-01-02T03:04:05Z", importance: 4, visibility: "person" };
answers["GET /v1/companions/ky%20oko/memories?"] = [{ memories: [cat], next: "m1", total: 2 }, { memories: [{ id: "m2", text: "It rained.", importance: 1, valid_to: "2026-01-03T03:04:05Z" }], total: 2 }];
Date.prototype.toLocaleString = () => "then";
await recall("ky oko", "Kyoko");
console.log(elements.mind.open, elements.owner.textContent, "-", elements.mindtold.textContent, elements.older.hidden);
await elements.older.onclick();
for (const li of elements.memories.children) console.log(li.className + ": " + all(li));
const [li] = elements.memories.children;
await click(li, "Erase for good"); console.log(all(li));
await click(li, "Leave it"); console.log(all(li));
await click(li, "Edit");
const [form] = li.children, [text, keys] = form.children;
console.log(text.value, "-", keys.value);
text.value = "Tama is a dog"; keys.value = "Tama、dog, "; form.children[2].value = "5"; form.children[3].value = "all"; form.children[4].children[0].checked = false;
answers["PATCH "] = { status: 400, detail: "text: no" };
await submit(form); console.log(elements.mindtold.textContent);
answers["PATCH "] = { ...cat, text: "Tama is a dog", quote: undefined, edited_by: "guest", importance: 5 };
await submit(form); console.log(all(elements.memories.children[0]), "-", elements.mindtold.textContent);
answers["DELETE "] = { state: "running", order: "o 1", stores: [], left: [] };
answers["GET /v1/forget/o%201"] = [{ state: "running", order: "o 1", stores: [], left: [] }, { state: "done", order: "o 1", stores: [{ store: "memories", count: 1 }, { store: "keys", count: 0 }], left: ["a copy"] }];
const changed = elements.memories.children[0];
await click(changed, "Erase for good"); await click(changed, "Erase for good?");
console.log(elements.memories.children.length, elements.mindtold.textContent);
answers["GET /v1/companions/aya/memories?"] = { memories: [{ id: "m3", text: "mine", importance: 3 }] };
await recall("aya", "Aya"); console.log(all(elements.memories.children[0]), "-", elements.mindtold.textContent);
answers["GET /v1/companions/aya/memories?"] = { status: 403, detail: "this is for people" };
elements.topic.value = " cat & dog "; elements.whose.value = "mika"; elements.past.checked = true;
await submit(elements.seek); console.log(elements.memories.children.length, elements.mindtold.textContent, elements.older.hidden);
answers["GET /v1/companions/aya/memories?"] = { memories: [], total: 0 };
await submit(elements.seek); console.log(elements.mindtold.textContent);
elements.topic.value = elements.whose.value = ""; elements.past.checked = false;
await submit(elements.seek); console.log(elements.mindtold.textContent);
`)
	const want = `> GET /v1/companions/ky%20oko/memories?limit=50
true What Kyoko remembers - 2 in all false
> GET /v1/companions/ky%20oko/memories?limit=50&after=m1
: <b>Tama</b> is a cat | mika said so · in main #12 · then · “my cat <i>” | about mika · found by Tama, cat · importance 4 · told where that person is | Edit | Erase for good
over: It rained. |  | importance 1 · no longer so since then | Edit | Erase for good
<b>Tama</b> is a cat | mika said so · in main #12 · then · “my cat <i>” | about mika · found by Tama, cat · importance 4 · told where that person is | Edit | Erase for good? | Leave it
<b>Tama</b> is a cat | mika said so · in main #12 · then · “my cat <i>” | about mika · found by Tama, cat · importance 4 · told where that person is | Edit | Erase for good
<b>Tama</b> is a cat - Tama, cat
> PATCH /v1/companions/ky%20oko/memories/m1 {"importance":5,"keys":["Tama","dog"],"text":"Tama is a dog","visibility":"all"}
text: no
> PATCH /v1/companions/ky%20oko/memories/m1 {"importance":5,"keys":["Tama","dog"],"text":"Tama is a dog","visibility":"all"}
Tama is a dog | guest wrote this over what mika said · in main #12 · then | about mika · found by Tama, cat · importance 5 · told where that person is | Edit | Erase for good - 
> DELETE /v1/companions/ky%20oko/memories/m1
> GET /v1/forget/o%201
> GET /v1/forget/o%201
1 Gone: 1 memories · Not reached: a copy
> GET /v1/companions/aya/memories?limit=50
mine |  | importance 3 | Erase for good - 
> GET /v1/companions/aya/memories?limit=50&text=cat+%26+dog&who=mika&past=true
0 this is for people true
> GET /v1/companions/aya/memories?limit=50&text=cat+%26+dog&who=mika&past=true
Nothing of that is remembered.
> GET /v1/companions/aya/memories?limit=50
Nothing is remembered yet.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Somebody is forgotten after a look at what would go, and when the name was written twice.
func TestPageForgets(t *testing.T) {
	got := play(t, `
const o = { state: "would", called: ["mika", "ミカ"], stores: [{ store: "entries", count: 3 }], left: ["a copy"] };
answers["POST /v1/forget"] = [o, { ...o, state: "done" }];
answers["GET /v1/companions/"] = { memories: [], total: 0 };
await recall("aya", "Aya");
answers["POST /v1/forget"] = { state: "would", nobody: true, stores: [], left: [] };
elements.gone.value = "nobdy";
await submit(elements.leave); console.log(all(elements.goes), elements.erase.hidden);
answers["POST /v1/forget"] = [o, { ...o, state: "done" }];
elements.gone.value = " mika ";
await submit(elements.leave); console.log(all(elements.goes), elements.erase.hidden);
elements.gone.oninput(); console.log(all(elements.goes), elements.erase.hidden);
answers["POST /v1/forget"] = [o, { ...o, state: "done" }];
await submit(elements.leave);
elements.sure.value = "mika";
await submit(elements.erase); console.log(elements.forgot.textContent, elements.erase.hidden);
answers["POST /v1/forget"] = { status: 403, detail: "who: not yours" };
await submit(elements.leave); console.log(all(elements.goes), elements.erase.hidden);
await submit(elements.erase); console.log(elements.forgot.textContent);
`)
	const want = `> GET /v1/companions/aya/memories?limit=50
> POST /v1/forget {"who":"nobdy","dry_run":true}
Would go: nothing | Nobody who spoke here, or of whom something is remembered, is called so: look at how the name is written. true
> POST /v1/forget {"who":"mika","dry_run":true}
Would go: 3 entries of rooms | As it is written: mika, ミカ | Not reached: a copy false
 true
> POST /v1/forget {"who":"mika","dry_run":true}
> POST /v1/forget {"who":"mika","confirm":"mika"}
> GET /v1/companions/aya/memories?limit=50
Gone: 3 entries of rooms · Not reached: a copy true
> POST /v1/forget {"who":"mika","dry_run":true}
who: not yours true
> POST /v1/forget {"who":"mika","confirm":"mika"}
who: not yours
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Behind a companion's line, and a decision, stands why; and folded up in that what models
// were told, each part of it as a text.
func TestPageSaysWhy(t *testing.T) {
	got := play(t, `
room = "a b";
take({ seq: 1, at: "2026-01-02T03:04:05Z", kind: "said", body: { from: "mika", by: "human", text: "hi", kind: "turn" } });
take({ seq: 2, at: "2026-01-02T03:04:05Z", kind: "decision", body: { outcome: "grant", speaker: "aya", ranking: [] } });
take({ seq: 3, at: "2026-01-02T03:04:05Z", kind: "said", body: { from: "aya", by: "companion", text: "hello", kind: "turn" } });
for (const li of elements.feed.children) console.log(!!find(li, "?"), li.children.length);
const li = elements.feed.children[2], of = key => "GET /v1/rooms/a%20b/entries/3/" + key;
answers[of("why")] = { text: "aya gets it\nwith <b>7</b>" };
await click(li, "?");
const [box] = li.children.slice(-1), [said, told] = box.children;
console.log(said.textContent, "-", all(told));
answers[of("prompts")] = { prompts: [
  { seq: 4, usage: { who: "aya", op: "speak", model: "small", in: 900, out: 12, cached: 640, cost: 0.0021, calls: 1 }, exact: true, parts: [{ name: "system", text: "You are <Aya>.", tokens: 5 }, { name: "tail", text: "Say it.", tokens: 3 }], left: ["12 messages"] },
  { seq: 5, usage: { who: "aya", op: "vote", model: "small", in: 9, out: 1, calls: 1, error: "slow" }, exact: false, why: "erased", parts: [] } ] };
await told.ontoggle(); await new Promise(done => setImmediate(done));
for (const d of told.children.slice(1)) console.log(all(d));
await told.ontoggle();
await click(li, "?"); console.log(li.children.length);
answers[of("why")] = { status: 404, detail: "seq: no decision yet" }; answers[of("prompts")] = { status: 403, detail: "this is for people" };
await click(li, "?");
const again = li.children[li.children.length - 1];
await again.children[1].ontoggle(); await new Promise(done => setImmediate(done));
console.log(again.children[0].textContent, "-", all(again.children[1]));
`)
	const want = `false 4
true 3
true 5
> GET /v1/rooms/a%20b/entries/3/why
aya gets it
with <b>7</b> - What the model was told
> GET /v1/rooms/a%20b/entries/3/prompts
aya · speak · small | the words that were sent, letter by letter · 900 tokens in (640 cached), 12 out; 0.0021 by the prices of its settings | system prompt | about 5 tokens | You are <Aya>. | memories, how things stand, and the task | about 3 tokens | Say it. | left out: 12 messages
aya · vote · small | what was sent is not there: erased · 9 tokens in (0 cached), 1 out; slow
5
> GET /v1/rooms/a%20b/entries/3/why
> GET /v1/rooms/a%20b/entries/3/prompts
seq: no decision yet - What the model was told | this is for people
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
