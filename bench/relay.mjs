// What chat-relay's server does, whichever SDK it is served with: a level of
// points, a history, and notices over WebSocket.
import { z } from "zod";

const say = process.env.QUIET === "1" ? () => {} : console.log;

let resourceLevel = 100;
const history = [];
export const wsClients = new Set();

// The article writes each answer out twice, as text and as structured content.
const answer = (value) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

// add says a message: it is in the history, and everybody hears of it.
export function add(message) {
  history.push(message);
  const payload = JSON.stringify({ type: "newMessage", message });
  wsClients.forEach((ws) => {
    if (ws.readyState === ws.OPEN) {
      ws.send(payload);
    }
  });
  return history;
}

export const Message = z.object({ from: z.string(), message: z.string() });

// tools are those of the article; input and output are the fields of objects.
export const tools = {
  consume: {
    title: "Consume Resource",
    description: "指定量のリソースを消費します(残量未満でないと失敗)",
    input: { amount: z.number().min(0).max(100), message: z.string(), from: z.string() },
    output: { success: z.boolean(), resource: z.number(), message: z.string() },
    run: async ({ amount, from, message }) => {
      if (amount > resourceLevel) {
        return answer({ success: false, resource: resourceLevel, message: "Not enough resource." });
      }

      resourceLevel -= amount;
      say("消費", amount, "残量", resourceLevel);
      add({ from, message });

      setTimeout(() => {
        resourceLevel = Math.min(100, resourceLevel + amount);
        say("回復", amount, "残量", resourceLevel);
      }, 5000);

      return answer({ success: true, resource: resourceLevel, message: "Resource consumed." });
    },
  },
  status: {
    title: "Check Resource Status",
    description: "現在のリソース残量を返します",
    input: {},
    output: { resource: z.number() },
    run: async () => answer({ resource: resourceLevel }),
  },
  history: {
    title: "Check History",
    description: "現在の会話履歴を返します",
    input: {},
    output: { history: z.array(Message) },
    run: async () => answer({ history }),
  },
};
