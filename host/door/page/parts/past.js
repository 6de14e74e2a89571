// The history of the room that is shown: what was asked to be told in fewer words, and the
// rooms that were forked of it. All of it is words of others, which are text. Who may do what
// is the daemon's to say.
let tales = [], family = [], tale = "", ample = 10, stale = false, reckoning = false, pictured = "", read = "";
part("past", { shows() { bygones(); reckon(); }, locked: bygones, entry(e) { if (e.kind === "history") reckon(); } });
const few = 10, taleOf = id => ofRoom(room) + "/compressions/" + encodeURIComponent(id);
// Signs that turn the letters behind them around, or show as nothing, are shown by their numbers: what is approved reads as models are told it.
const unseen = /([\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}])/u;
function plainly(e, text) { e.dir = "auto"; e.append(...text.split(unseen).filter(Boolean).map(x => unseen.test(x) ? make("span", "badge", "U+" + x.codePointAt(0).toString(16).toUpperCase()) : x)); return e; }
const stateOf = c => words[lang].tale[c.erased ? "erased" : c.state !== "drafting" || c.compresser ? c.state : c.verifying ? "verifying" : "awaits"] || c.state;
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
    } catch (e) { if (of === room && !locked) { $("bygone").hidden = e.status === 404; tells($("pasttold"), e.status === 404 ? "" : e); } }
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
    li.append(press("", t("turns", { from, to }), () => unfold(c.id)), make("span", "badge", stateOf(c)), make("small", "", [doer(c.by), date(c.at)].join(" · ")));
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
  } catch (e) { if (of === room && tale === id) tells($(again ? "taletold" : "pasttold"), e); if (!again) tale = ""; }
}
function compare(c) {
  const now = JSON.stringify(c);
  if (now === read) return; // what is written as a reason stays
  read = now;
  const [from, to] = c.original_turns_range, drafts = c.drafts || [], tested = c.verifying, newest = tested ? undefined : drafts.at(-1), left = make("section"), right = make("section"), turns = make("ol");
  $("tales").textContent = t("turns", { from, to });
  $("stands").replaceChildren(make("span", "badge", stateOf(c)), isolate(c.why && c.why !== newest?.feedback ? c.why : ""), make("small", "", [t("askedby", { who: doer(c.by) }), date(c.at), t("lengthof", { n: c.target_length, unit: words[lang].unit[c.unit] || c.unit }),
    c.compresser ? t("makers", { by: called(c.compresser), who: called(c.verifier) }) : "", c.approved_by ? t("approvedby", { who: doer(c.approved_by) }) : "", c.auto ? t("auto") : ""].filter(Boolean).join(" · ")), ...(c.policy ? [said(c.policy)] : []));
  turns.append(...(c.original || []).map(p => {
    const li = make("li");
    li.append(make("span", "badge", "#" + p.n + (p.upto ? "–" + p.upto : "")), ...(p.from ? [isolate(called(p.from) + ": ", "who")] : []), p.text ? isolate(p.text) : make("span", "badge", t("erased"))); return li;
  }), ...(c.original_more ? [make("li", "", "… " + t("turns", { from: to - c.original_more + 1, to }))] : []));
  left.append(make("h3", "", t("original")), c.original?.length ? turns : make("p", "", t("trimmed")));
  right.append(make("h3", "", tested ? t("tested", { n: tested.n }) : newest ? t("draft", { n: newest.n, of: drafts.length }) : t("nodraft")), tested || newest ? said((tested || newest).content || t("erasedtext")) : make("p", "", t(c.state === "drafting" ? "undrafted" : "unlooked")));
  for (const e of [turns, right.children[1]]) { e.tabIndex = 0; e.setAttribute("aria-label", e === turns ? t("original") : right.children[0].textContent); }
  $("both").replaceChildren(left, right);
  const before = (tested ? drafts.slice() : drafts.slice(0, -1)).reverse(), old = fold(t("drafts"));
  for (const d of before) old.append(make("h3", "", t("draft", { n: d.n, of: drafts.length })), said(d.content || t("erasedtext")), ...judged(d, c.policy));
  $("verdict").replaceChildren(...(newest && (newest.content || !c.erased) ? judged(newest, c.policy) : []), ...(before.length ? [old] : []));
  deeds(c);
}

