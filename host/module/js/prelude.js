// What a maker's file finds, and how the daemon's driver asks it. Of the globals all is taken before the maker's code runs, so
// that what that changes of them changes nothing here.
(ask, log, id, known) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { InternalError } = globalThis; // of QuickJS
  const resolve = Promise.resolve.bind(Promise);
  const none = {};
  let maker = {}; // the exports of the file
  let now = null; // the call that is answered, so that one that was given up answers no other
  let reply = "", lost = null;

  const envelope = value => stringify({ ok: value === undefined ? {} : value });

  // told is an error as its maker is to read it: what it is, and where in the file.
  function told(e) {
    if (!(e instanceof Error)) return String(e);
    const at = /\(?([^\s()]+:\d+(?::\d+)?)\)?\s*(?:\n|$)/.exec(String(e.stack ?? "").replace(/^.*<companiond>.*$/gm, ""));
    return `${e.name}: ${String(e.message).replace("'<companiond>/companion'", '"companion"')}${at ? ` (${at[1]})` : ""}`;
  }

  // failed is an exception as an answer. Where there is no memory left the instance is to go, and not to answer.
  function failed(e) {
    if (e instanceof InternalError && (e.message === "out of memory" || e.message === "interrupted")) throw e;
    const code = e instanceof HostError ? e.code : "internal";
    return stringify({ error: { code, message: told(e), retry: e instanceof HostError && e.retry } });
  }

  class HostError extends Error {
    constructor({ code, message, retry }) {
      super(message);
      this.name = "HostError";
      this.code = code;
      this.retry = !!retry;
    }
  }

  // sync asks the daemon; it answers before the call goes on.
  function sync(op, data) {
    const answer = parse(ask(stringify({ v: 1, op: String(op), data })));
    if (answer.error) throw new HostError(answer.error);
    return answer.ok;
  }

  const text = v => typeof v === "string" ? v : v instanceof Error ? told(v) : stringify(v) ?? String(v);
  const says = level => (...words) => log(String(level), words.map(text).join(" "));
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  define("HostError", HostError);
  define("host", async (op, data) => sync(op, data));
  define("kv", Object.freeze({
    get: key => sync("kv.get", { key }).value,
    set: (key, value) => { sync("kv.set", { key, value }); },
    delete: key => { sync("kv.del", { key }); },
    list: prefix => sync("kv.list", { prefix, limit: 1000 }).keys, // of which there are no more
  }));
  define("say", (words, emotion) => { sync("say", { text: String(words), emotion }); });
  define("console", Object.freeze({ debug: says(-4), log: says(0), info: says(0), warn: says(4), error: says(8) }));

  function title(id) {
    const [first, ...rest] = id;
    return first.toUpperCase() + rest.join("");
  }

  // describe says what the file is: what it exports as describe, and what can be seen of the rest.
  function describe() {
    const said = typeof maker.describe === "function" ? maker.describe() : maker.describe ?? {};
    const ops = known.filter(op => op === "describe" || typeof maker[op] === "function");
    if (ops.length === 1) throw new TypeError(`it exports no function of these: ${known.filter(op => op !== "describe").join(", ")}`);
    const acts = ["act", "show", "sense", "line", "timer"].some(op => ops.includes(op));
    return { abi: "1", name: title(id), ops, ...(acts && { kind: "handler" }), ...said };
  }

  function call(request) {
    const { op, data = none, ...about } = parse(request);
    const mine = now = {};
    reply = "";
    try {
      if (op === "describe") return envelope(describe());
      if (typeof maker[op] !== "function") return stringify({ error: { code: "unknown_op", message: `it exports no function ${op}` } });
      if ((op === "perceive" || op === "result") && data === none) throw new HostError({ code: "invalid", message: `${op} has no data` });
      const done = value => envelope(op === "speak" && typeof value === "string" ? { text: value } : value);
      const value = maker[op](data, about);
      if (typeof value?.then !== "function") return done(value);
      resolve(value).then(done).catch(failed).then(text => { if (now === mine) reply = text; }, e => { lost = e; });
      return "";
    } catch (e) {
      return failed(e);
    }
  }

  // The driver's door: what it wants, and with what.
  return (what, value) => {
    switch (what) {
      case "module": maker = value; return "";
      case "call": return call(value);
      case "reply":
        if (lost) throw lost;
        return reply || stringify({ error: { code: "internal", message: "it waits for a promise that nothing settles" } });
      case "error": return told(value);
    }
  };
}
