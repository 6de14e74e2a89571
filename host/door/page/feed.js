// The talk. What is shown of a room is a piece of its journal: the entries behind low up to high, a bounded number of
// lines whatever the room's age. Scrolling to an end of it reads on there, and lets go what is far away at the other.
// While the piece reaches the newest entry (live) the socket adds to it. Votes are in it and hidden by a switch.
const keep = 600, step = 200, backlog = 200; // lines of a piece, entries read at once, and when a room is opened
let room = "", seen = 0, seenAt = "", socket = null, wait = 250, timer = 0; // seen is the newest entry that came by the socket
let low = 0, high = 0, live = true, pinned = true, unread = 0, busy = false, catching = 0, marked = 0;
const ends = new Map(); // how lines ended, by their seq, for lines that are read later

function line(kind, at, seq, why) {
  const li = make("div", kind), when = make("a", "at"), b = why && seq && reason(li, seq);
  when.append(Object.assign(make("time", "", new Date(at).toLocaleTimeString(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })), { dateTime: at, title: date(at) }));
  when.href = "#" + encodeURIComponent(room) + "/" + seq;
  li.append(when, ...(b ? [b] : []));
  return li;
}
function note(e, text, why, original) { const li = line("note", e.at, e.seq, why); li.append(Object.assign(make("span", "text", text), { title: lang === "en" ? "" : original || "" })); return li; }
const vote = li => { li.className += " vote"; return li; };

// Each entry gives at most one line; kinds the page does not know give none.
const show = {
  cast(e, b) {
    const also = j => j.kind === "agent" ? " (" + t("agent") + ")" : j.generation > 1 ? " (" + t("gen", { n: j.generation }) + ")" : "";
    const say = (key, all, also) => all?.length ? [t(key, { who: all.map(x => (x.name || called(x.id)) + also(x)).join(", ") })] : [];
    const who = [...say("joined", b.joined, also), ...say("left", b.left, () => "")];
    return who.length ? note(e, who.join("; ")) : null;
  },
  said(e, b) {
    const li = line(b.kind === "backchannel" ? "backchannel" : "said", e.at, e.seq, b.by === "companion"), who = label(make("span", "who"), b.from, called(b.from), b.by === "agent" ? b.by : "");
    li.style.setProperty("--hue", hue(b.from));
    li.append(face(b.from), who, ...(b.turn && b.kind !== "backchannel" ? [numbered(b.turn)] : []));
    if (b.to?.length) li.append(make("span", "to", t("to", { who: b.to.map(called).join(", ") })));
    li.append(make("span", "text", b.text), ...(b.erased ? [make("span", "badge", t("erased"))] : []));
    if (ends.has(e.seq)) cutShort(li, ends.get(e.seq));
    return li;
  },
  segment(e, b) { return null; },
  heard(e, b) {
    if (b.end === "said") return null;
    ends.set(Number(b.of), b);
    const li = $("feed").querySelector("[data-seq='" + Number(b.of) + "']");
    if (li) cutShort(li, b);
    return null;
  },
  round(e, b) { return null; },
  decision(e, b) {
    const head = b.outcome === "grant" ? t("granted", { who: called(b.speaker) }) : (words[lang][b.outcome] || b.outcome);
    const asked = (b.ranking || []).filter(c => !["listen", "absent", "out"].includes(c.standing)).map(c => called(c.who) + " " + c.importance);
    return vote(note(e, head + (asked.length ? " [" + asked.join(", ") + "]" : ""), true));
  },
  muted(e, b) { return note(e, t(b.on ? "muted_by" : "unmuted_by", { by: doer(b.by), who: called(b.who) })); },
  opened(e, b) { return note(e, t("opened_by", { who: doer(b.by) })); },
  archived(e, b) { return note(e, t("archived_by", { who: doer(b.by) })); },
  stop(e, b) { return note(e, t("stop_by", { who: called(b.from) })); },
  offered(e, b) {
    const say = (key, all) => all?.length ? [t(key, { game: b.by, who: called(b.who), what: all.join(", ") })] : [];
    return note(e, [...say("offers", b.actions?.map(a => a.name)), ...say("withdraws", b.withdrawn)].join("; "));
  },
  refused(e, b) { return note(e, t("refused", { who: called(b.who), why: rendered(b.why || "", b.code).message, text: b.text }), false, b.why); },
  conversation(e, b) {
    const put = { who: called(b.who), why: b.why || b.terms?.purpose || "", to: (b.terms?.members || []).slice(1).map(called).join(", ") }, key = { start: "wants", join: "joined", decline: "denies" }[b.kind];
    return key ? note(e, t(key, put)) : null;
  },
  lifecycle(e, b) {
    const why = fill(words[lang].reason[b.reason] || b.reason || "", { who: called(b.ended_by || "") });
    return b.to === "pending" ? null : note(e, (words[lang].state[b.to] || b.to) + (why && b.to !== "ended" ? " — " + why : ""));
  },
  history(e, b) { return note(e, fill(words[lang].deed[b.kind === "draft" && b.draft?.verdict !== "YES" ? "flunk" : b.kind] || b.kind, { who: doer(b.by || ""), turns: b.ask?.turns.join("–"), why: b.why })); },
  forked(e, b) { return note(e, t("forked", { by: doer(b.by), of: b.of, n: b.turn })); },
  failed(e, b) { return note(e, t("failed", { who: called(b.who), why: rendered(b.error || b.code || "", b.code).message }), false, b.error); },
};
function cutShort(li, b) {
  li.querySelector(".text").textContent = b.text || "";
  li.append(Object.assign(make("span", "badge", t({ stopped: "stopped", failed: "broken" }[b.end] || "cut")), { title: rendered(b.why || "").message }));
}

