// What people say. A message has an id from the moment it is sent, so that sending it again says it once. One that could
// not be delivered stands below the talk, also when the page is loaded anew, and goes out when the daemon is back.
let ownWord = ""; // what is told comes from the room, not from a form
function told(what, room) { const said = what.message ?? what; if (room && said === ownWord) return; tells($("told"), what); ownWord = room ? said : ""; }
const postPath = (room, path) => (rooms.find(r => r.name === room)?.conversation ? "/v1/conversations/" : "/v1/rooms/") + encodeURIComponent(room) + path;

let outbox = [], flushing = false;
try { outbox = JSON.parse(recalled("outbox", "sessionStorage") || "[]"); } catch { /* none */ }
function waiting() {
  retain("outbox", outbox.length ? JSON.stringify(outbox) : "", "sessionStorage");
  $("outbox").replaceChildren(...outbox.map(m => {
    const li = make("li", "");
    li.append(make("span", "text", m.text), make("span", "badge", m.room === room ? t("unsent") : t("unsentin", { room: m.room })), press("", t("takeback"), () => {
      outbox = outbox.filter(x => x !== m); waiting();
      if (!$("text").value) $("text").value = m.text;
      $("text").focus();
    }));
    return li;
  }));
}
// flush sends what waits, in its order. A refusal gives the words back; where nobody answers they wait on.
async function flush() {
  if (flushing || locked) return;
  flushing = true;
  while (outbox.length && !locked) {
    const [m] = outbox, { room: where, ...said } = m;
    try { await call(postPath(where, "/messages"), said); told(""); } catch (e) {
      if (!e.status || e.status === 401 || e.status === 429 || e.status >= 500) { waiting(); break; }
      told(e); if (!$("text").value) $("text").value = m.text;
    }
    outbox = outbox.filter(x => x !== m); waiting();
  }
  flushing = false;
  return !outbox.length;
}
// person is who asks for something that people alone may, for the body of a request; a token says it itself.
const person = () => token ? {} : { from: $("name").value.trim() || t("guest") };
// sends puts words into the outbox, to some or to all, and has it go out.
function sends(text, to) {
  outbox.push({ room, from: token ? undefined : $("name").value.trim(), text, to, id: newID() });
  return flush();
}
const newID = () => "page-" + Array.from(crypto.getRandomValues(new Uint8Array(12)), b => b.toString(16).padStart(2, "0")).join("");
$("talk").onsubmit = async event => {
  event.preventDefault();
  const text = $("text").value, from = token ? undefined : $("name").value.trim();
  if (from) retain("name", from);
  if (text.trim() && room) {
    $("text").value = ""; retain("draft", "", "sessionStorage"); pinned = live || pinned;
    await sends(text);
  }
  $("text").focus();
};
$("text").oninput = () => retain("draft", $("text").value, "sessionStorage");
$("stop").onclick = async () => { try { await call(postPath(room, "/stop"), person()); told(""); } catch (e) { told(e.status ? e : t("lostlong")); } };
