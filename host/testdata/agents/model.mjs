// A stand-in for a small LLM that keeps to chat-relay's prompt. It knows nothing
// but what the prompt and the tools tell it, reads that at each step, and takes
// its time.
import * as ready from "ai/test";
import { z } from "zod";

// AI SDK 7 has the newer one, and 6 this one only.
const MockLanguageModel = ready.MockLanguageModelV4 ?? ready.MockLanguageModelV3;

// The prompt's prices: points, and the most characters they pay for.
export const SHORT = { amount: 5, chars: 10 };
export const NORMAL = { amount: 60, chars: 50 };
export const LONG = { amount: 80, chars: 100 };

// How likely it is to do what it may do.
export const CHANCE = {
  open: 0.6, // a long line, while the talk is young
  addressed: 0.9, // a normal line, when somebody used its name
  reply: 0.8, // a normal line, when somebody else said the newest turn; with much less a talk of three soon ends for want of a wish
  react: 0.7, // a backchannel to a turn
  echo: 0.4, // a backchannel to a backchannel
  instead: 0.5, // a backchannel when the pool was too low for more
};

const OPENING = 2; // the talk is young with so many messages
const BACKCHANNELS = 2; // of one speaker after one turn
const RETRIES = 2; // times it starts again after a refusal

// The answers of chat-relay's tools, with not a field more.
const answers = {
  history: z.strictObject({ history: z.array(z.strictObject({ from: z.string(), message: z.string() })) }),
  status: z.strictObject({ resource: z.number() }),
  consume: z.strictObject({ success: z.boolean(), resource: z.number(), message: z.string() }),
};

// The same for a reader that says who it is: how far it has read by now is with them.
const named = {
  history: z.looseObject({ ...answers.history.shape, history: z.array(z.looseObject({ from: z.string(), message: z.string() })), head: z.number() }),
  status: z.looseObject({ ...answers.status.shape, head: z.number() }),
  consume: answers.consume,
};

export const length = (text) => [...text].length;

const isTurn = (m) => length(m.message) > SHORT.chars;

/**
 * Step 3 and 4: what to say. Gives {amount, message}, or nothing.
 * @param me the speaker's id
 * @param voice its lines, see characters.mjs
 * @param history the messages, oldest first
 * @param level what is left of the pool
 * @param random a number in [0, 1) at each call
 */
export function decide({ me, voice, history, level, random }) {
  if (history.at(-1)?.from === me) {
    return;
  }
  const unsaid = (lines) => lines.find((line) => history.every((m) => m.message !== line));
  const speak = (price, lines, chance) => {
    const message = level >= price.amount && unsaid(lines);
    return message && random() < chance ? { amount: price.amount, message } : undefined;
  };
  const turn = history.findLast(isTurn);
  const mine = history.findLastIndex((m) => m.from === me);
  const addressed = history.slice(mine + 1).some((m) => voice.names.some((name) => m.message.toLowerCase().includes(name)));
  return (
    (history.length <= OPENING && speak(LONG, voice.long, CHANCE.open)) ||
    (addressed && speak(NORMAL, voice.normal, CHANCE.addressed)) ||
    (turn && turn.from !== me && speak(NORMAL, voice.normal, CHANCE.reply)) ||
    backchannel({ me, voice, history, level, random, chance: history.at(-1) === turn ? CHANCE.react : CHANCE.echo })
  );
}

/** A backchannel that is neither its last one nor one heard since the turn. */
export function backchannel({ me, voice, history, level, random, chance }) {
  const since = history.slice(history.findLastIndex(isTurn) + 1);
  const last = history.findLast((m) => m.from === me && !isTurn(m));
  const choice = voice.short.filter((s) => s !== last?.message && since.every((m) => m.message !== s));
  const had = since.filter((m) => m.from === me).length;
  if (level < SHORT.amount || had >= BACKCHANNELS || choice.length === 0 || random() >= chance) {
    return;
  }
  return { amount: SHORT.amount, message: choice[Math.floor(random() * choice.length)] };
}

