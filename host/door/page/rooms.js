// Which rooms and companions there are, and what the room is now beside its talk. It is asked every few seconds. What
// cannot be had for a while stays as it was.
const most = 200; // rooms to choose from
let rooms = [], mates = null, meets = "", drawnFaces = "";
const info = () => rooms.find(r => r.name === room);

function status(key, bad) {
  if ($("status").textContent !== t(key)) $("status").textContent = t(key);
  $("status").classList.toggle("bad", !!bad);
  banner(bad ? t({ lost: "lostlong", locked: "lockedlong", norooms: "noroomslong" }[key] || key) : "");
}
function banner(text) { if ($("banner").textContent !== text) $("banner").textContent = text; }

function look() {
  const { pool } = info() || {};
  $("pool").hidden = !pool;
  $("stop").textContent = t(info()?.conversation ? "end" : "stop");
  [$("meter").max, $("meter").value, $("level").textContent] = pool ? [pool.size, pool.level, Math.round(pool.level) + " / " + pool.size] : [1, 0, ""];
  faces();
}
// faces are those of the room: a ring is around the one that has the floor, and who is asked is marked.
function faces() {
  const all = (info()?.members || []).map(m => ({ ...m, is: m.id === sounds ? "heard" : m.id === holds ? "speaks" : judges.includes(m.id) ? "thinks" : info().muted?.includes(m.id) ? "muted" : "" }));
  const now = JSON.stringify(all);
  if (now === drawnFaces) return;
  drawnFaces = now;
  $("faces").replaceChildren(...all.map(m => {
    const li = make("li", m.is); li.title = m.name || m.id;
    li.append(face(m.id), make("span", "called", m.name || m.id), ...(m.is ? [make("span", "does", t("is" + m.is))] : []));
    return li;
  }));
}

// The room that is looked at may be none of the first ones.
async function list() {
  const all = await call("/v1/rooms?limit=" + most);
  let none = false;
  if (room && !all.rooms.some(r => r.name === room)) try { all.rooms.push(await call(ofRoom(room))); } catch (e) { none = e.status >= 400 && e.status < 500 && ![401, 429].includes(e.status); }
  $("room").title = all.next ? t("more") : "";
  return [all.rooms, none];
}
async function refresh() {
  try {
    const [[all, none], now] = await Promise.all([list(), call("/v1/companions")]);
    const before = info();
    [rooms, mates] = [all, now];
    if (before && !info()) rooms.push(before); // it is being loaded
    if (locked) { locked = false; asks(false); if (room) open(room); } // guests are let in again
    const have = [...$("room").options].map(o => o.value).join("\n");
    if (have !== rooms.map(r => r.name).join("\n")) $("room").replaceChildren(...rooms.map(r => new Option(r.conversation ? r.conversation.terms.members.join(" ⇄ ") : r.name, r.name, false, r.name === room)));
    const stands = info()?.conversation?.state || info()?.state;
    document.title = info() ? room + " · " + (words[lang].state[stands] || stands) : "companiond";
    told(rendered(info()?.error || "", "unavailable"), true);
    if (!rooms.length) status("norooms", true);
    else if (!room) open((rooms.find(r => r.name === "main") || rooms[0]).name);
    else if (none) banner(t("noroom", { room }));
    look();
    tell("tick");
    if (live && !$("feed").childElementCount) settle();
  } catch { status(locked ? "locked" : "lost", true); }
}
