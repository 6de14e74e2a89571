// chat-relay's server, written from its article: the yardstick for companiond's
// bench. Its flaws (one McpServer for all requests, a level kept by
// timers, no check of who speaks) are chat-relay's and must stay.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { WebSocketServer } from "ws";
import { z } from "zod";

const PORT = Number(process.env.PORT ?? 3000);
const say = process.env.QUIET === "1" ? () => {} : console.log;

let resourceLevel = 100;
const history = [];
const wsClients = new Set();

const server = new McpServer({ name: "seed-a", version: "1.0.0" });

// The article writes each answer out twice, as text and as structured content.
const answer = (value) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

server.registerTool(
  "consume",
  {
    title: "Consume Resource",
    description: "指定量のリソースを消費します(残量未満でないと失敗)",
    inputSchema: {
      amount: z.number().min(0).max(100),
      message: z.string(),
      from: z.string(),
    },
    outputSchema: {
      success: z.boolean(),
      resource: z.number(),
      message: z.string(),
    },
  },
  async ({ amount, from, message }) => {
    if (amount > resourceLevel) {
      return answer({ success: false, resource: resourceLevel, message: "Not enough resource." });
    }

    resourceLevel -= amount;
    say("消費", amount, "残量", resourceLevel);
    history.push({ from, message });
    notify({ from, message });

    setTimeout(() => {
      resourceLevel = Math.min(100, resourceLevel + amount);
      say("回復", amount, "残量", resourceLevel);
    }, 5000);

    return answer({ success: true, resource: resourceLevel, message: "Resource consumed." });
  },
);

server.registerTool(
  "status",
  {
    title: "Check Resource Status",
    description: "現在のリソース残量を返します",
    inputSchema: {},
    outputSchema: { resource: z.number() },
  },
  async () => answer({ resource: resourceLevel }),
);

server.registerTool(
  "history",
  {
    title: "Check History",
    description: "現在の会話履歴を返します",
    inputSchema: {},
    outputSchema: {
      history: z.array(z.object({ from: z.string(), message: z.string() })),
    },
  },
  async () => answer({ history }),
);

function notify(message) {
  const payload = JSON.stringify({ type: "newMessage", message });
  wsClients.forEach((ws) => {
    if (ws.readyState === ws.OPEN) {
      ws.send(payload);
    }
  });
}

const app = express();
app.use(express.json());

app.post("/mcp", async (req, res) => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  res.on("close", () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
});

const Message = z.object({ from: z.string(), message: z.string() });

app.post("/add", (req, res) => {
  const { success, data, error } = Message.safeParse(req.body);
  if (!success) {
    res.status(400).json({ success: false, errors: error.issues });
    return;
  }
  history.push(data);
  notify(data);
  res.json({ success: true, history });
});

const http = createServer(app);

// No path: the seed's clients dial /, and any other path will do.
new WebSocketServer({ server: http }).on("connection", (ws) => {
  wsClients.add(ws);
  ws.on("close", () => wsClients.delete(ws));
});

// The seed listens on all interfaces; a bench has no business there.
http.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
