// Conversations between agents as plainly as can be, whichever SDK they are served with: the
// yardstick for companiond's polls. Two members, everything in memory, nothing expires, nobody is
// checked. With DISK=file each message is written there, and on the disk, before anybody is told of
// it. Names and answers are those of docs/CONVERSATIONS.md.
import { randomUUID } from "node:crypto";
import { open as openFile } from "node:fs/promises";
import { z } from "zod";

const sessions = new Map(); // token -> {agent, given: messages to drop with the next call}
const agents = new Map(); // id -> {id, todo: actions, inbox: messages, wake}
const conversations = new Map(); // id -> {id, initiator, participant, state, turns, max, messages}
const open = new Map(); // both members -> id of the conversation that is open

const disk = process.env.DISK ? await openFile(process.env.DISK, "a") : null;

const answer = (value) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

const fail = (code) => ({ ...answer({ code }), isError: true });

const pair = (a, b) => [a, b].sort().join(" ");

function agentOf(id) {
  let agent = agents.get(id);
  if (!agent) {
    agents.set(id, (agent = { id, todo: [], inbox: [], wake: null }));
  }
  return agent;
}

// called finds whoever calls; what the call before gave is acknowledged by this one.
function called(token) {
  const session = sessions.get(token);
  if (session) {
    session.agent.inbox.splice(0, session.given);
    session.given = 0;
  }
  return session;
}

const wake = (agent) => agent.wake?.();

const tell = (agent, action) => {
  agent.todo.push(action);
  wake(agent);
};

const other = (conversation, id) => agentOf(conversation.initiator === id ? conversation.participant : conversation.initiator);

function join(conversation) {
  if (conversation.state === "pending") {
    conversation.state = "active";
    const invited = agentOf(conversation.participant);
    invited.todo = invited.todo.filter((a) => a.conversation_id !== conversation.id);
    tell(agentOf(conversation.initiator), {
      action: "wait_for_messages",
      conversation_id: conversation.id,
      state: "conversation_active",
      instruction: "Call get_next_action again.",
    });
  }
}

function end(conversation, by, reason) {
  conversation.state = "terminating";
  open.delete(pair(conversation.initiator, conversation.participant));
  for (const id of [conversation.initiator, conversation.participant]) {
    tell(agentOf(id), {
      action: "conversation_ended",
      conversation_id: conversation.id,
      ended_by: by,
      reason,
      instruction: "The conversation has ended. Call get_next_action.",
    });
  }
}

// next is what an agent is to do now; nothing: to wait.
function next(agent) {
  if (agent.todo.length > 0) {
    return agent.todo.shift();
  }
  if (agent.inbox.length > 0) {
    return { action: "get_pending_messages", unread: agent.inbox.length, instruction: "Call get_pending_messages." };
  }
}

const token = z.string();

