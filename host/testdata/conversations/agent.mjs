// An agent that has conversations, with the TypeScript SDK of MCP: it asks what it is to
// do, does that, and asks again, as the texts of the tools tell a model to. What it thinks is a
// mind's, an object with some of the methods that live() names. What it saw and did it
// prints, a line of JSON each. It is strict: an answer without what it promises is an error.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const wait = Number(process.env.WAIT_SECONDS ?? 45);

// Fault is a tool's error, as the table of docs/CONVERSATIONS.md has it.
export class Fault extends Error {
  constructor(tool, { code, status, message }) {
    super(`${tool}: ${code} (${status}): ${message}`);
    Object.assign(this, { code, status });
  }
}

export class Agent {
  constructor(id, client) {
    Object.assign(this, { id, client });
  }

  // Connects and authenticates; with a conversation's id it joins that.
  static async enter(url, id, conversation) {
    const client = new Client({ name: "companiond-conversations", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const agent = new Agent(id, client);
    const { session_token: token, earlier } = await agent.call("authenticate", {
      agent_id: id,
      passkey: process.env.PASSKEY ?? "",
      purpose: "chat",
      ...(conversation && { conversation_id: conversation }),
    });
    agent.token = token;
    agent.print("authenticated", { earlier });
    return agent;
  }

  print(saw, rest = {}) {
    console.log(JSON.stringify({ agent: this.id, saw, ...rest }));
  }

  async call(name, args = {}) {
    const answer = await this.client.callTool({ name, arguments: { ...(this.token && { session_token: this.token }), ...args } });
    const result = answer.structuredContent ?? JSON.parse(answer.content[0].text);
    if (answer.isError) {
      throw new Fault(name, result.error ?? result);
    }
    return result;
  }

  async start(target, args = {}) {
    const group = Array.isArray(target);
    const r = await this.call("start_conversation", { [group ? "participant_agent_id" : "target_agent_id"]: target, ...args });
    this.print("started", r);
    return r.conversation_id;
  }

  // tool is send_message or respond_chat; without a target it is whoever wrote last.
  async say(tool, content, target) {
    const r = await this.call(tool, { content, ...(target && { target_agent_id: target }) });
    this.print("sent", { content, ...r });
    return r;
  }

  async end(final) {
    this.print("ending", await this.call("end_conversation", final ? { final_message: final } : {}));
  }

  // Lives until it was told that a conversation of its own is over, and there is nothing left to
  // read. Methods of a mind, each with the agent first:
  //
  //   asked(agent, request)   true declines it
  //   active(agent, next)     somebody has joined
  //   heard(agent, message)   each message of somebody else, once, while the conversation lasts
  async live(mind) {
    let acknowledge;
    for (let over = false; ; ) {
      const { cursor, ...next } = await this.call("get_next_action", { timeout_seconds: over ? 0 : wait, ...(acknowledge && { acknowledge }) });
      acknowledge = cursor;
      this.print(next.action, next);
      switch (next.action) {
        case "conversation_request":
          if (await mind.asked?.(this, next)) {
            await this.call("decline_conversation", { conversation_id: next.conversation_id, reason: "忙しい" });
            break;
          }
          acknowledge = await this.read(mind);
          break;
        case "get_pending_messages":
          acknowledge = await this.read(over ? {} : mind);
          break;
        case "wait_for_messages":
          if (over) {
            return this.leave();
          }
          if (next.conversation_id) {
            await mind.active?.(this, next);
          }
          break;
        case "conversation_ended":
        case "conversation_expired":
        case "exit":
          if (over) {
            throw new Error(`it is told twice: ${JSON.stringify(next)}`);
          }
          over = true;
          break;
        default:
          throw new Error(`no model knows what to do with ${JSON.stringify(next)}`);
      }
    }
  }

  // Reads what is there, and gives what acknowledges it.
  async read(mind) {
    const w = await this.call("get_pending_messages");
    for (const m of [...w.context_messages, ...w.pending_messages]) {
      if (!m.conversation_id) {
        throw new Error(`a message belongs to no conversation: ${JSON.stringify(m)}`);
      }
    }
    this.print("messages", { messages: w.pending_messages, context: w.context_messages.length, total: w.total_pending_count });
    for (const m of w.pending_messages) {
      await mind.heard?.(this, m);
    }
    return w.cursor;
  }

  async leave() {
    this.print("logout", await this.call("logout"));
    await this.client.close();
  }
}

// play runs a program: node PLAY.mjs URL AGENT. A daemon that starts it says both in the environment,
// and the conversation that it is wanted in, which is joined at once.
export async function play(minds) {
  const { COMPANIOND_MCP_URL, COMPANIOND_AGENT, COMPANIOND_CONVERSATION: conversation } = process.env;
  const [url = COMPANIOND_MCP_URL, id = COMPANIOND_AGENT] = process.argv.slice(2);
  try {
    const agent = await Agent.enter(url, id, conversation);
    const mind = minds[id];
    await mind.begins?.(agent);
    await agent.live(mind);
  } catch (err) {
    console.log(JSON.stringify({ agent: id, saw: "error", text: String(err?.stack ?? err) }));
    process.exit(1);
  }
}
