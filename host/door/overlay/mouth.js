
// How a page says lines that is a mouth: frames of the action socket go in, and it has each part of a line
// played, one after the other, and tells what was. Nothing here knows a page, a sound or a daemon.

// How long the sound of a part is waited for when it is its turn: the room waits for ten seconds, or twice what the part
// takes and five, and has to hear within these that it was played. And how long where none came of the line so far.
const soon = 6000, soonAgain = 1000;

// mouth makes one. stage is what it stands on:
//   load(url)           promises a sound: { seconds, play(ended) }, of which play gives what stops it
//   takes(line, n, text) is how many milliseconds a part takes by the estimate
//   begins(line, n)     is told when a part begins to sound, or would
//   tell(word)          sends a word about a line to the room
//   wrong(why)          is told why a part has no sound
//   after(ms, f)        calls f later; it gives what takes that back
function mouth(stage) {
  let line = null;

  // piece is a part that went out. A new line is the end of the one before.
  function piece(f) {
    if (line?.id !== f.line) {
      hush();
      line = { id: f.line, parts: new Map(), next: f.part, mute: false, stop: null, wait: null };
    }
    if (!line.parts.has(f.part)) line.parts.set(f.part, { text: f.parameters?.message || "", sound: undefined });
    go();
  }

  // sound is how a part sounds: it is loaded at once, so that it is there when its turn comes.
  function sound(f) {
    const l = line, p = l?.id === f.line ? l.parts.get(f.part) : null;
    if (!p || p.sound !== undefined) return;
    l.mute &&= !!f.failed;
    const has = s => { if (p.sound === undefined) { p.sound = s; if (line === l) go(); } };
    const none = why => { stage.wrong(why); has(null); };
    if (f.failed) none(f.failed); else stage.load(f.url).then(has, e => none(e.message));
  }

  // go says the next part, where there is one and none is being said.
  function go() {
    const l = line, n = l.next, p = l.parts.get(n);
    if (l.stop || !p) return;
    if (p.sound === undefined) {
      l.wait ??= stage.after(l.mute ? soonAgain : soon, () => {
        stage.wrong("no sound came");
        l.mute = true;
        p.sound = null;
        go();
      });
      return;
    }
    l.wait?.();
    l.wait = null;
    stage.begins(l.id, n);
    const over = () => {
      if (line !== l) return;
      l.stop = null;
      l.next++;
      stage.tell({ line: l.id, played: n });
      go();
    };
    if (p.sound) stage.tell({ line: l.id, part: n, seconds: p.sound.seconds });
    l.stop = p.sound ? p.sound.play(over) : stage.after(stage.takes(l.id, n, p.text), over);
  }

  // hush falls silent at once.
  function hush() {
    line?.stop?.();
    line?.wait?.();
    line = null;
  }

  return {
    // frame is one of the action socket's.
    frame(f) {
      if (f.kind === "sound") sound(f);
      else if (f.line && f.kind === "speech") piece(f);
      else if (f.line && f.end && line?.id === f.line) hush();
    },
    hush,
    line: () => line?.id,
  };
}
