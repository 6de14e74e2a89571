// Where the relay is. The port changes only for tests.
const port = process.env.RELAY_PORT ?? "3000";

export const MCP_URL = `http://localhost:${port}/mcp`;
export const WS_URL = `ws://localhost:${port}`;