// What an entry changes beside the talk, as it happens.
const happens = {
  cast(b) { for (const j of b.joined || []) names.set(j.id, j.name || j.id); },
  said(b) { if (b.kind !== "backchannel") floor(null, b.by === "human" ? sounds : b.played ? b.from : ""); },
  segment(b) { floor(held, b.who); },
  heard() { floor(held, ""); },
  round(b) { floor(t("asked", { n: b.electorate.length, who: b.electorate.map(called).join(", ") }), sounds, "", b.electorate); },
  decision(b) {
    const head = b.outcome === "grant" ? t("granted", { who: called(b.speaker) }) : words[lang][b.outcome] || b.outcome;
    floor({ grant: head, waits: head, absent: words[lang].state.waiting }[b.outcome] || null, sounds, b.outcome === "grant" ? b.speaker : "");
  },
  opened() { floor(null); }, stop() { floor(null); }, forked() { floor(null); },
  archived() { floor(words[lang].state.archived); },
};
let held = null, sounds = "", holds = "", judges = []; // who has the floor, in words, whose line is heard, who is to speak, and who is asked
function floor(text, who = sounds, speaker = "", electorate = []) {
  [held, sounds, holds, judges] = [text, who, speaker, electorate];
  $("floor").replaceChildren(...[who && t("heard", { who: called(who) }), text || !who && t("free")].filter(Boolean).map(x => make("li", "", x)));
  faces();
}

// draw gives an entry's line, and take shows one that came.
function draw(entry) {
  if (entry.kind === "cast") for (const j of entry.body?.joined || []) if (!names.has(j.id)) names.set(j.id, j.name || j.id);
  const li = entry.blank && entry.kind !== "said" ? null : show[entry.kind]?.(entry, entry.body); // some is not kept for ever
  if (li) li.dataset.seq = entry.seq;
  return li;
}
function take(entry) {
  if (entry.seq <= seen) return;
  [seen, seenAt] = [entry.seq, entry.at];
  if (!entry.blank) happens[entry.kind]?.(entry.body);
  tell("entry", entry);
  if (live) {
    high = seen;
    const li = draw(entry);
    if (li) { $("feed").append(li); bound(pinned); if (!pinned && !catching && li.className === "said") unread++; }
  } else if (entry.kind === "said") unread++;
  if (catching && seen >= catching) caught();
  settle();
}
// caught: what stood in the room when it was opened is there, and from now on lines are read aloud as they come.
function caught() { catching = 0; $("feed").setAttribute("aria-busy", "false"); settle(); }

