// What all parts stand on: words, elements, the API, and the parts themselves.
const lang = (() => {
  const known = name => Object.hasOwn(words, name) ? name : "", asked = known(new URLSearchParams(location.search).get("lang") ?? "");
  return asked || known(recalled("lang")) || ((navigator.language || "en").toLowerCase().startsWith("ja") ? "ja" : "en");
})();
// recalled and retain are what the browser keeps; a private window keeps nothing.
function recalled(key, where = "localStorage") { try { return globalThis[where].getItem(key) || ""; } catch { return ""; } }
function retain(key, value, where = "localStorage") {
  try { if (value) globalThis[where].setItem(key, value); else globalThis[where].removeItem(key); } catch { /* a private window */ }
}

const fill = (text, put) => text.replace(/\{(\w+)\}/g, (_, k) => put?.[k] ?? ""), t = (key, put) => fill(words[lang][key], put);
const $ = id => document.getElementById(id);
const make = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text !== undefined) e.textContent = text; return e; };
const press = (cls, text, f) => Object.assign(make("button", cls, text), { type: "button", onclick: f });
function fold(text, open) { const d = make("details"); d.append(make("summary", "", text)); let once = open; d.ontoggle = () => { once?.(d); once = null; }; return d; }
const shut = dialog => press("shut", t("shut"), () => dialog.close());

// The parts: see the top of page.go.
const allParts = [];
function part(name, told) {
  for (const tongue of Object.keys(words)) merge(words[tongue], told.words?.[tongue] ?? {});
  allParts.push({ name, ...told });
}
function merge(into, more) {
  for (const [key, value] of Object.entries(more)) {
    if (typeof into[key] === "object" && typeof value === "object") merge(into[key], value);
    else if (key in into) throw new Error("the page has two words for " + key);
    else into[key] = value;
  }
}
function tell(what, ...args) { for (const p of allParts) try { p[what]?.(...args); } catch (e) { console.error(p.name, e); } }

// A token lives as long as the tab. It goes out in a header, and for the socket,
// which cannot have one, as a subprotocol; never in an address.
let token = "", locked = false;
try { token = sessionStorage.getItem("token") || ""; } catch { /* private window */ }
function hold(t) {
  token = t;
  try { if (t) sessionStorage.setItem("token", t); else sessionStorage.removeItem("token"); } catch { /* private window */ }
  $("name").required = !($("name").hidden = !!t); // the token has a name of its own
}
function lock() {
  hold("");
  hangUp(); tell("locked"); // nor is anything shown that was let in by another token
  if (!locked) { locked = true; asks(true); }
  status("locked", true);
}
function asks(open) { $("who").hidden = !open; $("key").setAttribute("aria-expanded", String(open)); if (open) $("token").focus(); }

const holder = () => token ? { Authorization: "Bearer " + token } : {};
async function call(path, body, method = body === undefined ? "GET" : "POST") {
  const opt = { method, headers: holder() }, used = token;
  if (body !== undefined) { opt.headers["Content-Type"] = "application/json"; opt.body = JSON.stringify(body); }
  const r = await fetch(path, opt), answer = await r.json().catch(e => { if (r.ok) throw e; return {}; }); // a proxy says it in HTML
  if (r.status === 401 && used === token) lock(); // else another one was given meanwhile
  if (!r.ok) throw refusal(answer, r);
  return answer;
}
const refusal = (answer, r) => { const told = rendered(answer.detail || r.statusText, answer.code); return Object.assign(new Error(told.message), told, { status: r.status }); };
const ofRoom = name => "/v1/rooms/" + encodeURIComponent(name);

// People and companions: a name, and a colour and letters that stand for it.
const names = new Map();
const hue = name => [...name].reduce((h, c) => (h * 31 + c.codePointAt(0)) % 360, 0), called = id => names.get(id) || (id === "the configuration" ? t("conf") : id); // which is no name
const doer = id => id === "guest" || id === "(guests)" ? t("guest") : called(id); // whoever came without a token
const date = at => new Date(at).toLocaleString(lang);
// The id stands beside a name that does not say it; whose names look alike are one to people.
const plain = name => name.normalize("NFKC").toLowerCase();
function label(parent, id, name, kind) {
  parent.append(name, ...(plain(name) === plain(id) ? [] : [make("span", "id", " (" + id + ")")]));
  if (kind) parent.append(make("span", "badge", words[lang][kind] || kind));
  return parent;
}
function face(id, name = called(id)) {
  const e = make("span", "face", [...name].slice(0, /^[ -~]/.test(name) ? 2 : 1).join(""));
  e.style.setProperty("--hue", hue(id)); e.setAttribute("aria-hidden", "true");
  return e;
}
