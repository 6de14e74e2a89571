// A compresser with the TypeScript SDK of MCP, version 1, at whose client a person sits:
//
//   node past.mjs URL ANSWER
//
// It reads turns 1-10, has a draft of its own verified, mends it once by the feedback, and asks for the turns to be
// replaced; the person fills in the form with ANSWER (approve, deny, later), or closes it (close). All that it
// saw it prints, a line of JSON each.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, answer] = process.argv.slice(2);

function saw(what, rest = {}) {
  console.log(JSON.stringify({ saw: what, ...rest }));
}

const client = new Client({ name: "companiond-past", version: "1.0.0" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  saw("question", { message: params.message, fields: Object.keys(params.requestedSchema.properties) });
  return answer === "close" ? { action: "cancel" } : { action: "accept", content: { decision: answer } };
});

async function call(name, args, options) {
  const res = await client.callTool({ name, arguments: args }, undefined, options);
  const { status, verification, next_action: next, proposal, turns } = res.structuredContent ?? {};
  saw(name, { error: res.isError === true, text: res.isError ? res.content[0].text : undefined, status, verdict: verification?.verdict, next, turns: turns?.length });
  return { proposal, feedback: verification?.feedback };
}

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await client.listTools(); // so that answers are held against their schemas
await call("read_session_turns", { turns: "1-10" });
await call("read_session_turns", { turns: "1-99" });
const progress = [];
const first = await call("create_verified_summary", { turns: "1-10", summary: "A draft that forgets." }, { onprogress: (p) => progress.push(p.message) });
saw("progress", { messages: progress });
const { proposal } = await call("create_verified_summary", { proposal: first.proposal, summary: `A draft by the feedback: ${first.feedback}` });
await call("replace_session_turns", { proposal });
await client.close();