// judged is what was found about a draft: first what the policy names, which it is held to, and muted what it may leave out.
function judged(d, policy) {
  const list = all => { const ul = make("ul"); ul.append(...all); return ul; }, on = x => x.turn ? " (" + t("onturn", { n: x.turn }) + ")" : "";
  const item = (name, bad, x, quote) => { const li = make("li"); li.append(make("span", bad ? "badge gap" : "badge", name), isolate(x.item), on(x), ...(quote ? [isolate(" “" + quote + "”")] : [])); return li; };
  const kept = f => f.status === "kept", named = d.findings.filter(f => f.policy), besides = d.findings.filter(f => !f.policy);
  const found = (key, all) => {
    if (!all.length) return [];
    const ul = list(all.map(f => item(words[lang].status[f.status] || f.status, ["missing", "changed", "unclear"].includes(f.status), f, f.quote)));
    ul.className = key; return [make("h3", "", t(key, { n: all.filter(kept).length, of: all.length })), ul];
  };
  return [
    make("p", d.verdict === "YES" ? "" : "no", t("verdict", { what: d.verdict })), make("small", "", [t("verifies", { by: doer(d.by), who: called(d.verified_by) }), date(d.timestamp)].join(" · ")),
    ...(d.feedback ? [make("h3", "", t("feedback")), said(d.feedback)] : []),
    ...(d.content || d.findings.length ? [...found("named", named), ...(named.length ? [] : [make("p", "", t(policy ? "unnamed" : "unasking"))]), ...found("besides", besides)] : []),
    make("h3", "", t("losses")), d.lost.length ? list(d.lost.map(l => item(words[lang].loss[l.kind] || l.kind, true, l))) : make("p", "", t("nolost")),
  ];
}

// deeds is what may be done as it stands.
function deeds(c) {
  const may = { drafting: ["deny"], offered: c.erased ? ["deny"] : ["approve", "deny"], refused: ["extract", "deny"], approved: c.erased ? [] : ["revert"] }[c.state] || [], why = Object.assign(make("input"), { maxLength: 500, placeholder: t("because") });
  why.setAttribute("aria-label", t("because"));
  const all = may.map(deed => press(deed === "deny" || deed === "revert" ? "danger" : "", t(deed), async () => {
    for (const b of all) b.disabled = true;
    try {
      const because = (deed === "deny" || deed === "revert") && why.value.trim(), of = room, now = await call(taleOf(c.id) + "/" + deed, because ? { why: because } : undefined, "POST");
      if (of === room && tale === c.id) { $("taletold").textContent = ""; compare(now); $("fold").focus(); }
      reckon();
    } catch (e) { tells($("taletold"), e); for (const b of all) b.disabled = false; }
  }));
  const own = make("textarea"), send = press("", t("sendown"), async () => {
    send.disabled = true;
    try { const of = room, now = await call(taleOf(c.id) + "/drafts", { text: own.value }); if (of === room && tale === c.id) { $("taletold").textContent = ""; compare(now); $("fold").focus(); } reckon(); } catch (e) { tells($("taletold"), e); send.disabled = false; }
  });
  own.setAttribute("aria-label", t("own")); own.placeholder = t("own"); own.rows = 4;
  if (c.state === "drafting" && !c.compresser && !c.verifying) all.unshift(own, send); // a verifier refused the one before
  $("deeds").replaceChildren(...all, ...(may.includes("deny") || may.includes("revert") ? [why] : []));
}

// numbered is the number of a turn, by a click in the forms: of turns to compress first the one to begin with, then the last, and where a fork leaves.
function numbered(n) {
  const b = press("turn", String(n), () => {
    const first = Number($("first").value), form = $($("forks").open ? "forks" : "asks");
    [$("first").value, $("last").value] = first && !$("last").value ? [Math.min(first, n), Math.max(first, n)] : [n, ""];
    $("where").value = n; form.open = true; form.scrollIntoView?.({ block: "nearest" });
  });
  b.title = t("fills", { n }); b.setAttribute("aria-label", t("onturn", { n })); return b;
}
$("fold").onclick = () => $("tale").close();
$("tale").onclose = () => { tale = ""; read = ""; };
$("ask").onsubmit = async event => {
  event.preventDefault(); $("pasttold").textContent = "";
  const body = { turns: $("first").value + "-" + $("last").value }, of = room;
  if ($("policy").value.trim()) body.policy = $("policy").value.trim();
  if ($("length").value) body.target_length = Number($("length").value);
  try { await call(ofRoom(of) + "/compressions", body); if (of === room) for (const id of ["first", "last", "policy", "length"]) $(id).value = ""; reckon(); } catch (e) { if (of === room) tells($("pasttold"), e); }
};
$("split").onsubmit = async event => {
  event.preventDefault(); $("pasttold").textContent = "";
  const body = {}, of = room;
  if ($("where").value) body.turn = Number($("where").value);
  if ($("fork").value.trim()) body.name = $("fork").value.trim();
  try { location.hash = encodeURIComponent((await call(ofRoom(of) + "/forks", body)).name); } catch (e) { if (of === room) tells($("pasttold"), e); }
};