export const tools = {
  authenticate: {
    title: "Authenticate",
    description: "Opens a session of an agent",
    input: { agent_id: z.string(), passkey: z.string().optional(), project_id: z.string(), conversation_id: z.string().optional() },
    output: { session_token: z.string(), agent_id: z.string() },
    run: async ({ agent_id, conversation_id }) => {
      const session_token = randomUUID();
      sessions.set(session_token, { agent: agentOf(agent_id), given: 0 });
      if (conversation_id) {
        join(conversations.get(conversation_id));
      }
      return answer({ session_token, agent_id });
    },
  },
  logout: {
    title: "Log out",
    description: "Ends a session",
    input: { session_token: token },
    output: { success: z.boolean() },
    run: async ({ session_token }) => answer({ success: sessions.delete(session_token) }),
  },
  start_conversation: {
    title: "Start a conversation",
    description: "Opens a conversation with an agent",
    input: { session_token: token, target_agent_id: z.string(), purpose: z.string().optional(), max_turns: z.number().optional() },
    output: { success: z.boolean(), conversation_id: z.string(), status: z.string() },
    run: async ({ session_token, target_agent_id, max_turns }) => {
      const me = called(session_token).agent;
      const members = pair(me.id, target_agent_id);
      if (open.has(members)) {
        return fail("conversation_already_active");
      }
      const id = "conv_" + randomUUID().replaceAll("-", "");
      open.set(members, id);
      conversations.set(id, { id, initiator: me.id, participant: target_agent_id, state: "pending", turns: 0, max: max_turns ?? 20, messages: [] });
      tell(agentOf(target_agent_id), {
        action: "conversation_request",
        conversation_id: id,
        from_agent_id: me.id,
        instruction: "Call get_pending_messages, and answer with respond_chat.",
      });
      return answer({ success: true, conversation_id: id, status: "pending" });
    },
  },
  get_next_action: {
    title: "What to do next",
    description: "Waits until there is something to do",
    input: { session_token: token, timeout_seconds: z.number().min(0).max(45).optional() },
    output: {
      action: z.string(),
      instruction: z.string(),
      conversation_id: z.string().optional(),
      from_agent_id: z.string().optional(),
      state: z.string().optional(),
      ended_by: z.string().optional(),
      reason: z.string().optional(),
      unread: z.number().optional(),
    },
    run: async ({ session_token, timeout_seconds = 0 }) => {
      const { agent } = called(session_token);
      let action = next(agent);
      if (!action && timeout_seconds > 0) {
        await new Promise((done) => {
          const timer = setTimeout(done, timeout_seconds * 1000);
          agent.wake = () => {
            clearTimeout(timer);
            done();
          };
        });
        agent.wake = null;
        action = next(agent);
      }
      return answer(action ?? { action: "wait_for_messages", instruction: "Call get_next_action again." });
    },
  },
  send_message: {
    title: "Send a message",
    description: "Says something in a conversation",
    input: { session_token: token, conversation_id: z.string(), target_agent_id: z.string().optional(), content: z.string().max(4000) },
    output: { success: z.boolean(), conversation_id: z.string(), message_id: z.string(), current_turns: z.number(), max_turns: z.number() },
    run: async ({ session_token, conversation_id, content }) => {
      const me = called(session_token).agent;
      const conversation = conversations.get(conversation_id);
      if (conversation?.state !== "active") {
        return fail("conversation_not_open");
      }
      const message = { id: randomUUID(), conversation_id, from: me.id, content, at: new Date().toISOString() };
      if (disk) {
        await disk.write(JSON.stringify(message) + "\n");
        await disk.datasync();
      }
      conversation.messages.push(message);
      const partner = other(conversation, me.id);
      partner.inbox.push(message);
      wake(partner);
      if (++conversation.turns >= conversation.max) {
        end(conversation, me.id, "max_turns");
      }
      return answer({ success: true, conversation_id, message_id: message.id, current_turns: conversation.turns, max_turns: conversation.max });
    },
  },
  get_pending_messages: {
    title: "Read messages",
    description: "Gives what was not read; it is acknowledged by the next call",
    input: { session_token: token },
    output: { context_messages: z.array(z.any()), pending_messages: z.array(z.any()), total_pending_count: z.number(), truncated: z.boolean() },
    run: async ({ session_token }) => {
      const session = called(session_token);
      const { inbox } = session.agent;
      const pending = inbox.slice(0, 10);
      session.given = pending.length;
      const of = conversations.get(pending[0]?.conversation_id);
      const read = of ? of.messages.filter((m) => !pending.includes(m)).slice(-20) : [];
      return answer({ context_messages: read, pending_messages: pending, total_pending_count: inbox.length, truncated: inbox.length > pending.length });
    },
  },
  end_conversation: {
    title: "End a conversation",
    description: "Ends it for both",
    input: { session_token: token, conversation_id: z.string() },
    output: { success: z.boolean(), conversation_id: z.string(), status: z.string() },
    run: async ({ session_token, conversation_id }) => {
      const me = called(session_token).agent;
      const conversation = conversations.get(conversation_id);
      if (conversation?.state !== "active" && conversation?.state !== "pending") {
        return fail("no_active_conversation");
      }
      end(conversation, me.id, conversation.initiator === me.id ? "initiator_ended" : "participant_ended");
      return answer({ success: true, conversation_id, status: conversation.state });
    },
  },
};
