// Starts three independent companions against a relay and tells on stdout what
// they do, one JSON object a line. See README.md.
import { setTimeout as sleep } from "node:timers/promises";
import { characters } from "./characters.mjs";
import { Companion } from "./companion.mjs";
import { createModel, length, LONG, NORMAL, seeded, SHORT } from "./model.mjs";

const number = (name, otherwise) => {
  const value = Number(process.env[name] ?? otherwise);
  if (!Number.isFinite(value) || value < 0) {
    throw new Error(`${name} is not a number`);
  }
  return value;
};
const RUN_MS = number("RUN_MS", 20_000);
const MODEL_MS = [number("MODEL_MS_MIN", 100), number("MODEL_MS_MAX", 250)];
const SEED = number("SEED", 1);
const HEEDS = number("HEEDS", 0) > 0;
const CONNECT_MS = 10_000;

// What the Companion logs is for people.
console.log = console.error;

const tell = (who, event, more) => process.stdout.write(`${JSON.stringify({ t: Date.now(), who, event, ...more })}\n`);

const stats = Object.fromEntries(
  characters.map(({ metadata }) => [metadata.id, { generates: 0, wakes: 0, missed: 0, ok: 0, refused: 0, stale: 0, turns: 0, backchannels: 0 }]),
);
const reasons = {};
const started = Date.now();
let errors = 0;
let ending = false;

const fail = (who, err) => {
  errors++;
  const cause = err?.cause ? `: ${err.cause.message ?? err.cause}` : "";
  tell(who, "error", { error: `${err?.name ?? "Error"}: ${err?.message ?? err}${cause}` });
};

function end() {
  if (ending) {
    return;
  }
  ending = true;
  const pick = (...keys) =>
    Object.fromEntries(Object.entries(stats).map(([who, s]) => [who, Object.fromEntries(keys.map((key) => [key, s[key]]))]));
  tell(undefined, "summary", {
    ms: Date.now() - started,
    consumes: pick("ok", "refused"),
    said: pick("turns", "backchannels", "stale"),
    wakes: pick("wakes", "missed", "generates"),
    refusals: reasons,
    errors,
  });
  process.exit(errors ? 1 : 0);
}

process.on("SIGTERM", end);
process.on("SIGINT", end);
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (err) => {
    fail(undefined, err);
    end();
  });
}

// A line is stale when somebody else had spoken after the speaker last read the
// history, and the speaker's own socket had said so before it spoke.
function watchLines(who) {
  let read = { seen: 0, history: [] };
  let pending;
  const heard = []; // since history was read
  const s = stats[who];
  return {
    heard: (message) => heard.push(message),
    onResults: (all) => {
      const last = all.at(-1);
      if (last?.tool === "history") {
        read = last.answer;
        heard.length = 0;
        tell(who, "read", { messages: read.history.length });
      }
      if (last?.tool !== "consume" || !pending) {
        return;
      }
      const { success, resource, message: reason } = last.answer;
      const { amount, message, stale, sent } = pending;
      pending = undefined;
      tell(who, "consume", { amount, message, success, resource, reason, stale, ms: Date.now() - sent });
      if (!success) {
        s.refused++;
        reasons[reason] = (reasons[reason] ?? 0) + 1;
        return;
      }
      s.ok++;
      s.stale += stale ? 1 : 0;
      s[length(message) > SHORT.chars ? "turns" : "backchannels"]++;
    },
    onSay: ({ amount, message }) => {
      const known = (m) => m.from === who || read.history.some((r) => r.from === m.from && r.message === m.message);
      pending = { amount, message, stale: !heard.every(known), sent: Date.now() };
    },
  };
}

async function start({ metadata, voice }, index) {
  const who = metadata.id;
  const lines = watchLines(who);
  const model = createModel({ voice, heeds: HEEDS, random: seeded(SEED * 1000 + index), delay: MODEL_MS, ...lines });
  const companion = await Companion.initialize(metadata, model);
  const { ws } = companion;

  ws.prependListener("message", (data) => {
    stats[who].wakes++;
    stats[who].missed += companion.isGenerating ? 1 : 0; // generate() will return at once
    try {
      const { type, message } = JSON.parse(data);
      tell(who, "wake", { type, from: message.from, message: message.message, generating: companion.isGenerating });
      lines.heard(message);
    } catch (err) {
      fail(who, err);
    }
  });
  ws.on("close", (code) => {
    if (!ending) {
      fail(who, new Error(`the WebSocket was closed: ${code}`));
    }
  });

  // The handler of the class calls this.generate(), so this stands before it.
  const generate = companion.generate;
  companion.generate = async () => {
    if (companion.isGenerating) {
      return generate.call(companion);
    }
    stats[who].generates++;
    tell(who, "generate-start");
    try {
      await generate.call(companion);
    } catch (err) {
      fail(who, err);
    } finally {
      tell(who, "generate-end");
    }
  };
  await new Promise((open, failed) => ws.once("open", open).once("error", failed));
}

for (const { metadata, voice } of characters) {
  for (const [price, lines] of [[SHORT, voice.short], [NORMAL, voice.normal], [LONG, voice.long]]) {
    const long = lines.find((line) => length(line) > price.chars);
    if (long) {
      throw new Error(`${metadata.id}: more than ${price.chars} characters: ${long}`);
    }
  }
}
try {
  const late = sleep(CONNECT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no connection within ${CONNECT_MS} ms`);
  });
  await Promise.race([Promise.all(characters.map(start)), late]);
  late.catch(() => {}); // all are there: whether it comes later is of no interest
  tell(undefined, "ready");
  setTimeout(end, RUN_MS);
} catch (err) {
  fail(undefined, err);
  end();
}
