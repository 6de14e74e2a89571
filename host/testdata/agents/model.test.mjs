import assert from "node:assert/strict";
import { test } from "node:test";
import { characters } from "./characters.mjs";
import { createInstructions } from "./instructions.mjs";
import { backchannel, createModel, decide, LONG, next, NORMAL, results, seeded, SHORT } from "./model.mjs";

const { metadata, voice } = characters[0];
const me = metadata.id;
const always = () => 0;
const never = () => 0.999;
const m = (from, message) => ({ from, message });
const hello = m("user", "こんにちは!あなたたちは誰ですか?");
const answer = m("companion_kyoko", "誰か一人に頼らない仕組みという考え方、とても安心できますね。");
const talk = [hello, answer, m("companion_natsumi", "すごい!"), answer];
const ask = (more) => ({ me, voice, history: talk, level: 100, random: always, ...more });

test("its own newest message is not answered", () => {
  assert.equal(decide(ask({ history: [hello, m(me, "そう!")] })), undefined);
});

test("a young talk is opened with a long line, a full pool provided", () => {
  assert.deepEqual(decide(ask({ history: [hello] })), { amount: LONG.amount, message: voice.long[0] });
  assert.equal(decide(ask({ history: [hello], level: 79 })).amount, NORMAL.amount);
  assert.equal(decide(ask()).amount, NORMAL.amount);
});

test("a line costs no more than there is", () => {
  assert.equal(decide(ask({ level: 60 })).amount, NORMAL.amount);
  assert.equal(decide(ask({ level: 59 })).amount, SHORT.amount);
  assert.equal(decide(ask({ level: 4 })), undefined);
});

test("who is addressed answers more readily", () => {
  const random = () => 0.85;
  assert.notEqual(decide(ask({ random }))?.amount, NORMAL.amount);
  const called = [...talk, m("companion_kyoko", "AYAさんはどう思いますか?教えてください。")];
  assert.equal(decide(ask({ random, history: called })).amount, NORMAL.amount);
});

test("nothing is said twice", () => {
  const said = voice.normal.slice(0, 3).map((line) => m(me, line));
  assert.equal(decide(ask({ history: [...said, ...talk] })).message, voice.normal[3]);
  const all = voice.normal.map((line) => m("x", line));
  assert.equal(decide(ask({ history: [...all, ...talk] })).amount, SHORT.amount);
});

test("by chance it says nothing", () => {
  assert.equal(decide(ask({ random: never })), undefined);
});

test("a backchannel is not its last one, none that was just heard, and there are two at most", () => {
  const [a, b, c] = voice.short;
  const give = (history) => backchannel({ me, voice, history, level: 100, random: always, chance: 1 });
  assert.equal(give(talk).message, a);
  assert.equal(give([m(me, a), ...talk]).message, b);
  assert.equal(give([m(me, a), ...talk, m("x", b)]).message, c);
  assert.equal(give([...talk, m(me, a), m("x", "へえ"), m(me, b), m("x", "ほう")]), undefined);
});

const step = (...all) => next({ me, voice, all, random: always });
const history = { tool: "history", answer: { history: talk } };
const status = (resource) => ({ tool: "status", answer: { resource } });
const consume = (amount, success, message) => ({ tool: "consume", args: { amount }, answer: { success, resource: 40, message } });

test("the steps come in the order of the prompt", () => {
  assert.deepEqual(step(), { tool: "history", input: {} });
  assert.deepEqual(step(history), { tool: "status", input: {} });
  assert.deepEqual(step(history, status(100)), { tool: "consume", input: { amount: 60, message: voice.normal[0], from: me } });
  assert.equal(step(history, status(0)).text, "待ちます");
  assert.equal(step(history, status(100), consume(60, true, "Resource consumed.")).text, "発言しました");
});