// bound lets lines go that are far from where one reads: the oldest ones, or the newest.
function bound(oldest) {
  const feed = $("feed");
  while (feed.childElementCount > keep && oldest) { low = Number(feed.firstElementChild.dataset.seq); feed.firstElementChild.remove(); }
  if (oldest || feed.childElementCount <= 2 * keep) return;
  while (feed.childElementCount > keep) feed.lastElementChild.remove();
  high = Number(feed.lastElementChild.dataset.seq); live = false;
}

// settle puts the view where it belongs, once a frame.
let settling = false;
function settle() {
  if (settling) return;
  settling = true;
  requestAnimationFrame(() => {
    settling = false;
    const feed = $("feed");
    if (marked && !catching && (high >= marked || live)) { point(marked); marked = 0; }
    if (pinned && live) { feed.scrollTop = feed.scrollHeight; unread = 0; moved = performance.now(); }
    const away = !live || !pinned;
    $("newest").hidden = !away || !feed.childElementCount;
    $("newest").textContent = unread ? t("fresh", { n: unread }) : t("newest");
    $("empty").hidden = !!feed.childElementCount || !!catching || !room;
    edge();
  });
}
function edge() {
  const feed = $("feed");
  if (busy || catching || !room || locked || !feed.clientHeight) return;
  if (marked && !live) newer(); else if (low > 0 && feed.scrollTop < 600) older(); else if (!live && feed.scrollHeight - feed.scrollTop - feed.clientHeight < 600) newer();
}
// steady changes the feed without moving what is being read.
function steady(change) {
  const feed = $("feed"), top = feed.getBoundingClientRect().top, mark = [...feed.children].find(li => li.getBoundingClientRect().bottom > top && li.offsetParent), at = mark?.getBoundingClientRect().top;
  change();
  if (mark?.isConnected) feed.scrollTop += mark.getBoundingClientRect().top - at;
}
async function piece(read) {
  if (busy) return;
  const of = room; busy = true; $("feed").setAttribute("aria-busy", "true");
  try { await read(async (since, limit) => { const all = (await call(ofRoom(of) + "/entries?since=" + since + "&limit=" + limit)).entries; if (of !== room) throw new Error("another room"); return all; }); } catch { await new Promise(done => setTimeout(done, 1000)); } finally {
    if (of === room) { busy = false; $("feed").setAttribute("aria-busy", String(!!catching)); settle(); }
  }
}
const older = () => piece(async entries => {
  const upto = low, from = Math.max(0, upto - step), all = (await entries(from, upto - from)).filter(e => e.seq <= upto);
  if (upto !== low) return;
  low = from;
  if (!all.length && from) { const [first] = await entries(0, 1); if (!first || first.seq >= upto) low = 0; } // older ones were let go
  for (const e of all) if (e.kind === "heard" && e.body) show.heard(e, e.body);
  const lines = all.map(draw).filter(Boolean);
  steady(() => { $("feed").prepend(...lines); bound(false); });
});
const newer = () => piece(async entries => {
  const all = await entries(high, step);
  if (all.length) high = all.at(-1).seq;
  if (high >= seen) { live = true; high = seen; }
  const lines = all.map(draw).filter(Boolean);
  steady(() => { $("feed").append(...lines); bound(true); });
});

