// chat-relay's tools, or those of TOOLS=./polls.mjs, as one would serve them today: the newest SDK for Node, which
// speaks the revision without sessions and the older ones, with a server of its own
// for each request as the SDK wants it.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const { tools } = await import(process.env.TOOLS ?? "./relay.mjs");
const PORT = Number(process.env.PORT ?? 3000);

const schemas = Object.entries(tools).map(([name, { title, description, input, output, run }]) => [
  name,
  { title, description, inputSchema: z.object(input), outputSchema: z.object(output) },
  run,
]);

const handle = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: "now", version: "1.0.0" });
    for (const [name, about, run] of schemas) {
      server.registerTool(name, about, run);
    }
    return server;
  }),
);

const http = createServer(handle);
http.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
