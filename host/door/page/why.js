// Why something was said, and folded up below it what models were told, for those who may see that.
function reason(li, seq) {
  const path = "/v1/rooms/" + encodeURIComponent(room) + "/entries/" + seq, box = make("div", "reason"), b = press("why", "?", async () => {
    const shown = b.getAttribute("aria-expanded") === "true"; b.setAttribute("aria-expanded", String(!shown));
    if (shown) { box.remove(); return; }
    const reads = make("div"); box.replaceChildren(reads, fold(t("prompt"), async d => {
      try { const all = (await call(path + "/prompts")).prompts; d.append(...(all.length ? all.map(prompt) : [make("p", "", t("unasked"))])); } catch (e) { d.append(tells(make("p"), e)); }
    }));
    li.append(box);
    try { reads.append(...decided(await call(path + "/why"))); } catch (e) { reads.append(tells(make("p"), e)); }
  });
  for (const [name, value] of [["title", t("why")], ["aria-label", t("why")], ["aria-expanded", "false"]]) b.setAttribute(name, value); return b;
}
function prompt(p) {
  const u = p.usage, box = fold([[u.who, ...u.with || []].map(called).join(", "), u.op, u.model].join(" · ")), cost = [t("cost", { in: u.in, cached: u.cached || 0, out: u.out }), u.cost ? t("money", { n: u.cost }) : "", u.error || ""].filter(Boolean).join("; ");
  box.append(make("p", "", (p.exact ? t("exact") : t(p.parts.length ? "inexact" : "vanished", { why: p.why || "" })) + " · " + cost));
  for (const part of p.parts) box.append(make("b", "", words[lang].told[part.name] || part.name), make("span", "badge", t("tokens", { n: part.tokens })), make("pre", "", part.text));
  for (const what of p.left || []) box.append(make("p", "", t("omitted", { what })));
  return box;
}

// decided is a decision in the words of the reader's language: what came of it, by which rule, and what each one wished;
// and folded up what the daemon wrote down about it, which is English.
function decided(w) {
  const d = w.decision || {}, wish = words[lang].wish, table = make("table"), cells = (tag, all) => { const tr = make("tr"); tr.append(...all.map(x => make(tag, "", x))); return tr; };
  const head = d.outcome === "grant" ? t("granted", { who: called(d.speaker) }) : words[lang][d.outcome] || d.outcome, record = fold(t("record"), box => box.append(pre));
  const pre = Object.assign(make("pre", "", w.text), { lang: "en" });
  table.append(cells("th", ["", t("wishes"), t("importance"), t("lostrounds"), t("note")]));
  for (const c of d.ranking || []) table.append(cells("td", [called(c.who), wish[c.standing] || c.standing, String(c.importance), String(c.debt ?? 0), remarked(c.note || "")]));
  if (!d.outcome) return [pre];
  return [make("p", "", head + (words[lang].rule[d.rule] ? " — " + words[lang].rule[d.rule] : "")), ...(d.ranking?.length ? [table] : []), record];
}