// point shows one message: scrolled to if it is there, else the piece of the journal around it.
function point(seq) {
  const at = $("feed").querySelector("[data-seq='" + seq + "']");
  if (!at) return false;
  for (const li of $("feed").querySelectorAll(".pointed")) li.classList.remove("pointed");
  pinned = false; at.classList.add("pointed"); at.tabIndex = -1;
  at.scrollIntoView({ block: "center" }); at.focus({ preventScroll: true });
  return true;
}
// A view that the page is about to move scrolls by itself, as where a room is opened; only a hand takes it from the newest then:
// one that came behind what the page did last, however long the machine takes to tell of it, or that is still at the scroll bar.
let hand = -Infinity, moved = 0;
for (const by of ["wheel", "touchmove", "keydown", "pointerdown"]) $("feed").addEventListener?.(by, () => { hand = performance.now(); }, { passive: true });
$("feed").onscroll = () => {
  const feed = $("feed");
  if (pinned && settling && hand < moved && performance.now() - hand > 1000) return;
  pinned = live && feed.scrollHeight - feed.scrollTop - feed.clientHeight < 60;
  if (pinned) unread = 0;
  settle();
};
if (globalThis.ResizeObserver) new ResizeObserver(settle).observe($("feed")); // a banner came, or a keyboard
$("newest").onclick = () => { if (live) { pinned = true; settle(); } else { open(room); } $("feed").focus(); };
$("votes").onchange = () => { const on = $("votes").checked; retain("votes", on ? "on" : ""); steady(() => $("feed").classList.toggle("votes", on)); settle(); };

// The socket resumes behind what was seen. It asks for that entry once more: where another one comes in its place, the
// journal is not the one that it was. What stands on the page stays there whatever becomes of the daemon.
function hangUp() { const old = socket; socket = null; old?.close(); }
function connect() {
  clearTimeout(timer);
  if (!room || locked) return;
  if (!seen) status("connecting");
  let check = seen && seenAt;
  const ws = socket = new WebSocket(location.origin.replace(/^http/, "ws") + ofRoom(room) + "/feed?since=" + (check ? seen - 1 : seen),
    token ? ["companiond.v1", "bearer." + token] : []);
  ws.onopen = () => { if (ws === socket) { status("live"); flush(); } };
  ws.onmessage = m => {
    if (ws !== socket) return;
    const entry = JSON.parse(m.data), same = !check || entry.seq !== seen || entry.at === check;
    wait = 250; check = "";
    if (same) take(entry); else another();
  };
  ws.onclose = async e => {
    if (ws !== socket) return;
    if (e.code === 1013) wait = 10000; // others needed the place: not at once
    status("lost", true);
    await refresh();
    if (locked || ws !== socket) return;
    if (info() && ["talking", "resting", "stopped", "closed", "capped"].includes(info().state) && info().head < seen) { another(); return; }
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, 5000);
  };
}
// another journal has taken the place of the one that was shown.
function another() {
  const li = note({ at: new Date().toISOString(), seq: seen }, t("anew"));
  li.dataset.seq = 0; $("feed").append(li);
  seen = Math.max(0, (info()?.head || 0) - backlog); seenAt = ""; low = 0; live = true; ends.clear();
  hangUp(); connect(); settle();
}

function open(name, seq = 0) {
  room = $("room").value = name;
  names.clear(); ends.clear();
  for (const m of info()?.members || []) names.set(m.id, m.name || m.id);
  const head = info()?.head || 0;
  seen = Math.max(0, head - backlog); seenAt = ""; catching = seen < head ? head : 0;
  live = !seq || seq > seen; low = high = live ? seen : Math.max(0, seq - step / 2);
  [pinned, unread, busy, marked] = [!seq, 0, false, seq];
  $("feed").replaceChildren(); $("feed").setAttribute("aria-busy", String(!!catching)); moved = performance.now();
  floor(info()?.floor ? t("granted", { who: called(info().floor) }) : info()?.waiting ? words[lang].state.waiting : null, info()?.heard || "", info()?.floor || "");
  look();
  tell("shows", room);
  hangUp();
  connect();
}
