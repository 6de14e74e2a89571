// chat-relay's server, written from its article: the yardstick for companiond's
// bench. Its flaws (one McpServer for all requests, a level kept by
// timers, no check of who speaks) are chat-relay's and must stay.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { WebSocketServer } from "ws";
import { add, Message, tools, wsClients } from "./relay.mjs";

const PORT = Number(process.env.PORT ?? 3000);

const server = new McpServer({ name: "seed-a", version: "1.0.0" });
for (const [name, { title, description, input, output, run }] of Object.entries(tools)) {
  server.registerTool(name, { title, description, inputSchema: input, outputSchema: output }, run);
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

app.post("/add", (req, res) => {
  const { success, data, error } = Message.safeParse(req.body);
  if (!success) {
    res.status(400).json({ success: false, errors: error.issues });
    return;
  }
  res.json({ success: true, history: add(data) });
});

const http = createServer(app);

// No path: the seed's clients dial /, and any other path will do.
new WebSocketServer({ server: http }).on("connection", (ws) => {
  wsClients.add(ws);
  ws.on("close", () => wsClients.delete(ws));
});

// The seed listens on all interfaces; a bench has no business there.
http.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
