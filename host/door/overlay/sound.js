
// The page as a mouth, where its address has ?sound: it is a body of its companion, or of all in the room, as long as
// it can play. One that cannot is none, and no room waits for it.
const loud = asked.has("sound") ? new AudioContext() : null;
let body = null, told = 0, rest = 250; // the connection, the seq of its newest frame, and how long until the next is made

const lips = mouth({
  // load gets a sound, whole: an element that streams tells its end too late.
  async load(url) {
    const sound = await loud.decodeAudioData(await (await ask(url)).arrayBuffer());
    return {
      seconds: sound.duration,
      play(ended) {
        const source = loud.createBufferSource();
        source.buffer = sound;
        source.connect(loud.destination);
        const late = setTimeout(() => source.onended(), sound.duration * 1000 + 1000); // should it never tell
        const off = () => { clearTimeout(late); source.onended = null; };
        source.onended = () => { off(); ended(); };
        source.start();
        return () => { off(); source.stop(); };
      },
    };
  },
  takes(line, n, text) {
    const part = state.line?.id === line && state.line.parts.find(p => p.n === n);
    return part ? part.beats.reduce((ms, v) => ms + v.ms, 0) : [...text].length * letterTime;
  },
  begins(line, n) { starts(state, line, n, ticks() - behind); draw(); },
  tell(word) { if (body?.readyState === WebSocket.OPEN) body.send(JSON.stringify(word)); },
  wrong(why) { tell("a part has no sound: " + why, "sound"); },
  after(ms, f) { const timer = setTimeout(f, ms); return () => clearTimeout(timer); },
});

// join connects the page as a body, once it can play and has read what there is. Of a line that it was saying it goes on
// where it was.
function join() {
  if (!loud || body || loud.state !== "running" || seen === null || seen < head) return;
  const goesOn = state.line && state.line.ended === null && state.line.id === lips.line();
  if (!goesOn) lips.hush();
  const query = new URLSearchParams({ room, playback: 1, sounds: 1, answers: 0, since: goesOn ? told : seen });
  if (only) query.set("companion", only);
  state.mouth = new Map();
  told = Number(query.get("since"));
  const ws = body = new WebSocket(location.origin.replace(/^http/, "ws") + "/v1/actions?" + query, token ? ["companiond.v1", "bearer." + token] : []);
  let open = false;
  ws.onopen = () => { open = true; rest = 250; tell("", "sound"); };
  ws.onmessage = m => {
    const f = JSON.parse(m.data);
    if (f.error) { console.warn(f.error.message); return; }
    told = f.seq;
    lips.frame(f);
  };
  ws.onclose = async () => {
    body = state.mouth = null;
    if (!open) {
      if (state.line) state.line.began = null; // it is shown as on any page
      draw();
      await ask("/v1/actions?" + query).catch(e => tell("no sound: " + e.message, "sound"));
    }
    setTimeout(join, rest);
    rest = Math.min(rest * 2, patience);
  };
}

// able looks whether the browser lets the page play: OBS does at once, others want a click first.
function able() {
  if (loud.state === "running") { join(); return; }
  lips.hush();
  body?.close();
  tell("click for sound: this browser lets no page play before", "sound");
}

if (loud) {
  loud.onstatechange = able;
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => loud.resume());
  setTimeout(able, 1000); // it may need a moment
}
