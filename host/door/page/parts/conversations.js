// The conversations of agents, each in a room of its own: it is opened like one. Where no
// project is configured there are none to ask for. The feed says at once what has changed; it
// is let go while nobody looks, for a browser has few connections.
let talks = [], projects = "projects" in document.documentElement.dataset, drawn = "", news = null;
part("conversations", { shows: quiet, locked: quiet, tick() { converse(); gather(); } });
function quiet() { news?.abort(); news = null; } // as somebody else it is asked anew
function converse() {
  const open = c => c.state === "pending" || c.state === "active", all = [...talks.filter(open), ...talks.filter(c => !open(c)).slice(0, 5)];
  const now = JSON.stringify([room, all]);
  if (now === drawn) return; // what has the focus keeps it
  drawn = now;
  $("talks").hidden = !all.length;
  $("conversations").replaceChildren(...all.map(c => {
    const li = make("li", c.conversation_id === room ? "here" : ""), b = make("button", "", c.members.map(m => m.id).join(" ⇄ "));
    b.type = "button"; b.onclick = () => { location.hash = encodeURIComponent(c.conversation_id); };
    li.append(b, make("span", "badge", words[lang].state[c.state] || c.state));
    li.append(make("small", "", [c.terms.purpose, c.terms.max_turns ? t("turn", { n: c.turns, max: c.terms.max_turns }) : "", open(c) && c.absent?.length ? t("away", { who: c.absent.join(", ") }) : ""].filter(Boolean).join(" · ")));
    return li;
  }));
}
async function gather() {
  if (!projects) return;
  try {
    const all = (await call("/v1/conversations?limit=30")).conversations, absent = new Map(talks.map(c => [c.conversation_id, c.absent]));
    talks = all.map(c => ({ absent: c.state === "pending" ? absent.get(c.conversation_id) : undefined, ...c }));
  } catch (e) { projects = e.status !== 404; talks = []; }
  converse();
  if (projects && !news && !locked && !document.hidden) follow();
}
async function follow() {
  const mine = news = new AbortController();
  try {
    const r = await fetch("/v1/conversations/feed", { headers: holder(), signal: mine.signal }), from = r.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", next; r.ok && !(next = await from.read()).done;) {
      const events = (rest + next.value).split("\n\n");
      rest = events.pop();
      for (const data of events.map(e => e.match(/^data: (.*)$/m)).filter(Boolean)) {
        const c = JSON.parse(data[1]), at = talks.findIndex(x => x.conversation_id === c.conversation_id);
        if (at < 0) talks.unshift(c); else talks[at] = c;
      }
      converse();
    }
  } catch { /* tried again with the next refresh */ }
  if (news === mine) news = null;
}
document.onvisibilitychange = () => { if (document.hidden) quiet(); else gather(); };