/** What the tools have answered so far, oldest first: {tool, args, answer}. */
export function results(prompt) {
  const calls = new Map();
  const out = [];
  for (const { role, content } of prompt) {
    for (const part of role === "assistant" || role === "tool" ? content : []) {
      if (part.type === "tool-call") {
        calls.set(part.toolCallId, part.input);
      } else if (part.type === "tool-result") {
        const args = calls.get(part.toolCallId);
        out.push({ tool: part.toolName, args, answer: read(part, args?.from ? named : answers) });
      }
    }
  }
  return out;
}

function read({ toolName, output }, shapes) {
  // With anything but content the call itself failed.
  const text = output.type === "content" ? output.value.map((c) => c.text).join("") : undefined;
  if (text === undefined) {
    throw new Error(`${toolName}: ${JSON.stringify(output)}`);
  }
  try {
    return shapes[toolName].parse(JSON.parse(text));
  } catch (err) {
    throw new Error(`${toolName} answered ${text}: ${err.message}`);
  }
}

/**
 * The next step: {tool, input} or {text}.
 * @param all what results gave
 * @param takes whether a tool has an argument, for a model that heeds the tools' own
 * texts: who reads says so, and a line says what it was thought of
 */
export function next({ me, voice, all, random, takes = () => false }) {
  const tool = (name, input) => ({ tool: name, input: { ...input, ...(takes(name, "from") && { from: me }) } });
  const basis = () => takes("consume", "basis_seq") && newest("history")?.head;
  const say = (line) => tool("consume", { amount: line.amount, message: line.message, from: me, ...(basis() && { basis_seq: basis() }) });
  const newest = (name) => all.findLast((r) => r.tool === name)?.answer;
  const last = all.at(-1);
  switch (last?.tool) {
    case undefined:
      return tool("history");
    case "history":
      return tool("status");
    case "status": {
      const line = decide({ me, voice, history: newest("history").history, level: last.answer.resource, random });
      return line ? say(line) : { text: "待ちます" };
    }
  }
  const { success, resource, message } = last.answer;
  if (success) {
    return { text: "発言しました" };
  }
  if (message === "Not enough resource.") {
    const line =
      last.args.amount > SHORT.amount &&
      backchannel({ me, voice, history: newest("history").history, level: resource, random, chance: CHANCE.instead });
    return line ? say(line) : { text: "リソースの回復を待ちます" };
  }
  // Anything else means that the talk has moved on: look again.
  if (all.filter((r) => r.tool === "history").length <= RETRIES) {
    return tool("history");
  }
  return { text: "今回は見送ります" };
}

/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function seeded(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The model of one character.
 * @param voice its lines
 * @param heeds whether it does what the tools' own texts say, or the prompt only
 * @param random see seeded
 * @param delay [least, most] milliseconds of a call
 * @param onResults is given what the tools have answered, at each call
 * @param onSay is given a consume before it is made
 */
export function createModel({ voice, heeds = false, random, delay: [least, most], onResults, onSay }) {
  let calls = 0;
  return new MockLanguageModel({
    modelId: "follows-the-prompt",
    doGenerate: async ({ prompt, tools }) => {
      const all = results(prompt);
      onResults(all);
      await new Promise((done) => setTimeout(done, least + random() * (most - least)));

      const system = prompt.find((m) => m.role === "system").content;
      const me = system.match(/fromフィールド: "(.+?)"/)[1];
      const takes = (name, argument) => heeds && argument in (tools.find((t) => t.name === name)?.inputSchema.properties ?? {});
      const step = next({ me, voice, all, random, takes });
      if (step.text) {
        return reply({ type: "text", text: step.text }, "stop");
      }
      if (!tools.some((t) => t.name === step.tool)) {
        throw new Error(`there is no tool ${step.tool}`);
      }
      if (step.tool === "consume") {
        onSay(step.input);
      }
      const call = { type: "tool-call", toolCallId: `call-${++calls}`, toolName: step.tool, input: JSON.stringify(step.input) };
      return reply(call, "tool-calls");
    },
  });
}

const reply = (content, reason) => ({
  content: [content],
  finishReason: { unified: reason, raw: undefined },
  usage: { inputTokens: {}, outputTokens: {} },
  warnings: [],
});
