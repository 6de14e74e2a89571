// What an overlay shows of a room: entries of its feed go in, in order, and out comes what is
// to be seen at a moment, and until when. Nothing here knows a page, a clock or a daemon.
// Times are milliseconds of the daemon's clock.

// How long a line is waited for of which nobody tells that it is over, as host/playback waits.
const slack = 4, outset = 300, each = 600, silence = 5000, longest = 60000, made = 60000;
// A letter, where nobody wrote down how long a voice takes for it; and how many of the lines
// that are over are known by their id.
const letterTime = 150, known = 32;
// Words that stood for less than this may still move.
const glance = 200;

// nobody is a room of which nothing is known yet. who is the companion whose lines are shown,
// "" for all.
// Where the page is a mouth, mouth has when parts began to sound there, by line.
const nobody = who => ({ who, names: new Map(), bodies: new Map(), over: [], line: null, mouth: null });

// take is an entry.
function take(s, e) {
  const b = e.body;
  if (!b || e.blank && !b.text) return; // it has lost its words
  const at = Date.parse(e.at), line = id => s.line && s.line.id === id ? s.line : null;
  switch (e.kind) {
    case "owner": // it has no bodies yet
      for (const id of s.bodies.keys()) leaves(s, id, at);
      break;
    case "cast":
      for (const j of b.joined || []) s.names.set(j.id, j.name || j.id);
      break;
    case "body":
      for (const j of [...b.joined || [], ...b.left || []]) leaves(s, j.id, at);
      for (const j of b.joined || []) s.bodies.set(j.id, { who: j.who, plays: !!j.plays, missed: 0 });
      break;
    case "segment": {
      const l = line(b.grant) || begin(s, b.grant, b.who, at);
      if (l) add(l, b.n, b.text, b.voice, at, e.seq);
      break;
    }
    case "said":
      said(s, e, b, at);
      break;
    case "played":
      if (line(b.line)) played(s, line(b.line), b, at);
      break;
    case "heard":
      heard(s, b, at);
      break;
    case "refused":
      if (line(b.grant) && !b.again && !s.line.of) s.line.ended ??= at;
      break;
    case "stop":
    case "archived":
      clear(s);
      break;
    case "forgotten":
      if (s.line && (b.seqs || []).some(([from, to]) => s.line.seqs.some(n => n >= from && n <= to))) clear(s);
  }
}

// begin begins a line: whatever was there is over. One of another companion than the one that is
// shown is none.
function begin(s, id, who, at) {
  if (s.over.includes(id)) return null;
  if (s.who && who !== s.who) {
    if (s.line && s.line.ended === null) clear(s); // one mouth moves
    return null;
  }
  clear(s);
  const waits = new Map();
  for (const [body, is] of s.bodies) if (is.who === who && is.plays) waits.set(body, 0);
  return s.line = { id, who, parts: [], seqs: [], waits, done: 0, told: at, of: 0, sounds: false, least: at, ended: null, end: "", laid: null, flows: [], began: s.mouth && begun(s, id) };
}

// begun gives when the parts of a line began to sound on this page.
function begun(s, id) {
  if (!s.mouth.has(id)) {
    s.mouth.set(id, new Map());
    if (s.mouth.size > known) s.mouth.delete(s.mouth.keys().next().value);
  }
  return s.mouth.get(id);
}

// starts is a part that begins to sound on this page.
function starts(s, id, n, at) {
  if (s.mouth) begun(s, id).set(n, at);
  if (s.line?.id === id) s.line.began?.set(n, at);
}

// clear takes the line away for good.
function clear(s) {
  if (s.line) forget(s, s.line.id);
  s.line = null;
}

// forget has nothing shown any more of a line that may still be told of.
function forget(s, id) { s.over = [...s.over.slice(1 - known), id]; }

// add is a part that went out.
function add(l, n, text, voice, at, seq) {
  const beats = bytesOf(voice || []) === utf8(text) ? cutBytes(text, voice) : [{ text, ms: [...text].length * letterTime }];
  for (const v of beats) v.text = plain(v.text);
  if (!l.parts.length) l.told = at;
  l.parts.push({ n, at, beats });
  l.seqs.push(seq);
  l.laid = null;
}

const bytesOf = voice => voice.reduce((sum, v) => sum + v.bytes, 0);

// cutBytes gives the beats of a text with their words, which are counted in bytes of UTF-8.
function cutBytes(text, voice) {
  const beats = voice.map(v => ({ text: "", ms: v.ms }));
  let i = 0, left = voice[0].bytes;
  for (const c of text) {
    while (left <= 0 && i < beats.length - 1) left += voice[++i].bytes;
    beats[i].text += c;
    left -= utf8(c);
  }
  return beats;
}

