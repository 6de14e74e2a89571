
// The page: it follows the feed of its room, and shows what the above says.
const [, , room, only = ""] = location.pathname.split("/").map(decodeURIComponent);
const asked = new URLSearchParams(location.search), token = asked.get("token") || "", preview = asked.has("preview");
const $ = id => document.getElementById(id), holder = () => token ? { Authorization: "Bearer " + token } : {};
const backlog = 500; // entries read at the start: a line that is being spoken began among them
const patience = 3000; // a stream does not wait for long, and the daemon is near
let state = nobody(only), seen = null, head = 0, wait = 250, timer = 0;

// Nobody sets the daemon's clock by this machine's: of all that tells what time it is there, what
// came fastest is nearest.
const ticks = () => performance.timeOrigin + performance.now();
let behind = Infinity;
const tells = at => { if (Number.isFinite(at)) behind = Math.min(behind, ticks() - at); };

// set reads a property that the page's maker, or its user, may set in CSS.
const set = name => getComputedStyle($("overlay")).getPropertyValue(name).trim();
const span = text => { const [, n, unit] = text.match(/^([\d.]+)(m?s)$/) || []; return n ? n * (unit === "s" ? 1000 : 1) : 4000; };

// measure gives what says whether a text fits: a page has so many lines.
function measure() {
  const ruler = $("ruler"), high = (text, lang) => {
    ruler.lang = lang;
    ruler.textContent = text;
    const all = ruler.clientHeight;
    ruler.textContent = "";
    return all;
  };
  let most = 0;
  return text => {
    if (!most) {
      const one = high("永", ""), lines = Math.max(1, parseInt(set("--overlay-lines")) || 3);
      most = one + (high("永\n永", "") - one) * (lines - 1) + 1;
    }
    return high(text, tongue(text)) <= most;
  };
}

// tongue is the language that a text is broken by, "" where that is not known.
const tongue = text => /[\u3040-\u30ff\uff66-\uff9f]/.test(text) ? "ja" : /[\uac00-\ud7af]/.test(text) ? "ko" : /\p{sc=Han}/u.test(text) ? "ja" : "";

// sample is what a preview shows while nobody speaks.
function sample() {
  const who = only || "companiond", said = "ここに、いま話している言葉が出ます。The line that is being spoken stands here.";
  return { who, name: state.names.get(who) || who, hue: hue(who), end: "", page: 1, pages: 1, whole: true, said, coming: "" };
}

// draw shows what is to be seen now, and comes back when that changes.
function draw() {
  clearTimeout(timer);
  if (seen === null || seen < head) { if (preview) paint(sample()); return; } // what is old is not shown on the way
  const f = frame(state, ticks() - behind, span(set("--overlay-linger")), measure());
  paint(f.view || (preview ? sample() : null));
  if (f.next < Infinity) timer = setTimeout(draw, Math.min(Math.max(f.next + behind - ticks(), 0) + 1, 60000));
}

// paint shows a view. Words become text and nothing else.
function paint(v) {
  const line = $("line");
  if (!v) {
    if (state.line) { line.dataset.on = "fades"; return; } // it was shown for its time
    line.dataset.on = "no";
    $("name").textContent = $("said").textContent = $("coming").textContent = "";
    return;
  }
  line.dataset.on = "yes";
  Object.assign(line.dataset, { who: v.who, end: v.end, page: v.page, pages: v.pages, whole: v.whole ? "yes" : "no" });
  line.style.setProperty("--hue", v.hue);
  $("name").textContent = v.name;
  $("text").lang = tongue(v.said + v.coming);
  if ($("said").textContent !== v.said) $("said").textContent = v.said;
  $("coming").textContent = v.coming;
}

// tell says what is wrong, with the lines or the sound: to whoever looks at the console or at the preview, never on a
// stream.
const wrongs = {};
function tell(what, of = "lines") {
  if (what && wrongs[of] !== what) console.warn(what);
  wrongs[of] = what;
  if (preview) $("told").textContent = Object.values(wrongs).filter(w => w).join(" \u2014 ");
}

async function ask(path) {
  const r = await fetch(path, { headers: holder(), cache: "no-store" }).catch(() => {
    throw new Error("companiond cannot be reached at " + location.origin + ": start it (companiond run); this page tries it again by itself");
  });
  tells(Date.parse(r.headers.get("Date")));
  if (r.ok) return r;
  let why = r.statusText;
  try { why = (await r.json()).detail || why; } catch { /* no problem of the daemon's */ }
  throw new Error(path + ": " + r.status + " " + why);
}

// dress puts the user's sheet behind the page's own.
async function dress() {
  const sheet = await (await ask("/overlay/style.css")).text();
  if ($("own").textContent !== sheet) { $("own").textContent = sheet; again(); }
}

// again has the line laid anew: what fits is another matter now.
function again() { if (state.line) state.line.laid = null; draw(); }

async function connect() {
  let wrong = "";
  try {
    await dress().catch(e => { wrong = e.message; });
    const info = await (await ask("/v1/rooms/" + encodeURIComponent(room))).json();
    if (seen === null || info.head < seen) { // another history: nothing of what was known is so
      lips.hush();
      body?.close();
      state = nobody(only);
      seen = Math.max(0, info.head - backlog);
    }
    for (const m of info.members || []) state.names.set(m.id, m.name || m.id);
    if (only && !state.names.has(only)) await ask(location.pathname); // it may live in the house, and come
    head = info.head;
    tell(wrong);
    follow();
  } catch (e) {
    tell(e.message);
    later();
  }
}

function follow() {
  const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/v1/rooms/" + encodeURIComponent(room) + "/feed?since=" + seen,
    token ? ["companiond.v1", "bearer." + token] : []);
  ws.onopen = () => { draw(); join(); };
  ws.onmessage = m => {
    const e = JSON.parse(m.data);
    wait = 250;
    if (e.seq <= seen) return;
    seen = e.seq;
    tells(Date.parse(e.at));
    take(state, e);
    if (e.kind === "stop" || e.kind === "archived") lips.hush();
    if (seen >= head) { draw(); join(); }
  };
  ws.onclose = e => {
    if (e.code === 1013) wait = 10000; // others needed the place: not at once
    tell("the connection is lost (" + e.code + "); it is tried again");
    later();
  };
}

function later() {
  draw();
  setTimeout(connect, wait * (1 - Math.random() / 5)); // not all pages at once
  wait = Math.min(wait * 2, patience);
}

addEventListener("resize", again);
document.fonts?.ready.then(again);
connect();
