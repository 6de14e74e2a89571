// The tools of polls.mjs as the SDK's own example with JSON answers serves tools
// (jsonResponseStreamableHttp): sessions, each with an McpServer of its own.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import express from "express";
import { tools } from "./polls.mjs";

const transports = new Map();

function newServer() {
  const server = new McpServer({ name: "polls", version: "1.0.0" });
  for (const [name, { title, description, input, output, run }] of Object.entries(tools)) {
    server.registerTool(name, { title, description, inputSchema: input, outputSchema: output }, run);
  }
  return server;
}

const app = express();
app.use(express.json());

app.all("/mcp", async (req, res) => {
  const id = req.headers["mcp-session-id"];
  let transport = transports.get(id);
  if (!transport && !id && isInitializeRequest(req.body)) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    transport.onclose = () => transports.delete(transport.sessionId);
    await newServer().connect(transport);
  }
  if (!transport) {
    res.status(400).json({ jsonrpc: "2.0", error: { code: -32000, message: "Bad Request: No valid session ID provided" }, id: null });
    return;
  }
  await transport.handleRequest(req, res, req.body);
});

const http = createServer(app);
http.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
