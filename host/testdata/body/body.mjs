// A body with a fake voice, written from README.md, "A body that speaks": it says each piece by waiting as
// long as a voice would take, and prints a transcript, a JSON object a line.
//
//   node body.mjs http://127.0.0.1:3000 aya kyoko natsumi
//
// It wants a Node with a global WebSocket: 22, or 20 with --experimental-websocket. VOICE is how long a
// character takes, in milliseconds.

const [url = "http://127.0.0.1:3000", ...companions] = process.argv.slice(2);
const voice = Number(process.env.VOICE ?? 150);
const print = what => console.log(JSON.stringify({ ...what, at: Date.now() }));

// wait waits, unless stopped before: then it says false.
function wait(ms, stopped) {
  return new Promise(done => {
    const timer = setTimeout(() => done(true), ms);
    stopped.addEventListener("abort", () => { clearTimeout(timer); done(false); }, { once: true });
  });
}

// A line is what has come of one, and how it is being said.
class Line {
  pieces = [];
  parts = Infinity; // until it is known how many there are
  stopped = new AbortController();
}

function connect(companion) {
  const lines = new Map();
  const ws = new WebSocket(`${url.replace(/^http/, "ws")}/v1/actions?companion=${companion}&playback=1`);
  const send = word => { if (ws.readyState === WebSocket.OPEN) ws.send(JSON.stringify(word)); };

  async function say(id, line, from) {
    for (let part = from; ; part++) {
      while (line.pieces.length < part && line.parts >= part) {
        await new Promise(more => { line.more = more; });
        if (line.stopped.signal.aborted) return;
      }
      if (line.parts < part) break;
      const text = line.pieces[part - 1];
      print({ event: "begin", who: companion, line: id, part, text });
      const whole = await wait([...text].length * voice, line.stopped.signal);
      print({ event: whole ? "played" : "stopped", who: companion, line: id, part });
      if (!whole) return;
      send({ line: id, played: part });
    }
    send({ line: id, played: "done" });
  }

  function take(frame) {
    if (frame.error) return print({ event: "error", who: companion, error: frame.error });
    if (!frame.line) return; // an action, or the word of a listener
    if (frame.end) {
      print({ event: "end", who: companion, line: frame.line, end: frame.end, reason: frame.reason });
      const line = lines.get(frame.line);
      lines.delete(frame.line);
      line?.stopped.abort();
      line?.more?.();
      return;
    }
    let line = lines.get(frame.line);
    const first = !line;
    if (first) lines.set(frame.line, line = new Line());
    if (frame.action === "speak") line.pieces[frame.part - 1] = frame.parameters.message;
    if (frame.last) line.parts = frame.parts ?? frame.part;
    line.more?.();
    if (first) say(frame.line, line, frame.part ?? frame.parts + 1); // one that connects in the middle goes on from there
  }

  ws.onmessage = message => take(JSON.parse(message.data));
  ws.onclose = closed => print({ event: "closed", who: companion, code: closed.code });
  return new Promise(open => { ws.onopen = open; });
}

await Promise.all(companions.map(connect));
print({ event: "ready" });