function utf8(text) {
  let n = 0;
  for (const c of text) { const p = c.codePointAt(0); n += p < 0x80 ? 1 : p < 0x800 ? 2 : p < 0x10000 ? 3 : 4; }
  return n;
}

// said is a message: the whole of the line that is there, or a line in one piece.
function said(s, e, b, at) {
  if (b.by === "human" || b.kind !== "turn" || !b.text) return;
  const id = b.grant || e.id;
  if (b.ends === "stopped") {
    if (s.line?.id === id) clear(s); else forget(s, id);
    return;
  }
  let l = b.segments && s.line?.id === id ? s.line : null;
  if (!l) {
    if (!(l = begin(s, id, b.from, at))) return;
    add(l, 1, b.text, b.voice, at, e.seq);
  }
  l.of = e.seq; l.seqs.push(e.seq);
  l.sounds = !!b.played; // a heard tells how it ends
  l.least = at;
}

// played is the word of a body about the line.
function played(s, l, b, at) {
  if (b.seconds > 0) { // its sound is made: what was estimated is as much longer or shorter
    const parts = l.parts.filter(p => !b.part || p.n === b.part), all = parts.flatMap(p => p.beats), sum = all.reduce((ms, v) => ms + v.ms, 0);
    if (sum > 0) for (const v of all) v.ms *= b.seconds * 1000 / sum;
    return;
  }
  if (b.failed) {
    l.waits.delete(b.body);
  } else {
    if (!s.bodies.has(b.body)) s.bodies.set(b.body, { who: b.who, plays: true, missed: 0 });
    const most = Math.max(0, ...l.parts.map(p => p.n));
    l.waits.set(b.body, Math.max(l.waits.get(b.body) || 0, b.done ? most : Math.min(b.part || 0, most)));
  }
  slowest(l, at);
}

// leaves is a body that has gone, or is another from now on.
function leaves(s, body, at) {
  s.bodies.delete(body);
  if (s.line?.waits.delete(body)) slowest(s.line, at);
}

// slowest notes how many parts all bodies have played.
function slowest(l, at) {
  const n = l.waits.size ? Math.min(...l.waits.values()) : l.done;
  if (n > l.done) { l.done = n; l.told = at; }
}

// heard is how a line ended.
function heard(s, b, at) {
  for (const [id, is] of s.bodies) {
    if (b.missed?.includes(id)) { if (++is.missed === 2) is.plays = false; } // it says that it tells, and does not
    else if (is.who === b.who && b.end === "said") is.missed = 0;
  }
  const l = s.line;
  if (!l || l.id !== b.line) return;
  if (b.end === "stopped" || b.end !== "said" && !b.text) { clear(s); return; }
  l.ended = at;
  if (b.end === "said") return;
  l.end = b.end;
  let left = b.text.length; // it is a beginning of the line
  for (const p of l.parts) for (const v of p.beats) {
    v.text = v.text.slice(0, Math.max(0, left));
    left -= v.text.length;
  }
  l.laid = null;
}

// plain takes out of a text what could do more than be read, such as signs that turn the order of
// what is around them. The text stays as long as it was, or what was heard of it would be
// another beginning.
const plain = text => text.replace(/[\t\u2028\u2029]/g, " ").replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "\u2060");

// timeline says when each beat of a line begins: what is before done is over, and behind it a part
// begins when the one before has ended and it went out; where bodies tell, not before they do. Where this page says it, each
// begins when it sounds.
function timeline(l) {
  let at = l.told, spoken = 0;
  const begins = l.parts.map(p => {
    if (p.n <= l.done || l.ended !== null) return p.beats.map(() => -Infinity);
    at = Math.max(at, p.at);
    const waits = l.began ? !l.began.has(p.n) : l.waits.size && spoken++ > 0;
    if (l.began?.has(p.n)) at = l.began.get(p.n);
    return p.beats.map(v => { const from = at; at += v.ms; return waits ? Infinity : from; });
  });
  return { begins, ends: at };
}

// over is when a line ends, as far as that is known: by the word of the room, by its length where no
// body says it, and at last when the room, too, would wait no more.
function over(l, ends) {
  if (l.ended !== null) return l.ended;
  const rest = ends - l.told;
  if (l.of && !l.sounds) return Math.max(ends, l.least);
  if (l.of && l.waits.size) return Math.max(l.told + Math.max(rest, Math.min(2 * rest + silence, longest)), l.least);
  const alone = Math.max(l.told + rest + rest / slack + outset + l.parts.length * each, l.least);
  return l.of ? alone : alone + made; // more of it is made
}

