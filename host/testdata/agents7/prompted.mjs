// Three agents that do what the prompt turn_taking says, and count what it costs: they
// wait for their turn, and each answer that is no timeout is one call of a model.
//
//   node_modules/node/bin/node --import ./newest.mjs prompted.mjs URL WAY [ROOM]
//
// WAY is how they connect: with version 1 of the TypeScript SDK, a new session for each
// call (fresh) or one session for all three (shared); with version 2, without sessions
// as in revision 2026-07-28, a client each (stateless) or one for all three
// (together). ROOM is main, where turns are voted on, or pool. stdout has one JSON object a
// line: ready, an answer with what it told, and what the model did then.
import { setTimeout as sleep } from "node:timers/promises";
import * as v2 from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { seeded } from "../agents/model.mjs";

const [url, way, room = "main"] = process.argv.slice(2);
const names = ["aya", "kyoko", "natsumi"];
const WAIT_S = 40; // longer than a busy room waits for a vote, or it is told twice; clients give up after a minute
const THINKS_MS = [20, 150]; // a call of the model
const LINES = 2; // of one agent after one line of a person, where lines are paid for

const tell = (event, more) => process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);

// Each way gives a function that opens one agent's tools.
const ways = {
  fresh: async () => async (tool) => {
    const { client, transport } = await session();
    try {
      return await client.callTool(tool);
    } finally {
      await transport.terminateSession();
      await client.close();
    }
  },
  shared: once(async () => {
    const { client } = await session();
    return (tool) => client.callTool(tool);
  }),
  stateless,
  together: once(stateless),
};

async function session() {
  const client = new Client({ name: "companiond-prompted", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return { client, transport };
}

async function stateless() {
  const client = new v2.Client({ name: "companiond-prompted", version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new v2.StreamableHTTPClientTransport(new URL(url)));
  return (tool) => client.callTool(tool);
}

function once(open) {
  let opened;
  return () => (opened ??= open());
}

// The model: a vote when it is asked, a line when it has the floor, and where there is no
// floor a short line now and then. The first round that natsumi is asked for it lets pass.
function createModel(me, random) {
  let lets = me === "natsumi";
  let left = 0;
  return async ({ reason, grant, round, messages }) => {
    await sleep(THINKS_MS[0] + random() * (THINKS_MS[1] - THINKS_MS[0]));
    if (messages.some((m) => !names.includes(m.from))) {
      left = LINES;
    }
    if (reason === "granted") {
      return ["say", { grant: grant.token, message: `${me} says what it thinks of ${grant.basis_seq}.` }];
    }
    if (reason === "asked") {
      if (lets) {
        lets = false;
        return [];
      }
      return ["vote", { about: round.about, state: "speak", importance: Math.round(random() * 100) / 10 }];
    }
    return room === "pool" && left-- > 0 ? ["consume", { amount: 5, message: `${me} ${left + 1}!` }] : [];
  };
}

async function run(me, index) {
  const call = await ways[way]();
  const use = async (name, input) => {
    const { content, isError } = await call({ name, arguments: { from: me, room, ...input } });
    return isError ? { refused: content[0].text } : JSON.parse(content[0].text);
  };
  const model = createModel(me, seeded(index + 1));
  tell("ready", { who: me });
  for (;;) {
    const news = await use("wait_for_turn", { timeout_seconds: WAIT_S });
    if (news.refused) {
      throw new Error(`wait_for_turn: ${news.refused}`);
    }
    if (news.reason === "timeout") {
      continue;
    }
    const { reason, grant, round, messages, head } = news;
    tell("answer", { who: me, reason, head, grant: grant?.token, about: round?.about, messages: messages.map((m) => m.seq) });
    const [name, input] = await model(news);
    const answer = name && (await use(name, input));
    tell("model", { who: me, did: name, refused: answer?.refused ?? (answer?.success === false ? answer.message : undefined) });
  }
}

process.on("SIGTERM", () => process.exit(0));
await Promise.all(names.map(run));
