// What a companion remembers: others' words, which are text. Who may do what is the daemon's to
// say; where it says how many there are, all of it may be changed.
let mind = "", keeper = false;
part("memories", { locked() { $("mind").close(); }, companion(m, li) { if (!m.kind) li.append(press("mind", t("mind"), () => recall(m.id, m.name || m.id))); } });
const memories = () => "/v1/companions/" + encodeURIComponent(mind) + "/memories";
function mindTold(what, bad, at = "mindtold") { tells($(at), what); $(at).classList.toggle("bad", !!bad); }
function recall(id, name) {
  mind = id; $("owner").textContent = t("owner", { who: name });
  for (const field of ["topic", "whose", "gone", "sure"]) $(field).value = "";
  $("past").checked = false; $("goes").replaceChildren(); $("erase").hidden = true; $("oblivion").open = false; mindTold(""); mindTold("", false, "forgot");
  $("mind").showModal(); return seek();
}
async function seek(after = "") {
  const q = new URLSearchParams({ limit: 50 });
  for (const [key, value] of [["text", $("topic").value.trim()], ["who", $("whose").value.trim()], ["past", $("past").checked ? "true" : ""], ["after", after]]) if (value) q.set(key, value);
  const of = mind;
  try {
    const page = await call(memories() + "?" + q);
    if (of !== mind) return; // another one's was asked for meanwhile
    keeper = page.total !== undefined;
    mindTold(page.memories.length || after ? (keeper ? t("all", { n: page.total }) : "") : t(page.total || q.size > 1 ? "nothing" : "noneyet"));
    if (!after) $("memories").replaceChildren();
    $("memories").append(...page.memories.map(memory)); $("older").hidden = !page.next; $("older").onclick = () => seek(page.next);
  } catch (e) { $("memories").replaceChildren(); $("older").hidden = true; mindTold(e, true); }
}
function memory(m) {
  const li = make("li", m.valid_to ? "over" : ""), said = [m.edited_by ? t("wroteover", { by: called(m.edited_by), who: called(m.said_by) || "?" }) : m.said_by ? t("saidso", { who: called(m.said_by) }) : "", m.room ? t("inroom", { room: m.room }) + (m.turns || []).map(n => " #" + n).join("") : "", m.said_at ? date(m.said_at) : "", m.quote ? "“" + m.quote + "”" : ""];
  const what = [m.about?.length ? t("about", { who: m.about.map(called).join(", ") }) : "", m.keys?.length ? t("keys", { keys: m.keys.join(", ") }) : "", t("weight", { n: m.importance }), words[lang].visible[m.visibility] || "", m.valid_to ? t("over", { at: date(m.valid_to) }) : ""];
  li.append(make("span", "text", m.text), make("small", "", said.filter(Boolean).join(" · ")), make("small", "", what.filter(Boolean).join(" · ")));
  const no = press("", t("keep"), () => { yes.replaceWith(ask); no.remove(); ask.focus(); }), yes = press("danger", t("erase") + "?", async () => {
    try { await carried(await call(memories() + "/" + encodeURIComponent(m.id), undefined, "DELETE")); li.remove(); } catch (e) { mindTold(e, true); }
  }), ask = press("danger", t("erase"), () => { ask.replaceWith(yes, no); no.focus(); });
  li.append(...(keeper ? [press("", t("edit"), () => li.replaceChildren(editor(li, m)))] : []), ask);
  return li;
}
function editor(li, m) {
  const form = make("form"), text = Object.assign(make("textarea"), { value: m.text, required: true, maxLength: 2000 }), keys = Object.assign(make("input"), { value: (m.keys || []).join(", ") });
  const choice = (all, is) => { const s = make("select"); s.append(...all.map(([v, name]) => new Option(name, v, false, v === is))); return s; };
  const weight = choice([1, 2, 3, 4, 5].map(n => [n, t("weight", { n })]), m.importance), seen = choice(Object.entries(words[lang].visible), m.visibility), over = Object.assign(make("input"), { type: "checkbox", checked: !!m.valid_to }), label = make("label");
  text.setAttribute("aria-label", t("topic")); weight.setAttribute("aria-label", t("importance")); seen.setAttribute("aria-label", t("toldwhere")); keys.setAttribute("aria-label", t("keywords")); keys.placeholder = t("keywords"); label.append(over, " " + t("isover"));
  form.append(text, keys, weight, seen, label, make("button", "", t("save")), press("", t("keep"), () => li.replaceWith(memory(m))));
  form.onsubmit = async event => {
    event.preventDefault(); const now = { importance: Number(weight.value), keys: keys.value.split(/[,、]/).map(k => k.trim()).filter(Boolean) };
    if (text.value !== m.text) now.text = text.value; if (seen.value !== m.visibility) now.visibility = seen.value;
    if (over.checked !== !!m.valid_to) now.valid_to = over.checked ? new Date().toISOString() : "";
    try { li.replaceWith(memory(await call(memories() + "/" + encodeURIComponent(m.id), now, "PATCH"))); mindTold(""); } catch (e) { mindTold(e, true); }
  };
  return form;
}
const counted = o => o.stores.filter(s => s.count).map(s => s.count + " " + (words[lang].store[s.store] || s.store) + (s.others ? t("theirs", { n: s.others }) : "")).join(", ") || t("naught");
async function carried(o, at) {
  while (o.state === "running") {
    mindTold(t("going"), false, at); await new Promise(done => setTimeout(done, 1000));
    o = await call("/v1/forget/" + encodeURIComponent(o.order));
  }
  mindTold([t("went", { what: counted(o) }), ...o.left.map(what => t("unreached", { what })), rendered(o.error || "", "internal").message].filter(Boolean).join(" · "), o.state === "failed", at);
}
$("shut").onclick = () => $("mind").close();
$("seek").onsubmit = event => { event.preventDefault(); mindTold(""); return seek(); };
$("gone").oninput = () => { $("goes").replaceChildren(); $("erase").hidden = true; mindTold("", false, "forgot"); };
$("leave").onsubmit = async event => {
  event.preventDefault(); $("gone").oninput();
  try {
    const o = await call("/v1/forget", { who: $("gone").value.trim(), dry_run: true });
    $("goes").append(make("li", "", t("goes", { what: counted(o) })), ...(o.nobody ? [make("li", "", t("nobody"))] : []), ...(o.called ? [make("li", "", t("spelt", { names: o.called.join(", ") }))] : []), ...o.left.map(what => make("li", "", t("unreached", { what }))));
    if (o.nobody) return;
    $("sure").value = ""; $("erase").hidden = false; $("sure").focus();
  } catch (e) { $("goes").append(tells(make("li"), e)); }
};
$("erase").onsubmit = async event => {
  event.preventDefault(); $("gone").oninput();
  try { await carried(await call("/v1/forget", { who: $("gone").value.trim(), confirm: $("sure").value.trim() }), "forgot"); } catch (e) { mindTold(e, true, "forgot"); return; }
  await seek(); if (room) open(room); // what is shown of it may be gone
};
