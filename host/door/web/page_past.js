// The history of the room that is shown: what was asked to be told in fewer words, and the
// rooms that were forked of it. All of it is words of others, which are text. Who may do what
// is the daemon's to say.
let tales = [], family = [], tale = "", ample = 10, stale = false, reckoning = false, pictured = "", read = "";
const few = 10, ofRoom = name => "/v1/rooms/" + encodeURIComponent(name), taleOf = id => ofRoom(room) + "/compressions/" + encodeURIComponent(id);
// Signs that turn the letters behind them around are shown by their numbers: what is approved reads as models are told it.
function plainly(e, text) { e.dir = "auto"; e.append(...text.split(/([\u202a-\u202e\u2066-\u2069])/).filter(Boolean).map(x => /^[\u202a-\u202e\u2066-\u2069]$/.test(x) ? make("span", "badge", "U+" + x.charCodeAt(0).toString(16).toUpperCase()) : x)); return e; }
const isolate = (text, cls = "text") => plainly(make("span", cls), text), said = text => plainly(make("pre"), text);

// bygones shows nothing of the room before, nor what was let in by another token.
function bygones() {
  [tales, family, tale, ample, pictured, read] = [[], [], "", few, "", ""];
  $("tale").close(); $("bygone").hidden = true; $("pasttold").textContent = $("taletold").textContent = "";
  $("compressions").replaceChildren(); $("branches").replaceChildren(); $("both").replaceChildren(); $("verdict").replaceChildren(); $("deeds").replaceChildren();
  for (const id of ["first", "last", "policy", "length", "where", "fork"]) $(id).value = "";
}

// reckon asks how all of it stands. However many entries come meanwhile, it asks once more.
async function reckon() {
  stale = true;
  if (reckoning) return;
  reckoning = true;
  while (stale && room && !locked) {
    stale = false;
    const of = room, path = ofRoom(of);
    try {
      const [c, b] = await Promise.all([call(path + "/compressions"), call(path + "/branches")]);
      if (of !== room) continue;
      [tales, family] = [c.compressions, b.branches]; picture();
      if (tale) await unfold(tale, true);
    } catch (e) { if (of === room && !locked) { $("bygone").hidden = e.status === 404; $("pasttold").textContent = e.message; } }
  }
  reckoning = false;
}

function picture() {
  $("bygone").hidden = false;
  const now = JSON.stringify([room, ample, tales, family]);
  if (now === pictured) return; // what has the focus keeps it
  pictured = now;
  $("compressions").replaceChildren(...tales.slice(0, ample).map(c => {
    const li = make("li"), [from, to] = c.original_turns_range;
    li.append(press("", t("turns", { from, to }), () => unfold(c.id)), make("span", "badge", words[lang].tale[c.state] || c.state), make("small", "", [called(c.by), date(c.at)].join(" · ")));
    return li;
  }));
  $("sooner").hidden = tales.length <= ample;
  const depth = new Map();
  $("branches").replaceChildren(...(family.length > 1 ? family : []).map(b => {
    const deep = b.of && depth.has(b.of) ? depth.get(b.of) + 1 : 0, here = b.name === room, li = make("li", here ? "here" : "");
    depth.set(b.name, deep);
    li.style.marginInlineStart = Math.min(deep, 8) * .8 + "rem";
    const go = press("", b.name, () => { location.hash = encodeURIComponent(b.name); });
    if (here) go.setAttribute("aria-current", "true");
    li.append(go, ...(here ? [make("span", "badge", t("shown"))] : []), ...(b.closed ? [make("span", "badge", words[lang].state.archived)] : []));
    li.append(make("small", "", [b.of ? t("leftat", { of: b.of, n: b.turn || 0 }) : "", t("branch", { n: b.turns })].filter(Boolean).join(" · ")));
    return li;
  }));
}
$("sooner").onclick = () => { ample += few * 5; picture(); };

