// Three in one conversation: hana asks, both answer, ken leaves once he has heard the
// answer of mei, and hana, when only mei is left, ends it.
import { play } from "./agent.mjs";

const question = "昼ごはんは何にしますか？";
const heard = new Set();

await play({
  hana: {
    async begins(agent) {
      await agent.start(["ken", "mei"], { purpose: "昼ごはんを決める", initial_message: question });
    },
    async heard(agent, message) {
      heard.add(message.content);
      if (heard.size === 3) {
        await agent.say("respond_chat", "では、そばにしましょう");
      } else if (message.content === "わかりました") {
        await agent.end();
      }
    },
  },
  ken: {
    async heard(agent, message) {
      if (message.content === question) {
        await agent.say("respond_chat", "ラーメンがいいです");
      } else if (message.from_agent_id === "mei") {
        await agent.end("では、失礼します");
      }
    },
  },
  mei: {
    async heard(agent, message) {
      if (message.content === "ラーメンがいいです") {
        await agent.say("respond_chat", "そばがいいです");
      } else if (message.content === "では、そばにしましょう") {
        await agent.say("respond_chat", "わかりました");
      }
    },
  },
});
