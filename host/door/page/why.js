// Why something was said, and folded up below it what models were told, for those who may see that.
function reason(li, seq) {
  const path = "/v1/rooms/" + encodeURIComponent(room) + "/entries/" + seq, box = make("div", "reason"), b = press("why", "?", async () => {
    const shown = b.getAttribute("aria-expanded") === "true"; b.setAttribute("aria-expanded", String(!shown));
    if (shown) { box.remove(); return; }
    const said = make("pre"); box.replaceChildren(said, fold(t("prompt"), async d => {
      try { const all = (await call(path + "/prompts")).prompts; d.append(...(all.length ? all.map(prompt) : [make("p", "", t("unasked"))])); } catch (e) { d.append(make("p", "", e.message)); }
    }));
    li.append(box);
    try { said.textContent = (await call(path + "/why")).text; } catch (e) { said.textContent = e.message; }
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

