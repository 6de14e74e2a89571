// UC016 of seed E: worker-a asks worker-b how it should implement something.
import { play } from "./agent.mjs";

await play({
  "worker-a": {
    async begins(agent) {
      await agent.start("worker-b", { purpose: "認証実装の相談" });
      await agent.say("send_message", "JWT と Session、どちらが推奨？", "worker-b");
    },
    async heard(agent, message) {
      await agent.say("send_message", "了解、JWTで実装します", message.from_agent_id);
      await agent.end();
    },
  },
  "worker-b": {
    async heard(agent, message) {
      if (message.content.endsWith("？")) {
        await agent.say("respond_chat", "このプロジェクトではJWTを使用しています。理由は、状態を持たずに済むからです。", message.from_agent_id);
      }
    },
  },
});
