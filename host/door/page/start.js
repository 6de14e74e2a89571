// All parts are here: fill in the words, and go.
document.documentElement.lang = lang;
for (const e of document.querySelectorAll("[data-t]")) e.textContent = t(e.dataset.t);
for (const e of document.querySelectorAll("[data-p]")) { e.placeholder = t(e.dataset.p); e.setAttribute("aria-label", t(e.dataset.p)); }
for (const e of document.querySelectorAll("[data-l]")) e.setAttribute("aria-label", t(e.dataset.l));
$("name").value = recalled("name") || t("guest");
$("text").value = recalled("draft", "sessionStorage");
$("votes").checked = !!recalled("votes"); $("feed").classList.toggle("votes", $("votes").checked);
hold(token);

// The other language, which is remembered; what was being written is, too.
const tongues = Object.keys(words), next = tongues[(tongues.indexOf(lang) + 1) % tongues.length];
$("tongue").textContent = words[next].tongue; $("tongue").lang = next;
$("tongue").onclick = () => {
  retain("lang", next);
  const to = new URL(location.href); if (to.searchParams.has("lang")) to.searchParams.set("lang", next);
  if (to.href === location.href) location.reload(); else location.href = to.href;
};
$("drawer").onclick = () => { const on = document.body.classList.toggle("drawn"); $("drawer").setAttribute("aria-expanded", String(on)); if (on) $("side").querySelector?.("button, summary, a, input")?.focus(); };
onkeydown = event => { if (event.key === "Escape" && document.body.classList.contains("drawn") && !document.querySelector("dialog[open]")) { $("drawer").onclick(); $("drawer").focus(); } };

// An address names a room, and a message in it: #room, #room/seq, or ?room=.
function address() {
  const raw = location.hash.slice(1), [, name, seq] = raw.match(/^(.*)\/(\d+)$/) ?? [, raw, 0];
  const read = x => { try { return decodeURIComponent(x); } catch { return x; } };
  return { name: read(name) || new URLSearchParams(location.search ?? "").get("room") || "", seq: Number(seq) };
}
const go = onhashchange = async () => {
  const { name, seq } = address();
  if (name === room && socket) { if (seq && !point(seq)) open(room, seq); return; }
  room = name;
  const was = socket;
  await refresh();
  if (info() && !locked && socket === was) open(room, seq);
};
$("room").onchange = () => { location.hash = encodeURIComponent($("room").value); };
$("key").onclick = () => asks($("who").hidden);
$("who").onsubmit = async event => {
  event.preventDefault();
  hold($("token").value.trim());
  $("token").value = ""; locked = false; told("");
  const was = room;
  await refresh();
  if (locked) return;
  asks(false);
  if (was) open(was); // as somebody else now
  flush();
};
floor(null); waiting(); go(); setInterval(() => { refresh(); flush(); }, 5000);
setInterval(async () => { // the pool comes back by itself
  if (document.hidden || locked || $("pool").hidden) return;
  try { const now = await call(ofRoom(room)); rooms = rooms.map(r => r.name === now.name ? now : r); look(); } catch { /* refresh says so */ }
}, 1000);
