// The client of chat-relay as its article prints it, without the types. Nothing in
// it may be changed to suit companiond: that it runs as it is, is the test.
import { experimental_createMCPClient } from "@ai-sdk/mcp";
import { ToolLoopAgent } from "ai";
import WebSocket from "ws";
import { MCP_URL, WS_URL } from "./client.mjs";
import { createInstructions } from "./instructions.mjs";

export class Companion {
  agent;
  isGenerating = false;
  ws;

  constructor(agent) {
    this.agent = agent;
    this.ws = new WebSocket(WS_URL);

    this.ws.on("open", () => {
      console.log("Connected to WS server");
    });

    this.ws.on("message", () => {
      this.generate();
    });

    this.ws.on("close", () => {
      console.log("WS connection closed");
    });
  }

  static async initialize(metadata, model) {
    const client = await experimental_createMCPClient({
      transport: {
        type: "http",
        url: MCP_URL,
      },
    });

    const tools = await client.tools();
    const instructions = createInstructions(metadata);

    const agent = new ToolLoopAgent({
      model,
      instructions,
      tools,
    });
    return new Companion(agent);
  }

  async generate() {
    if (this.isGenerating) {
      return;
    }
    this.isGenerating = true;
    try {
      const { text } = await this.agent.generate({
        prompt:
          "現在のリソース状況と会話履歴を確認して、instructionsに従って適切に発言してください。",
      });
      console.log(text);
    } finally {
      this.isGenerating = false;
    }
  }
}