// frame is what is to be seen at a moment: view, null for nothing, and next, when it changes by itself.
// A line stays for linger behind its end. whole is a page of which all was known as soon as it was
// shown: its lines may be broken so that none is left with a word alone, where another's would break elsewhere with each word more. fits says whether a text is no more than one page.
function frame(s, at, linger, fits) {
  const l = s.line;
  if (!l || !l.parts.length) return { view: null, next: Infinity };
  const { begins, ends } = timeline(l), gone = over(l, ends) + linger;
  if (at >= gone) return { view: null, next: Infinity };
  const pieces = l.laid ??= lay(l.parts, fits);
  let now = -1, next = gone;
  pieces.forEach((p, i) => {
    const beat = l.parts[p.part].beats[p.beat], from = begins[p.part][p.beat] + p.from * beat.ms;
    if (from <= at) now = i; else next = Math.min(next, from);
  });
  if (now < 0) return { view: null, next };
  const page = pieces[now].page, on = pieces.map((p, i) => ({ ...p, i })).filter(p => p.page === page);
  const last = pieces[pieces.length - 1].page;
  const flow = l.flows[page] ??= { from: at, whole: false };
  flow.whole ||= at - flow.from <= glance && (!!l.of || page < last); // later no more: words that stand do not move
  const words = some => some.map(p => p.text).join("");
  return {
    view: {
      who: l.who, name: s.names.get(l.who) || l.who, hue: hue(l.who), end: l.ended === null ? "" : l.end || "said",
      page: page + 1, pages: last + 1, whole: flow.whole,
      said: words(on.filter(p => p.i <= now)), coming: words(on.filter(p => p.i > now)),
    }, next,
  };
}

// hue is the colour of a name, the page's own.
const hue = name => [...name].reduce((h, c) => (h * 31 + c.codePointAt(0)) % 360, 0);

// lay puts the beats of a line on pages, each as full as it can be. What is on one stays there,
// whatever comes behind it. A beat that fits on none is cut.
function lay(parts, fits) {
  const pieces = [];
  let page = 0, on = "";
  parts.forEach((p, part) => p.beats.forEach((v, beat) => {
    if (!v.text) return;
    let from = 0;
    for (const whole of fits(v.text) ? [v.text] : cut(v.text, fits)) {
      let text = on ? whole : whole.trimStart();
      if (on && !fits(on + text)) { page++; on = ""; text = whole.trimStart(); }
      if (text) pieces.push({ part, beat, from: from / v.text.length, page, text });
      on += text;
      from += whole.length;
    }
  }));
  return pieces;
}

const graphemes = new Intl.Segmenter("ja", { granularity: "grapheme" }), wordsOf = new Intl.Segmenter("ja", { granularity: "word" });
// What may not begin a page, and what may not end one (kinsoku).
const noStart = /^[\s\p{M}\p{Pe}\p{Pf}、。，．,.!?！？…‥・：；:;ー〜～々ゝゞヽヾ゛゜％％℃ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰ-ㇿｧ-ｯｰﾞﾟ]/u, noEnd = /[\p{Ps}\p{Pi}＄￥£#＃]$/u;

// cut cuts a text into pieces that fit, each as long as can be, behind a mark where there is one in
// its second half, else between two words.
function cut(text, fits) {
  const letters = [...graphemes.segment(text)].map(g => g.segment), all = [];
  for (let from = 0; from < letters.length;) {
    let fit = 1, not = 2;
    const upto = n => letters.slice(from, from + n).join("");
    while (from + not <= letters.length && fits(upto(not))) { fit = not; not *= 2; }
    not = Math.min(not, letters.length - from + 1);
    while (not - fit > 1) {
      const n = fit + not >> 1;
      if (fits(upto(n))) fit = n; else not = n;
    }
    if (from + fit < letters.length) fit = breakAt(letters.slice(from, from + fit + 1), fit);
    all.push(upto(fit));
    from += fit;
  }
  return all;
}

// breakAt gives how many of the first n letters go before a break; one more than these is given.
function breakAt(letters, n) {
  const may = i => !noStart.test(letters[i]) && !noEnd.test(letters[i - 1]);
  const last = ok => { for (let i = n; i > n / 2; i--) if (may(i) && ok(i)) return i; return 0; };
  const mark = last(i => /[。！？!?…]/.test(letters[i - 1])) || last(i => /[、，,;:：；\s]/.test(letters[i - 1]));
  if (mark) return mark;
  const ends = new Set();
  let end = 0;
  for (const w of wordsOf.segment(letters.join(""))) ends.add(end += w.segment.length);
  const lengths = [0];
  for (const l of letters) lengths.push(lengths[lengths.length - 1] + l.length);
  return last(i => ends.has(lengths[i])) || last(() => true) || n;
}