// unfold shows one with both texts beside each other.
async function unfold(id, again) {
  const of = room;
  tale = id;
  try {
    const c = await call(taleOf(id));
    if (of !== room || tale !== id) return; // another one was asked for meanwhile
    if (!again) $("taletold").textContent = "";
    compare(c);
    if (!again) $("tale").showModal();
  } catch (e) { if (of === room && tale === id) $(again ? "taletold" : "pasttold").textContent = e.message; if (!again) tale = ""; }
}
function compare(c) {
  const now = JSON.stringify(c);
  if (now === read) return; // what is written as a reason stays
  read = now;
  const [from, to] = c.original_turns_range, drafts = c.drafts || [], newest = drafts.at(-1), left = make("section"), right = make("section"), turns = make("ol");
  $("tales").textContent = t("turns", { from, to });
  $("stands").replaceChildren(make("span", "badge", words[lang].tale[c.state] || c.state), isolate(c.why || ""), make("small", "", [t("askedby", { who: called(c.by) }), date(c.at), t("lengthof", { n: c.target_length, unit: words[lang].unit[c.unit] || c.unit }),
    c.compresser ? t("makers", { by: called(c.compresser), who: called(c.verifier) }) : "", c.approved_by ? t("approvedby", { who: called(c.approved_by) }) : "", c.auto ? t("auto") : ""].filter(Boolean).join(" · ")), ...(c.policy ? [said(c.policy)] : []));
  turns.append(...(c.original || []).map(p => {
    const li = make("li");
    li.append(make("span", "badge", "#" + p.n + (p.upto ? "–" + p.upto : "")), ...(p.from ? [isolate(called(p.from) + ": ", "who")] : []), isolate(p.text)); return li;
  }));
  left.append(make("h3", "", t("original")), c.original?.length ? turns : make("p", "", t("trimmed")));
  right.append(make("h3", "", newest ? t("draft", { n: newest.n, of: drafts.length }) : t("draft", { n: 0, of: 0 })), newest ? said(newest.content || t("erasedtext")) : make("p", "", t("undrafted")));
  for (const e of [turns, right.children[1]]) { e.tabIndex = 0; e.setAttribute("aria-label", e === turns ? t("original") : right.children[0].textContent); }
  $("both").replaceChildren(left, right);
  const before = drafts.slice(0, -1).reverse(), old = fold(t("drafts"));
  for (const d of before) old.append(make("h3", "", t("draft", { n: d.n, of: drafts.length })), said(d.content || t("erasedtext")), ...judged(d));
  $("verdict").replaceChildren(...(newest ? judged(newest) : []), ...(before.length ? [old] : []));
  deeds(c);
}

// judged is what was found about a draft.
function judged(d) {
  const list = all => { const ul = make("ul"); ul.append(...all); return ul; }, on = x => x.turn ? " (" + t("onturn", { n: x.turn }) + ")" : "";
  const item = (name, bad, x, quote) => { const li = make("li"); li.append(make("span", bad ? "badge gap" : "badge", name), isolate(x.item), on(x), ...(quote ? [isolate(" “" + quote + "”")] : [])); return li; };
  return [
    make("p", d.verdict === "YES" ? "" : "no", t("verdict", { what: d.verdict })), make("small", "", [t("verifies", { by: called(d.by), who: called(d.verified_by) }), date(d.timestamp)].join(" · ")),
    ...(d.feedback ? [make("h3", "", t("feedback")), said(d.feedback)] : []),
    ...(d.findings.length ? [make("h3", "", t("findings")), list(d.findings.map(f => item(words[lang].status[f.status] || f.status, f.status === "missing" || f.status === "changed", f, f.quote)))] : []),
    make("h3", "", t("lost")), d.lost.length ? list(d.lost.map(l => item(words[lang].loss[l.kind] || l.kind, true, l))) : make("p", "", t("nolost")),
  ];
}

// deeds is what may be done as it stands.
function deeds(c) {
  const may = { drafting: ["deny"], offered: ["approve", "deny"], refused: ["extract", "deny"], approved: ["revert"] }[c.state] || [], why = Object.assign(make("input"), { maxLength: 500, placeholder: t("because") });
  why.setAttribute("aria-label", t("because"));
  const all = may.map(deed => press(deed === "deny" || deed === "revert" ? "danger" : "", t(deed), async () => {
    for (const b of all) b.disabled = true;
    try {
      const because = (deed === "deny" || deed === "revert") && why.value.trim(), of = room, now = await call(taleOf(c.id) + "/" + deed, because ? { why: because } : undefined, "POST");
      if (of === room && tale === c.id) { $("taletold").textContent = ""; compare(now); $("fold").focus(); }
      reckon();
    } catch (e) { $("taletold").textContent = e.message; for (const b of all) b.disabled = false; }
  }));
  $("deeds").replaceChildren(...all, ...(may.includes("deny") || may.includes("revert") ? [why] : []));
}
$("fold").onclick = () => $("tale").close();
$("tale").onclose = () => { tale = ""; read = ""; };
$("ask").onsubmit = async event => {
  event.preventDefault(); $("pasttold").textContent = "";
  const body = { turns: $("first").value + "-" + $("last").value }, of = room;
  if ($("policy").value.trim()) body.policy = $("policy").value.trim();
  if ($("length").value) body.target_length = Number($("length").value);
  try { await call(ofRoom(of) + "/compressions", body); if (of === room) for (const id of ["first", "last", "policy", "length"]) $(id).value = ""; reckon(); } catch (e) { if (of === room) $("pasttold").textContent = e.message; }
};
$("split").onsubmit = async event => {
  event.preventDefault(); $("pasttold").textContent = "";
  const body = {}, of = room;
  if ($("where").value) body.turn = Number($("where").value);
  if ($("fork").value.trim()) body.name = $("fork").value.trim();
  try { location.hash = encodeURIComponent((await call(ofRoom(of) + "/forks", body)).name); } catch (e) { if (of === room) $("pasttold").textContent = e.message; }
};
