// An agent of the AI Companion Protocol with the TypeScript SDK of MCP, version 1:
//
//   node client.mjs URL CARD COMPANION [edit|wait]
//
// It reads spec://main, lists the tools, subscribes, and waits until the file
// CARD of COMPANION has an action more: with "edit", the default, it adds one to
// the file itself, with "wait" somebody else does. It then plays that action with
// action-play, once as it should and once with parameters that are none. All that it
// saw it prints, a line of JSON each; it ends with 1 when it waits in vain.
import { readFileSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, card, companion, how = "edit"] = process.argv.slice(2);
const patience = Number(process.env.PATIENCE_MS ?? 15000);
const main = "spec://main";

function saw(what, rest = {}) {
  console.log(JSON.stringify({ saw: what, ...rest }));
}

// once is a promise to be kept from outside, in time.
function once(what) {
  let keep;
  const kept = new Promise((resolve) => (keep = resolve));
  const wait = () =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${what}: not within ${patience} ms`)), patience);
      kept.then(() => {
        clearTimeout(late);
        resolve();
      });
    });
  return { keep, wait };
}

// What the server says by itself comes on a stream that the SDK opens without
// telling; before it is open, nothing can be heard.
const listening = once("the stream for notifications");
const transport = new StreamableHTTPClientTransport(new URL(url), {
  fetch: async (to, init) => {
    const answer = await fetch(to, init);
    if (init?.method === "GET" && answer.ok) {
      listening.keep();
    }
    return answer;
  },
});

const client = new Client({ name: "companiond-spec", version: "1.0.0" });
const updated = once("resources/updated");
const changed = once("tools/list_changed");
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
  saw("resources/updated", { uri: params.uri });
  if (params.uri === main) {
    updated.keep();
  }
});
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
  saw("tools/list_changed");
  changed.keep();
});

async function readSpec() {
  const { contents } = await client.readResource({ uri: main });
  const [{ uri, mimeType, text }] = contents;
  const spec = JSON.parse(text);
  saw("spec", { uri, mimeType, same: text === readFileSync(card, "utf8"), name: spec.name, actions: spec.actions.map((a) => a.title) });
  return spec;
}

async function listTools() {
  const { tools } = await client.listTools();
  const play = tools.find((t) => t.name === "action-play")?.inputSchema;
  saw("tools", {
    names: tools.map((t) => t.name),
    actions: play?.properties.actionName.enum,
    choiceAtRoot: tools.filter(({ inputSchema: s }) => s.oneOf || s.anyOf || s.allOf).map((t) => t.name),
  });
  return play;
}

// sample makes a value of a schema, as a model would.
function sample(schema) {
  if (schema.enum) {
    return schema.enum[0];
  }
  switch (schema.type) {
    case "object":
      return Object.fromEntries((schema.required ?? []).map((name) => [name, sample(schema.properties[name])]));
    case "array":
      return [];
    case "boolean":
      return true;
    case "number":
    case "integer":
      return schema.minimum ?? 1;
    default:
      return "やあ";
  }
}

async function play(actionName, parameters) {
  const answer = await client.callTool({ name: "action-play", arguments: { actionName, parameters, companion } });
  saw("action-play", {
    actionName,
    parameters,
    isError: answer.isError ?? false,
    text: answer.content[0].text,
    result: answer.structuredContent,
  });
}

function addAction() {
  const file = JSON.parse(readFileSync(card, "utf8"));
  file.actions.push({
    title: "wave",
    description: "手を振ります。",
    type: "object",
    properties: { hand: { type: "string", enum: ["left", "right"] }, times: { type: "integer", minimum: 1 } },
    required: ["hand", "times"],
  });
  writeFileSync(card, JSON.stringify(file, null, 2) + "\n");
}

async function run() {
  await client.connect(transport);
  await listening.wait();
  saw("connected", { server: client.getServerVersion(), capabilities: client.getServerCapabilities() });
  const before = await readSpec();
  await listTools();
  await client.subscribeResource({ uri: main });
  saw("subscribed", { uri: main });
  if (how === "edit") {
    addAction();
  }
  await Promise.all([updated.wait(), changed.wait()]);
  const after = await readSpec();
  const tool = await listTools();
  const known = new Set(before.actions.map((a) => a.title));
  const added = after.actions.find((a) => !known.has(a.title));
  if (!added) {
    throw new Error("the card has no action more");
  }
  const ways = tool.properties.parameters.anyOf ?? [tool.properties.parameters];
  const parameters = sample(ways.find((w) => w.title === added.title));
  await play(added.title, parameters);
  await play(added.title, Object.fromEntries(Object.keys(parameters).map((name) => [name, { not: "this" }])));
  await transport.terminateSession();
  await client.close();
  saw("done");
}

run().catch((error) => {
  saw("error", { text: String(error?.message ?? error) });
  process.exit(1);
});