test("a model that heeds the tools says who reads, and what its line is about", () => {
  const known = { history: ["room", "from"], status: ["from"], consume: ["from", "basis_seq"] };
  const takes = (name, argument) => known[name].includes(argument);
  const heeds = (...all) => next({ me, voice, all, random: always, takes });
  const read = { tool: "history", answer: { history: talk, head: 7 } };
  assert.deepEqual(heeds(), { tool: "history", input: { from: me } });
  assert.deepEqual(heeds(read), { tool: "status", input: { from: me } });
  assert.deepEqual(heeds(read, status(100)).input, { amount: 60, message: voice.normal[0], from: me, basis_seq: 7 });
  known.status = [];
  known.consume = ["from"];
  assert.deepEqual(heeds(read), { tool: "status", input: {} });
  assert.deepEqual(heeds(read, status(100)).input, { amount: 60, message: voice.normal[0], from: me });
});

test("a pool too low leaves a backchannel, once", () => {
  const low = "Not enough resource.";
  const all = [history, status(100), consume(60, false, low)];
  assert.equal(step(...all).input.amount, SHORT.amount);
  assert.match(step(...all, consume(5, false, low)).text, /待ちます/);
});

test("any other refusal makes it look again, twice", () => {
  const refused = [history, status(100), consume(60, false, "Stale: read again")];
  assert.equal(step(...refused).tool, "history");
  assert.equal(step(...refused, ...refused).tool, "history");
  assert.match(step(...refused, ...refused, ...refused).text, /見送ります/);
});

const prompt = (toolName, text, output = { type: "content", value: [{ type: "text", text }] }, input = { amount: 5 }) => [
  { role: "system", content: createInstructions(metadata) },
  { role: "user", content: [{ type: "text", text: "go" }] },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName, input }] },
  { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName, output }] },
];

test("answers are read from the prompt, and must have chat-relay's shape", () => {
  assert.deepEqual(results(prompt("status", '{"resource":7}')), [{ tool: "status", args: { amount: 5 }, answer: { resource: 7 } }]);
  for (const [tool, text] of [
    ["status", '{"resource":"7"}'],
    ["status", '{"resource":7,"closing":0}'],
    ["status", "no JSON"],
    ["history", '{"history":null}'],
    ["history", '{"history":[{"from":"a","message":"b","seq":1}]}'],
    ["consume", '{"success":false,"resource":1}'],
  ]) {
    assert.throws(() => results(prompt(tool, text)), new RegExp(`${tool} answered`));
  }
  assert.throws(() => results(prompt("status", "", { type: "error-text", value: "HTTP 500" })), /HTTP 500/);
  // Asked with a name, a tool says how far that one has read.
  const asked = (text) => results(prompt("history", text, undefined, { from: me }));
  assert.deepEqual(asked('{"history":[],"head":3}')[0].answer, { history: [], head: 3 });
  assert.throws(() => asked('{"history":[]}'), /history answered/);
});

test("the model takes its name from the prompt and its tools from the call", async () => {
  let sayings = 0;
  const model = createModel({ voice, random: always, delay: [1, 2], onResults() {}, onSay: () => sayings++ });
  const call = (p, names) => model.doGenerate({ prompt: p, tools: names.map((name) => ({ name })) });
  const { content, finishReason } = await call(prompt("history", JSON.stringify({ history: [] })), ["status"]);
  assert.equal(content[0].toolName, "status");
  assert.equal(finishReason.unified, "tool-calls");
  await assert.rejects(call(prompt("history", JSON.stringify({ history: [] })), []), /no tool status/);
  assert.equal(sayings, 0);
});

test("the same seed gives the same numbers", () => {
  const ten = (seed) => Array.from({ length: 10 }, seeded(seed));
  assert.deepEqual(ten(1), ten(1));
  assert.notDeepEqual(ten(1), ten(2));
  assert.ok(ten(3).every((x) => x >= 0 && x < 1));
});

test("the prompt tells the companion who it is", () => {
  assert.match(createInstructions(metadata), /^あなたのメタデータは、{"id":"companion_aya"/);
  assert.match(createInstructions(metadata), /fromフィールド: "companion_aya"/);
});
